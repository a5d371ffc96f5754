import pytest
from support.asking import Asker
from support.stores import TinyStore

from muniment.pipeline.recall.speakers import named_in

CHAT = [
    ("Ann Lee", "Bob, how was the trip to the lake with the canoe?", "2026-02-01T10:00:00Z"),
    ("Bob Lee", "The trip to the lake was wet, the canoe leaked", "2026-02-01T10:01:00Z"),
    ("Ann Lee", "My own trip to the lake is in June, without a canoe", "2026-02-01T10:02:00Z"),
]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("When did Ann's train leave?", {"Ann Lee"}),
        ("what did ann lee say", {"Ann Lee"}),
        ("What did the Lees do?", set()),
        ("Anna bought a canoe", set()),
        ("小明说了什么？", {"王小明"}),
        ("王小明和Ann去哪里了", {"王小明", "Ann Lee"}),
        ("那天的天气怎么样", set()),
    ],
)
def test_a_question_names_speakers_by_their_whole_or_given_name(text: str, named: set[str]) -> None:
    assert named_in(text, ["Ann Lee", "Bob Lee", "王小明", "Will", "i"]) == named


def test_a_given_name_that_is_a_common_word_names_nobody() -> None:
    assert named_in("Where will the party be?", ["Will"]) == set()


@pytest.mark.parametrize("name", ["Ann", "Bob"])
def test_what_the_named_person_said_comes_first(store: TinyStore, asker: Asker, name: str) -> None:
    store.chat(CHAT)

    hit = asker.search(f"What does {name} tell of the trip to the lake?")[0]

    assert hit["text"] in {text for author, text, _ in CHAT if author.startswith(name)}


def test_a_question_about_the_assistant_puts_its_lines_first(
    store: TinyStore, asker: Asker
) -> None:
    store.note("I asked about the fare to Porto, the fare is high", role="user")
    store.note("The fare to Porto is 80 euros by night train", role="assistant")

    for question in ("What did the assistant say about the fare to Porto?",
                     "What fare to Porto did you suggest?"):  # fmt: skip
        assert asker.texts(question)[0].startswith("The fare to Porto"), question


def test_a_chinese_question_about_the_assistant_puts_its_lines_first(
    store: TinyStore, asker: Asker
) -> None:
    store.note("我问了去波尔图的车票，车票很贵，车票", role="user")
    store.note("去波尔图的车票是八十欧元", role="assistant", origin="agent")

    assert asker.texts("助手说了去波尔图的车票什么？")[0] == "去波尔图的车票是八十欧元"
