from dataclasses import replace
from typing import Any

import pytest

from muniment.pipeline import keys
from muniment.pipeline.policy import Allowance, Decision, Policy, decide, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.rules import RulesProposer

OWN = Passage("obs_1", "I like tea. Call me Bob. I live in Rome.", "message", "user", "user")
MODELLED = CandidateDraft(
    type="semantic",
    kind="preference",
    text="I like tea",
    evidence=Quote("obs_1", "I like tea", 0, 10),
    basis="user_statement",
    proposer="model",
    subject="user",
    key="preference:tea",
    value="like",
    confidence=0.95,
)


def test_explicit_statements_of_supported_rules_activate() -> None:
    decisions = [judge(draft, OWN, Policy()) for draft in RulesProposer().propose([OWN])]

    assert decisions == [Decision("active", "explicit_statement")] * 3


def test_a_lesson_activates_as_knowledge_and_nothing_more() -> None:
    passage = replace(OWN, text="Always answer in metric units.")
    (draft,) = RulesProposer().propose([passage])

    assert draft.type == "procedural"
    assert judge(draft, passage, Policy()).status == "active"
    assert not hasattr(draft, "executable")  # only a record has it, and there it is always false


@pytest.mark.parametrize(
    "basis", ["user_statement", "assistant_expression", "media", "inference", "third_party"]
)
def test_a_models_proposal_waits(basis: Any) -> None:
    assert decide(replace(MODELLED, basis=basis), Policy()).status == "pending"


def test_a_third_partys_statement_waits() -> None:
    passage = replace(OWN, origin="third_party", author="Alice", role=None)
    decisions = [judge(draft, passage, Policy()) for draft in RulesProposer().propose([passage])]

    assert decisions == [Decision("pending", "third_party_needs_approval")] * 2


def test_an_allowance_lets_a_sure_proposal_of_its_kind_through() -> None:
    policy = Policy(allowances=(Allowance("model", "preference", 0.9),))

    assert decide(MODELLED, policy) == Decision("active", "policy_allows")
    assert decide(replace(MODELLED, confidence=0.5), policy).status == "pending"
    assert decide(replace(MODELLED, kind="fact"), policy).status == "pending"
    assert decide(replace(MODELLED, proposer="other"), policy).status == "pending"


def test_an_allowance_may_be_for_one_origin() -> None:
    policy = Policy(allowances=(Allowance("model", origin="user"),))

    assert judge(MODELLED, OWN, policy).status == "active"
    assert decide(MODELLED, policy, "media").status == "pending"
    assert decide(MODELLED, policy).status == "pending"


def test_unknown_confidence_is_never_allowed() -> None:
    policy = Policy(allowances=(Allowance("*", "*", 0.0),))

    assert decide(replace(MODELLED, confidence=0.0), policy).status == "pending"


def test_no_allowance_gives_a_name() -> None:
    policy = Policy(allowances=(Allowance("*", "*", 0.0),))
    named = replace(MODELLED, key=keys.NAME, value="Bob", instructed=True)

    assert decide(named, policy) == Decision("pending", "name_needs_instruction")


def test_a_guards_reason_comes_first() -> None:
    forged = replace(MODELLED, evidence=Quote("obs_1", "I like rum", 0, 10))

    assert judge(forged, OWN, Policy()) == Decision("rejected", "quote_mismatch")


def test_a_rule_that_the_policy_leaves_out_waits() -> None:
    policy = Policy(rules=frozenset({"home"}))
    statuses = [decide(draft, policy).status for draft in RulesProposer().propose([OWN])]

    assert statuses == ["pending", "pending", "active"]


@pytest.mark.parametrize(
    ("key", "single"),
    [
        ("name", True),
        ("home", True),
        ("birthday", True),
        ("favourite:colour", True),
        ("allergy", False),
        ("preference:tea", False),
        (None, False),
        ("hobby", False),
    ],
)
def test_a_key_holds_one_value_or_several(key: str | None, single: bool) -> None:
    assert keys.is_single_valued(key) is single


def test_likes_and_dislikes_of_one_thing_contradict() -> None:
    assert keys.contradict("preference:tea", "like", "dislike")
    assert not keys.contradict("preference:tea", "like", "prefer")
    assert not keys.contradict("allergy", "nuts", "milk")


def test_spellings_of_a_topic_meet() -> None:
    assert keys.topical("preference", "The  Black Ｔea") == keys.topical("preference", "black tea")
