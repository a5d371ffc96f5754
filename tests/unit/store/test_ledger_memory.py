from typing import Any

import apsw
import pytest
from support.stores import Line, TinyStore, moment

from muniment.store.errors import NotFoundError
from muniment.store.records import Candidate, Evidence

NOON = "2026-03-02T12:00:00Z"


def claim(observation: str, name: str = "can_1", **changes: Any) -> Candidate:
    """Return a candidate that quotes ``Ada`` at 11."""
    evidence = Evidence(observation=observation, quote="Ada", start=11, end=14)
    values: dict[str, Any] = {
        "id": name, "type": "semantic", "kind": "fact", "text": "The user is called Ada.",
        "subject": "user", "key": "name", "value": "Ada", "basis": "user_statement",
        "evidence": (evidence,), "proposer": "rules", "created_at": "2026",
    }  # fmt: skip
    return Candidate(**values | changes)


@pytest.fixture
def observation(tiny: TinyStore) -> str:
    return tiny.note("My name is Ada.")


def state(tiny: TinyStore, record: str) -> dict[str, Any]:
    (found,) = tiny.ledger.memory.records("r.id = ?", (record,))
    return found


def test_a_candidate_is_proposed_once_and_pending_until_it_is_decided(
    tiny: TinyStore, observation: str
) -> None:
    memory = tiny.ledger.memory
    number = memory.propose(claim(observation, valid_at=moment(NOON)))
    assert number is not None
    assert memory.propose(claim(observation)) is None
    (pending,) = memory.candidates()
    assert (pending["status"], pending["reason"], pending["actor"]) == ("pending", None, None)

    memory.decide(number, "rejected", "junk", "gate")
    memory.decide(number, "active", "approved", "me")

    (found,) = memory.candidates("c.status = 'active'")
    assert (found["reason"], found["actor"]) == ("approved", "me")
    assert found["valid_at"]["utc"] == "2026-03-02T12:00:00.000000Z"
    assert found["evidence"] == [
        {"observation": observation, "quote": "Ada", "start": 11, "end": 14}
    ]


def test_the_same_quote_twice_is_one_piece_of_evidence(tiny: TinyStore, observation: str) -> None:
    twice = claim(observation).evidence * 2

    tiny.ledger.memory.propose(claim(observation, evidence=twice))

    (found,) = tiny.ledger.memory.candidates()
    assert len(found["evidence"]) == 1


def test_what_was_half_a_character_is_quoted_as_it_was_stored(tiny: TinyStore) -> None:
    line = Line("I am Ad\ud83d.", author="\ud83d", thread="\ud83d")
    (observation,) = tiny.file("chat.json", [line], data=b"{}")
    quote = Evidence(observation=observation, quote="Ad\ud83d", start=5, end=8)
    tiny.ledger.memory.propose(claim(observation, evidence=(quote,), value="Ad\ud83d"))

    (found,) = tiny.ledger.memory.candidates()
    row = tiny.ledger.evidence.get(observation)
    assert row is not None
    assert row.text[5:8] == found["evidence"][0]["quote"] == found["value"] == "Ad\ufffd"


def test_evidence_that_does_not_exist_is_refused(tiny: TinyStore) -> None:
    with pytest.raises(apsw.ConstraintError), tiny.ledger.unit():
        tiny.ledger.memory.propose(claim("obs_x"))

    assert not list(tiny.ledger.memory.candidates())


def test_activating_twice_is_one_record(tiny: TinyStore, observation: str) -> None:
    memory, one = tiny.ledger.memory, claim(observation)
    number = memory.propose(one)
    assert number is not None

    record = memory.activate(number, one, importance=0.7, actor="gate")
    assert memory.activate(number, one, importance=0.7, actor="gate") == record

    found = state(tiny, record)
    assert (found["version"], found["status"], found["pinned"]) == (1, "active", False)
    assert (found["candidate"], found["importance"]) == ("can_1", 0.7)
    assert found["evidence"][0]["observation"] == observation
    assert [revision["action"] for revision in memory.revisions(record)] == ["create"]


def test_a_revision_changes_what_it_names_and_keeps_the_rest(
    tiny: TinyStore, observation: str
) -> None:
    record = tiny.record("Ada", observation, "Ada")
    memory = tiny.ledger.memory
    closed = moment(NOON).model_dump()

    def revise(action: str, status: str, **changes: Any) -> None:
        memory.revise(record, 1, action=action, status=status, actor="me", reason="", **changes)

    revise("pin", "active", pinned=True)
    revise("supersede", "superseded", invalid_at=closed)
    revise("archive", "archived")
    found = state(tiny, record)
    assert (found["status"], found["pinned"], found["invalid_at"]) == ("archived", True, closed)
    assert found["closed_at"] is not None

    revise("unpin", "active", pinned=False)
    found = state(tiny, record)
    assert (found["status"], found["pinned"], found["closed_at"]) == ("active", False, None)
    assert [revision["action"] for revision in memory.revisions(record)] == [
        "create", "pin", "supersede", "archive", "unpin"
    ]  # fmt: skip


def test_a_record_that_does_not_exist_has_no_state_to_change(tiny: TinyStore) -> None:
    with pytest.raises(NotFoundError):
        tiny.ledger.memory.revise(
            "rec_x", 1, action="pin", status="active", actor="me", reason="", pinned=True
        )


def test_revisions_can_be_followed_by_number(tiny: TinyStore, observation: str) -> None:
    record = tiny.record("Ada", observation, "Ada")
    tiny.revise(record, "archived")

    (first, second) = tiny.ledger.memory.revisions_after(0, 10)
    assert first[1] == second[1] == record
    assert tiny.ledger.memory.revisions_after(first[0], 10) == [second]
    assert tiny.ledger.memory.revisions_after(0, 1) == [first]
