from support.remembering import Talk, at

from muniment.pipeline.memory import consolidating
from muniment.pipeline.memory.consolidating import Step, consolidate, plan
from muniment.pipeline.policy import Allowance, Policy
from muniment.store.access import Use

LENIENT = Policy(allowances=(Allowance("model", "*", 0.5),))


def by_model(talk: Talk, key: str | None, value: str, day: str) -> str:
    """Let a claim become memory by itself, as the policy allows; return its record."""
    proposals = talk.claim(
        key, value, day, policy=LENIENT, proposer="model", rule="", instructed=False,
        confidence=0.9,
    )  # fmt: skip
    (record,) = proposals.records
    return record


def test_what_became_memory_by_itself_is_archived_once_it_has_faded(talk: Talk) -> None:
    record = by_model(talk, "hobby", "chess", "2024-01-01")
    (step,) = plan(talk.ledger, {}, at("2029-01-01"))
    assert (step.action, step.ref) == ("archive", f"record:{record}@1")
    assert plan(talk.ledger, {}, at("2027-01-01")) == []

    talk.tick("2029-01-01")
    assert consolidate(talk.ledger, {}, talk.now) == ([step], 0)
    assert talk.claims().current(record)["status"] == "archived"
    assert consolidate(talk.ledger, {}, talk.now) == ([], 0)
    assert len(talk.memory.revisions(record)) == 2


def test_use_and_new_evidence_and_a_pin_keep_it_in_sight(talk: Talk) -> None:
    used, pinned = (by_model(talk, "hobby", name, "2024-01-01") for name in ("chess", "go"))
    with talk.ledger.unit():
        talk.claims().pin(talk.claims().current(pinned), pinned=True)

    uses = {used: Use(3, at("2028-06-01"))}
    assert plan(talk.ledger, uses, at("2029-01-01")) == []
    assert [step.record for step in plan(talk.ledger, {}, at("2029-01-01"))] == [used]

    talk.tick("2028-12-01")
    talk.claim("hobby", "chess", "2028-12-01")
    assert plan(talk.ledger, {}, at("2029-01-01")) == []


def test_what_somebody_said_or_approved_is_never_archived_by_itself(talk: Talk) -> None:
    from muniment.pipeline.memory.review import approve

    talk.say("I live in Rome.", "2024-01-01")
    talk.say("I like tea.", "2024-01-01", origin="third_party", author="Bob", role=None)
    (waiting,) = talk.memory.candidates("c.status = 'pending'")
    with talk.ledger.unit():
        assert approve(talk.ledger, waiting).done

    assert plan(talk.ledger, {}, at("2099-01-01")) == []


def test_a_value_that_a_future_one_has_ended_is_superseded(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    future = {"utc": at("2030-01-01"), "precision": "day"}
    talk.claim("home", "Oslo", "2026-03-01", valid_at=future)
    assert plan(talk.ledger, {}, talk.now) == []

    talk.tick("2030-01-02")
    (done,), _ = consolidate(talk.ledger, {}, talk.now)

    assert done.action == "supersede"
    assert talk.shown("home")[0] == ("Rome", "superseded", "2030-01-01")


def test_claims_that_say_the_same_are_merged_into_the_older(talk: Talk) -> None:
    talk.say("Remember that the spare key is under the pot.", "2024-01-01")
    talk.say("Remember that the Spare Key is under the pot!", "2024-02-01")
    first, second = (row["id"] for row in talk.memory.records("r.status = 'active'"))

    steps, _ = consolidate(talk.ledger, {}, talk.now)

    assert steps == [Step("merge", second, 1, first)]
    assert talk.claims().current(second)["status"] == "archived"
    assert len(talk.claims().current(first)["evidence"]) == 2
    assert plan(talk.ledger, {}, talk.now) == []


def test_an_interrupted_batch_is_taken_up_again(talk: Talk) -> None:
    one, two = (by_model(talk, "hobby", name, "2024-01-01") for name in ("chess", "go"))
    talk.tick("2029-01-01")
    steps = plan(talk.ledger, {}, talk.now)
    with talk.ledger.unit():
        talk.ledger.audit.begin("con_1", [[s.action, s.record, s.version, s.into] for s in steps])
    with talk.ledger.unit():
        consolidating._take(talk.ledger, steps[0])

    assert consolidate(talk.ledger, {}, talk.now) == ([], 1)
    assert {talk.claims().current(record)["status"] for record in (one, two)} == {"archived"}
    assert talk.ledger.audit.unfinished() == []
