"""A policy that was changed takes up what waits; what became memory stays."""

import io

from support.remembering import Talk

from muniment.adapters.ports import Limits
from muniment.pipeline.memory.rejudging import is_due, rejudge
from muniment.pipeline.memory.review import by_id, reject
from muniment.pipeline.policy import OFFERED_RULES, Allowance, Policy
from muniment.pipeline.progress import ProgressLine
from muniment.pipeline.settings import load
from muniment.pipeline.stages.propose import propose
from muniment.pipeline.stages.run import Run, Tally

STRICT = Policy(rules=frozenset({"remember"}))


def run_of(talk: Talk) -> Run:
    folder = talk.store.root.path
    return Run(
        ledger=talk.ledger, settings=load({"root": str(folder)}, {}), tally=Tally("run_x"),
        progress=ProgressLine(io.StringIO(), "never"), scratch=folder, cache=folder,
        limits=Limits(),
    )  # fmt: skip


def test_the_next_propose_takes_up_what_a_changed_policy_lets_through(talk: Talk) -> None:
    talk.passage("I live in Rome.", "2024-05-01")
    propose(run_of(talk), policy=STRICT)
    assert talk.rows("home") == []
    run = run_of(talk)

    propose(run, policy=Policy())

    assert [row["value"] for row in talk.rows("home")] == ["Rome"]
    assert run.tally.counts["records"] == 1
    (candidate,) = talk.memory.candidates()
    assert (candidate["status"], candidate["actor"]) == ("active", "policy")


def test_it_is_done_once_a_policy_and_again_for_what_came_under_another(talk: Talk) -> None:
    talk.passage("I live in Rome.", "2024-05-01")
    propose(run_of(talk), policy=STRICT)
    assert not is_due(talk.ledger, STRICT)
    assert is_due(talk.ledger, Policy())
    with talk.ledger.unit():
        assert len(rejudge(talk.ledger, Policy(), dry_run=True)) == 1
        assert len(rejudge(talk.ledger, Policy())) == 1
        assert rejudge(talk.ledger, Policy()) == []


def test_an_allowance_takes_up_a_models_proposals_if_they_are_sure_enough(talk: Talk) -> None:
    talk.claim("home", "Oslo", "2024-05-01", proposer="model", rule="", instructed=False)
    talk.claim("home", "Bonn", "2024-06-01", proposer="model", rule="", instructed=False,
               confidence=0.5)  # fmt: skip

    with talk.ledger.unit():
        rejudge(talk.ledger, Policy(allowances=(Allowance("model"),)))

    assert [row["value"] for row in talk.rows("home")] == ["Oslo"]


def test_what_the_user_turned_down_and_what_is_memory_stay_as_they_are(talk: Talk) -> None:
    talk.say("I live in Rome.", "2024-05-01")
    talk.say("My sister Anna is here.", "2024-05-01")
    (waiting,) = talk.memory.candidates("c.status = 'pending'")
    with talk.ledger.unit():
        reject(talk.ledger, by_id(talk.ledger, [waiting["id"]])[0], "no")
        assert rejudge(talk.ledger, Policy(rules=OFFERED_RULES)) == []
        assert rejudge(talk.ledger, Policy(rules=frozenset())) == []

    assert [row["status"] for row in talk.rows("home")] == ["active"]


def test_a_forged_quote_is_let_through_by_no_policy(talk: Talk) -> None:
    talk.claim("home", "Oslo", "2024-05-01", proposer="model", rule="", instructed=False)
    (row,) = talk.memory.candidates()
    gone = {**row, "evidence": [{**row["evidence"][0], "quote": "Never said"}]}
    talk.memory.candidates = lambda *_: iter([gone])  # type: ignore[method-assign]

    with talk.ledger.unit():
        assert (
            rejudge(talk.ledger, Policy(allowances=(Allowance("*", least_confidence=0.1),))) == []
        )
