import pytest
from support.remembering import Talk, at

from muniment.pipeline.memory.claims import Claims
from muniment.store.errors import NotFoundError


def actions(talk: Talk, record: str) -> list[str]:
    return [revision["action"] for revision in talk.memory.revisions(record)]


def candidate(talk: Talk) -> dict[str, object]:
    return list(talk.memory.candidates("1 ORDER BY c.seq"))[-1]


def test_a_statement_without_a_date_holds_since_it_was_said(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")

    (row,) = talk.rows("home")
    assert row["valid_sort"] == at("2024-05-01")


def test_a_source_from_the_future_hides_nothing(talk: Talk) -> None:
    talk.say("I live in Rome.", "2027-05-01")

    (row,) = talk.rows("home")
    assert row["valid_sort"] == row["recorded_at"] == talk.now


def test_a_newer_value_ends_the_older_and_is_linked_to_it(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")

    assert talk.shown("home") == [
        ("Rome", "superseded", "2024-05-01"), ("Paris", "active", None)
    ]  # fmt: skip
    assert candidate(talk)["operation"] == "SUPERSEDE"
    old, new = talk.rows("home")
    assert [(x["one"], x["other"], x["relation"]) for x in talk.memory.links(old["id"])] == [
        (new["id"], old["id"], "supersedes")
    ]


def test_a_late_arrival_is_born_closed_and_moves_the_end_before_it(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    talk.say("I live in Oslo.", "2022-05-01")

    assert talk.shown("home") == [
        ("Rome", "superseded", "2022-05-01"),
        ("Oslo", "superseded", "2024-05-01"),
        ("Paris", "active", None),
    ]
    assert actions(talk, talk.rows("home")[-1]["id"]) == ["create"]


def test_the_same_again_adds_evidence_and_no_copy(talk: Talk) -> None:
    talk.say("I am allergic to nuts.", "2024-05-01")
    talk.say("I'm allergic to Nuts!", "2025-05-01")

    (row,) = talk.rows("allergy")
    assert len(row["evidence"]) == 2
    assert actions(talk, row["id"]) == ["create", "reinforce"]
    found = candidate(talk)
    assert (found["operation"], found["status"]) == ("REINFORCE", "active")
    assert [one["candidate"] for one in talk.memory.supporters(row["version_seq"])] == [found["id"]]


def test_the_same_words_proposed_twice_change_nothing(talk: Talk) -> None:
    passage = talk.passage("I am allergic to nuts. I am allergic to nuts.", "2024-05-01")
    from muniment.pipeline.policy import Policy
    from muniment.pipeline.proposers.rules import RulesProposer
    from muniment.pipeline.stages.propose import Proposals

    for _ in range(2):
        with talk.ledger.unit():
            drafts = RulesProposer().propose([passage])
            Proposals(talk.ledger, Policy()).take(drafts, {passage.observation: passage})

    (row,) = talk.rows("allergy")
    assert actions(talk, row["id"]) == ["create"]
    statuses = [(one["status"], one["reason"]) for one in talk.memory.candidates("1 ORDER BY seq")]
    assert statuses == [("active", "explicit_statement"), ("rejected", "already_known")]


def test_a_value_that_came_back_is_a_claim_of_its_own(talk: Talk) -> None:
    for city, day in (("Rome", "2020-05-01"), ("Paris", "2022-05-01"), ("Rome", "2024-05-01")):
        talk.say(f"I live in {city}.", day)

    assert [(value, end) for value, _, end in talk.shown("home")] == [
        ("Rome", "2022-05-01"), ("Paris", "2024-05-01"), ("Rome", None)
    ]  # fmt: skip


def test_evidence_of_a_past_time_supports_what_held_then(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    talk.say("I live in Rome!", "2021-05-01")

    rows = talk.rows("home")
    assert len(rows) == 2
    assert len(rows[0]["evidence"]) == 2
    assert rows[0]["status"] == "superseded"


def test_contradictions_stay_visible_until_they_are_resolved(talk: Talk) -> None:
    talk.say("I like tea.", "2020-05-01")
    talk.say("I hate tea.", "2024-05-01")

    assert candidate(talk)["operation"] == "CONFLICT"
    ((first, second),) = talk.claims().conflicts()
    assert (first["value"], second["value"]) == ("like", "dislike")

    with talk.ledger.unit():
        assert talk.claims().resolve(second, "asked") == [second["id"], first["id"]]

    assert talk.claims().conflicts() == []
    assert talk.shown("preference:tea") == [
        ("like", "superseded", "2024-05-01"), ("dislike", "active", None)
    ]  # fmt: skip
    with talk.ledger.unit():
        assert talk.claims().resolve(talk.claims().current(second["id"]), "asked") == []


def test_keeping_the_older_claim_takes_the_newer_back(talk: Talk) -> None:
    talk.say("I like tea.", "2020-05-01")
    talk.say("I hate tea.", "2024-05-01")
    first, _ = talk.rows("preference:tea")

    with talk.ledger.unit():
        talk.claims().resolve(first, "a joke")

    assert [status for _, status, _ in talk.shown("preference:tea")] == ["active", "revoked"]


def test_both_may_be_kept_and_stay_at_peace(talk: Talk) -> None:
    talk.say("I like tea.", "2020-05-01")
    talk.say("I hate tea.", "2024-05-01")
    first, _ = talk.rows("preference:tea")

    with talk.ledger.unit():
        talk.claims().resolve(first, "depends on the tea", both=True)
        talk.claims().settle("user", "preference:tea")

    assert [status for _, status, _ in talk.shown("preference:tea")] == ["active", "active"]


def test_archiving_one_side_frees_the_other_and_restoring_it_does_not(talk: Talk) -> None:
    talk.say("I like tea.", "2020-05-01")
    talk.say("I hate tea.", "2024-05-01")
    first, second = talk.rows("preference:tea")
    claims = talk.claims()

    with talk.ledger.unit():
        assert claims.set_status(second, "archived", "not now")
        assert not claims.set_status(claims.current(second["id"]), "archived", "not now")
    assert claims.current(first["id"])["status"] == "active"

    with talk.ledger.unit():
        assert claims.set_status(claims.current(second["id"]), "active", "again")
    assert claims.current(first["id"])["status"] == "conflicted"


def test_a_restored_value_is_where_validity_puts_it(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    (row,) = talk.rows("home")
    claims = talk.claims()
    with talk.ledger.unit():
        claims.set_status(row, "archived", "hidden")
    talk.say("I live in Paris.", "2024-05-01")

    with talk.ledger.unit():
        claims.set_status(claims.current(row["id"]), "active", "shown")

    assert talk.shown("home")[0] == ("Rome", "superseded", "2024-05-01")


def test_pinning_twice_is_one_revision(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    (row,) = talk.rows("home")
    claims = talk.claims()
    with talk.ledger.unit():
        assert claims.pin(row, pinned=True)
        assert not claims.pin(claims.current(row["id"]), pinned=True)

    assert actions(talk, row["id"]) == ["create", "pin"]
    assert claims.current(row["id"])["pinned"] is True


def test_what_was_taken_back_opens_nothing_again(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")
    with talk.ledger.unit():
        talk.claims().set_status(talk.rows("home")[1], "revoked", "wrong")

    assert talk.shown("home") == [
        ("Rome", "superseded", "2024-05-01"), ("Paris", "revoked", None)
    ]  # fmt: skip


def test_a_future_value_closes_the_present_one_only_when_it_starts(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    future = {"utc": at("2030-01-01"), "precision": "day"}
    talk.claim("home", "Oslo", "2026-03-01", valid_at=future)

    assert talk.shown("home") == [("Rome", "active", "2030-01-01"), ("Oslo", "active", None)]

    talk.tick("2031-01-01")
    with talk.ledger.unit():
        assert talk.claims().settle("user", "home") == 1
    assert talk.shown("home")[0][1] == "superseded"


def test_a_record_that_is_not_there_has_no_version() -> None:
    class Empty:
        memory = type("M", (), {"records": staticmethod(lambda *_: iter(()))})()

    with pytest.raises(NotFoundError):
        Claims(Empty(), "user").current("rec_x")  # type: ignore[arg-type]
