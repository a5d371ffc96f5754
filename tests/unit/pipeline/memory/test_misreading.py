"""What was misread answers no more; the right reading does, from the same place."""

import pytest
from support.asking import Asker, items
from support.remembering import Talk

from muniment.pipeline.memory import misreading
from muniment.pipeline.memory.amending import Correction, correct
from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.propose import Proposals, passage_of
from muniment.store.errors import UsageError
from muniment.store.verify import verify_ledger


def observed(asker: Asker, query: str) -> list[str]:
    return [item["text"] for item in items(asker.recall(query), "observations")]


def test_a_wrong_reading_is_replaced_at_its_place_and_stays_in_the_history(talk: Talk) -> None:
    asker = Asker(talk.store)
    wrong = talk.passage("The lihgthouse at Cape Horn", "2024-05-01", kind="ocr", origin="media")
    row = misreading.find(talk.ledger, wrong.observation)
    assert observed(asker, "what stands at Cape Horn?") == [wrong.text]

    with talk.ledger.unit():
        right = misreading.mark(talk.ledger, row, "The lighthouse at Cape Horn", "typo")

    assert observed(asker, "what stands at Cape Horn?") == ["The lighthouse at Cape Horn"]
    (item,) = items(asker.recall("what stands at Cape Horn?"), "observations")
    assert item["ref"] == f"observation:{right}"
    kept = talk.ledger.evidence.get(wrong.observation)
    new = talk.ledger.evidence.get(right or "")
    assert kept is not None
    assert new is not None
    assert (new.asset, new.locator, new.origin, new.kind) == (
        kept.asset, kept.locator, "media", "ocr"
    )  # fmt: skip
    with talk.ledger.unit():
        assert misreading.mark(talk.ledger, row, "The lighthouse at Cape Horn", "again") == right


def test_a_record_that_rests_on_a_wrong_reading_alone_answers_no_more(talk: Talk) -> None:
    asker = Asker(talk.store)
    talk.say("I live in Rome.", "2024-05-01")
    (record,) = talk.rows("home")
    row = misreading.find(talk.ledger, record["evidence"][0]["observation"])

    with talk.ledger.unit():
        misreading.mark(talk.ledger, row, None, "never said")
    assert asker.recall("where do I live, Rome?")["coverage"] == "none"
    assert [found.code for found in verify_ledger(talk.ledger).findings] == ["stale_evidence"]

    with talk.ledger.unit():
        assert misreading.lift(talk.ledger, row, "said after all")
        assert not misreading.lift(talk.ledger, row, "said after all")
    assert items(asker.recall("where do I live, Rome?"), "records")


def test_what_a_picture_says_stays_the_pictures_whoever_typed_it(talk: Talk) -> None:
    wrong = talk.passage("I 1ive in Rome.", "2024-05-01", kind="ocr", origin="media", role=None)
    row = misreading.find(talk.ledger, wrong.observation)
    with talk.ledger.unit():
        right = misreading.mark(talk.ledger, row, "I live in Rome.", "typo")
        found = talk.ledger.evidence.get(right or "")
        assert found is not None
        passage = passage_of(found)
        drafts = RulesProposer().propose([passage])
        Proposals(talk.ledger, Policy()).take(drafts, {passage.observation: passage})

    assert list(talk.memory.records()) == []


def test_another_right_reading_takes_the_place_of_the_one_before(talk: Talk) -> None:
    asker = Asker(talk.store)
    wrong = talk.passage("The herron nests", "2024-05-01")
    row = misreading.find(talk.ledger, wrong.observation)
    for text in ("The heroin nests", "The heron nests"):
        with talk.ledger.unit():
            misreading.mark(talk.ledger, row, text, "typo")

    assert observed(asker, "what nests?") == ["The heron nests"]
    with talk.ledger.unit():
        misreading.lift(talk.ledger, row, "it was right")
    assert observed(asker, "what nests?") == ["The herron nests"]
    assert verify_ledger(talk.ledger).findings == []


def test_nothing_and_the_same_words_are_no_right_reading(talk: Talk) -> None:
    wrong = talk.passage("The heron nests", "2024-05-01")
    row = misreading.find(talk.ledger, wrong.observation)

    for text in (" ", "The heron nests"):
        with pytest.raises(UsageError), talk.ledger.unit():
            misreading.mark(talk.ledger, row, text, "typo")


def test_a_statement_that_was_corrected_answers_by_itself_no_more(talk: Talk) -> None:
    asker = Asker(talk.store)
    talk.say("I live in Rome.", "2024-05-01")
    (record,) = talk.rows("home")
    assert items(asker.recall("where do I live?"), "records")
    talk.tick()
    with talk.ledger.unit():
        correct(talk.ledger, record, Correction(value="Oslo"))

    pack = asker.recall("where do I live, Rome or Oslo?")
    said = [item["text"] for name in ("records", "observations") for item in items(pack, name)]
    assert not any("Rome" in text for text in said)
    past = asker.recall("where do I live, Rome?", known_at=record["recorded_at"])
    assert any("Rome" in item["text"] for item in items(past, "records"))
