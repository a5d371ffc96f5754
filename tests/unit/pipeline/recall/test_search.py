import pytest
from support.asking import Asker, items
from support.stores import Line, TinyStore

from muniment.store.ids import digest


def test_any_part_of_a_chinese_text_finds_it(store: TinyStore, asker: Asker) -> None:
    store.note("王小明在上海虹桥火车站")

    for query in ("小明", "虹桥", "站", "王小明在上海", "虹桥火车"):
        assert asker.texts(query) == ["王小明在上海虹桥火车站"], query


@pytest.mark.parametrize(
    "query",
    [
        "agentic-os", "don't", "C++", "foo:bar", "2026.4.10", "NEAR(a b)", "a*", "-x", "--x", "^a",
        "{a}", "col:", "a OR", "部署方案?", "小明", "站", "AND", "NOT",
    ],
)  # fmt: skip
def test_a_query_is_never_search_syntax(store: TinyStore, asker: Asker, query: str) -> None:
    store.note(f"before {query} after")
    store.note("something else entirely")

    assert asker.texts(query)[:1] == [f"before {query} after"]


@pytest.mark.parametrize(
    "query", ["", " ", '"', '""', "*", "(", ")", "\x00", "!?。", "\ud800", "🙂", "word " * 10_000]
)
def test_an_odd_query_never_raises(store: TinyStore, asker: Asker, query: str) -> None:
    store.note("a note")

    assert asker.recall(query)["coverage"] == "none"


def test_a_message_is_found_by_what_stands_beside_it(store: TinyStore, asker: Asker) -> None:
    store.chat(
        [
            ("Ann", "Which city will you visit in Portugal?", "2026-02-01T10:00:00Z"),
            ("Bob", "Porto, on the ninth", "2026-02-01T10:01:00Z"),
        ]
    )

    assert "Porto, on the ninth" in asker.texts("Which city in Portugal will Bob visit?")


def test_a_note_is_found_by_its_date_and_its_file_name(store: TinyStore, asker: Asker) -> None:
    store.note("Nothing much happened", name="diary.txt", time="2023-05-08T10:00:00Z")
    store.note("Nothing at all happened", name="other.txt", time="2024-06-01T10:00:00Z")

    assert asker.texts("diary")[0] == "Nothing much happened"
    assert asker.texts("what happened in May 2023?")[0] == "Nothing much happened"
    assert asker.texts("2023年5月发生了什么")[0] == "Nothing much happened"


def test_ordinary_questions_leave_out_agent_and_tool_output(store: TinyStore, asker: Asker) -> None:
    store.note("The user likes opera", origin="agent")
    store.note("opera tickets: 3 found", origin="tool")
    store.note("I like opera", origin="user")

    assert asker.texts("Who likes opera?") == ["I like opera"]
    assert "The user likes opera" in asker.texts("What did you say about opera?")


def test_filters_narrow_the_answers(store: TinyStore, asker: Asker) -> None:
    store.note("kite one", name="/notes/a/one.txt", time="2026-01-01T00:00:00Z", confidence=0.2)
    store.note("kite two", name="/notes/b/two.txt", time="2026-02-01T00:00:00Z")
    store.file(
        "three.png", [Line("kite three", kind="ocr")], media_type="image/png", family="image"
    )
    store.chat([("Ann", "kite four", "2026-03-01T00:00:00Z")])

    assert set(asker.texts("kite", since="2026-01-15T00:00:00.000000Z")) == {
        "kite two",
        "kite four",
    }
    assert set(asker.texts("kite", until="2026-02-01T00:00:00.000000Z")) == {"kite one"}
    assert set(asker.texts("kite", media=("image",))) == {"kite three"}
    assert set(asker.texts("kite", kinds=("ocr", "message"))) == {"kite three", "kite four"}
    assert set(asker.texts("kite", path=b"/notes/b")) == {"kite two"}
    assert set(asker.texts("kite", path=b"/elsewhere")) == set()
    assert set(asker.texts("kite", in_session="chat")) == {"kite four"}
    assert "kite one" not in asker.texts("kite", min_confidence=0.5)
    assert "kite four" not in asker.texts("kite", as_of="2026-02-15T00:00:00.000000Z")
    assert asker.texts("kite", known_at="2025-12-01T00:00:00.000000Z") == []


def test_records_and_episodes_are_searched_by_kind(store: TinyStore, asker: Asker) -> None:
    observation = store.note("I am allergic to walnuts")
    store.record("Allergic to walnuts", observation)
    other = store.note("My sister laughs about that")
    store.episode([observation, other], title="Health")

    planes = [hit["ref"].split(":")[0] for hit in asker.search("walnuts")]
    assert planes == ["observation"]
    assert [hit["text"] for hit in asker.search("walnuts", kinds=("record",))] == [
        "Allergic to walnuts"
    ]
    assert [hit["text"] for hit in asker.search("walnuts", kinds=("episode",))] == [
        "Health: I am allergic to walnuts"
    ]


def test_a_hint_on_the_medium_decides_between_equals(store: TinyStore, asker: Asker) -> None:
    store.note("the roadmap for autumn", name="plan.txt")
    store.file(
        "plan.png", [Line("the roadmap for autumn", kind="ocr")], media_type="image/png",
        family="image", origin="media",
    )  # fmt: skip

    assert asker.search("the photo with the roadmap")[0]["kind"] == "ocr"


def test_hits_say_where_they_come_from(store: TinyStore, asker: Asker) -> None:
    store.note("a marmot", name="hike.txt", attributes={"event_id": "e-1"})

    (hit,) = asker.search("marmot", query_id="q-1")

    assert (hit["query_id"], hit["rank"], hit["path"]) == ("q-1", 1, "/notes/hike.txt")
    assert (hit["source_id"], hit["signals"]) == ("e-1", {"fts": 1})
    assert hit["locator"]["type"] == "char"


def test_both_fusions_answer(store: TinyStore, asker: Asker) -> None:
    store.notes([f"the lighthouse of {place}" for place in ("Brest", "Eddystone", "Genoa")])

    for fusion in ("weighted", "rrf"):
        assert asker.texts("lighthouse Genoa", fusion=fusion)[0] == "the lighthouse of Genoa"


class OneHot:
    """An embedder of unit vectors: texts that share a keyword lie together."""

    dimensions = 4
    words = ("sea", "mountain", "city", "desert")

    def __init__(self) -> None:
        from muniment.store.records import Producer

        self.producer = Producer(adapter="one_hot", version="1", role="embed", model="one-hot")

    def passages(self, texts: "list[str]") -> object:
        import numpy as np

        rows = [[float(word in text) for word in self.words] for text in texts]
        return np.asarray(rows, dtype=np.float32) + 0.01 * float(digest(texts)[0] != "")

    def query(self, text: str) -> object:
        import numpy as np

        meant = {"beach": "sea", "peak": "mountain"}
        return np.asarray(
            [float(word in text or meant.get(text) == word) for word in self.words], np.float32
        )


def test_vectors_find_what_shares_no_word(store: TinyStore, asker: Asker) -> None:
    from muniment.pipeline.stages.index import refresh

    store.notes(["a day at the sea", "a week in the city"])
    embedder = OneHot()
    counts = refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)  # type: ignore[arg-type]
    assert (counts.embedded, counts.without_vectors) == (2, 0)

    pack = asker.recall("beach", embedder=embedder)

    # An unknown model may find, but not support by itself.
    assert pack["coverage"] == "none"
    assert items(pack) == []
