"""Preferences, instructions and boundaries: they hold though no question names them."""

from collections.abc import Iterator

import pytest
from bench.standing import LANGUAGES, StandingStore, standing_store
from support.asking import Asker, items
from support.stores import TinyStore

from muniment.pipeline.recall.request import Request

WORDS = Request("", semantic="off")
# Words alone carry at least this much of the case sets; docs/benchmarks.md has the figures.
FLOORS = {"en": 0.4, "zh": 0.6}


@pytest.fixture(scope="module", params=LANGUAGES)
def standing(request: pytest.FixtureRequest) -> Iterator[tuple[str, StandingStore]]:
    with standing_store(request.param) as opened:
        yield request.param, opened


def test_the_case_sets_ask_twenty_questions_a_language(
    standing: tuple[str, StandingStore],
) -> None:
    assert len(standing[1].cases) >= 20


def test_packs_carry_what_stands_within_its_share(standing: tuple[str, StandingStore]) -> None:
    language, opened = standing

    carried = [opened.carried(WORDS, case) for case in opened.cases]

    assert sum(share for share, _ in carried) / len(carried) >= FLOORS[language]
    for _, pack in carried:
        assert pack["tokens_used"] <= pack["token_budget"]
        assert 2 <= len(items(pack, "profile")) <= 15


def test_the_pinned_are_in_every_pack_even_in_one_without_an_answer(
    store: TinyStore, asker: Asker
) -> None:
    note = store.note("Never give me nuts. I like jazz. The heater is broken.")
    store.record("Never give nuts", note, "Never give me nuts", type="procedural", pinned=True)
    store.record("Likes jazz", note, "I like jazz", kind="preference")

    answered = asker.recall("Is the heater broken?")
    unanswered = asker.recall("Who painted the ceiling of the chapel in Rome?")

    assert [item["text"] for item in items(answered, "profile")] == [
        "Never give nuts", "Likes jazz",
    ]  # fmt: skip
    assert unanswered["coverage"] == "none"
    assert [item["text"] for item in items(unanswered)] == ["Never give nuts"]


def test_what_has_to_do_with_the_question_comes_before_what_weighs_more(
    store: TinyStore, asker: Asker
) -> None:
    for number in range(30):
        note = store.note(f"I prefer option {number} of the catalogue, please remember that")
        store.record(f"Prefers option {number}", note, kind="preference", importance=0.9)
    note = store.note("On trains I take a window seat")
    store.record("Takes a window seat on trains", note, kind="preference", importance=0.1)
    store.note("The trains to Prague leave at nine and at noon from platform two")

    profile = items(asker.recall("When do the trains to Prague leave?"), "profile")
    records = items(asker.recall("When do the trains to Prague leave?"), "records")

    assert "Takes a window seat on trains" in {item["text"] for item in (*profile, *records)}
