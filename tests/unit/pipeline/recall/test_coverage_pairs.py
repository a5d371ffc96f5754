from collections.abc import Iterator
from pathlib import Path

import pytest
from support.asking import Asker, items
from support.coverage_pairs import ANSWERABLE, NOTES, UNANSWERABLE
from support.stores import TinyStore


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory, han_cache: Path) -> Iterator[Asker]:
    store = TinyStore(tmp_path_factory.mktemp("pairs"))
    store.notes(NOTES)
    yield Asker(store, han_cache)
    store.close()


@pytest.mark.parametrize("question", ANSWERABLE)
def test_a_question_that_a_note_answers_is_supported(notes: Asker, question: str) -> None:
    assert notes.recall(question)["coverage"] == "supported"


@pytest.mark.parametrize("question", UNANSWERABLE)
def test_a_question_that_no_note_answers_gives_an_empty_pack(notes: Asker, question: str) -> None:
    pack = notes.recall(question)

    assert pack["coverage"] == "none"
    assert items(pack) == []
    assert pack["citations"] == []


def test_one_shared_word_is_not_evidence(store: TinyStore, asker: Asker) -> None:
    store.note("I bought a red sofa.")

    assert asker.recall("How much does a red Ferrari cost?")["coverage"] == "none"


@pytest.mark.parametrize(
    ("question", "coverage"),
    [
        (
            "Who is allergic to peanuts, what does Tom want, and where is the green tent?",
            "supported",
        ),
        ("花生过敏的是谁？猫咪打疫苗了吗？年会地点在哪里？", "supported"),
        ("What does Tom want? And what does the plumber charge?", "partial"),
        ("Who won the cup, which bears live there, and what about the boiler?", "none"),
    ],
)
def test_a_query_that_asks_several_things_is_judged_by_its_parts(
    notes: Asker, question: str, coverage: str
) -> None:
    assert notes.recall(question)["coverage"] == coverage


def test_each_part_of_a_query_gets_its_evidence(notes: Asker) -> None:
    pack = notes.recall("red sofa cost, Nadia's instrument, dentist appointment", token_budget=512)

    shown = " ".join(item["text"] for item in items(pack, "observations"))
    assert "400 euros" in shown
    assert "cello" in shown
    assert "Dr. Weber" in shown
