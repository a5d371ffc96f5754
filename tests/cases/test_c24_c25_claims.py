"""The same fact again, its opposite, and what was never said (C24, C25)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.remembering import Talk

from muniment.pipeline.policy import Allowance, Policy
from muniment.pipeline.proposers.base import CandidateDraft, Quote
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.propose import Proposals


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()


def test_the_same_fact_from_the_same_words_again_changes_nothing(talk: Talk) -> None:
    passage = talk.passage("I am allergic to nuts.", "2024-05-01")
    for _ in range(2):
        with talk.ledger.unit():
            drafts = RulesProposer().propose([passage])
            Proposals(talk.ledger, Policy()).take(drafts, {passage.observation: passage})

    (row,) = talk.rows("allergy")
    assert (row["status"], len(row["evidence"])) == ("active", 1)
    assert len(talk.memory.revisions(row["id"])) == 1


def test_the_same_fact_from_other_words_adds_evidence_and_deletes_nothing(talk: Talk) -> None:
    for day in ("2024-05-01", "2024-06-01", "2024-07-01"):
        talk.say(f"I am allergic to nuts. Said on {day}.", day)

    (row,) = talk.rows("allergy")
    assert (row["status"], len(row["evidence"])) == ("active", 3)


def test_the_opposite_is_kept_beside_it_and_settled_with_a_link(talk: Talk) -> None:
    talk.say("I like Obsidian.", "2024-05-01")
    talk.say("I hate Obsidian.", "2025-05-01")
    likes, hates = talk.rows("preference:obsidian")
    assert {likes["status"], hates["status"]} == {"conflicted"}

    with talk.ledger.unit():
        talk.claims().resolve(hates, "asked")

    assert [row["status"] for row in talk.rows("preference:obsidian")] == ["superseded", "active"]
    (link,) = talk.memory.links(likes["id"])
    assert (link["relation"], link["one"], link["other"]) == (
        "supersedes", hates["id"], likes["id"]
    )  # fmt: skip


@pytest.mark.parametrize(
    "words",
    ["Should we use Obsidian?", "Maybe I like Obsidian.", "If I use Obsidian, I live in my notes."],
)
def test_what_is_asked_or_supposed_is_no_fact(talk: Talk, words: str) -> None:
    talk.say(words, "2024-05-01")

    assert list(talk.memory.records()) == list(talk.memory.candidates()) == []


def test_an_invented_path_is_turned_down_even_where_the_policy_trusts_the_model(
    talk: Talk,
) -> None:
    passage = talk.passage("Should we use Obsidian?", "2024-05-01")
    invented = CandidateDraft(
        type="semantic", kind="fact", text="The vault is at /srv/notes/Vault", proposer="model",
        evidence=Quote(passage.observation, "/srv/notes/Vault", 0, 16), basis="user_statement",
        subject="user", key="vault_path", value="/srv/notes/Vault", confidence=0.99,
    )  # fmt: skip
    asked = replace(invented, evidence=Quote(passage.observation, "Should we use Obsidian", 0, 22))

    with talk.ledger.unit():
        trusting = Policy(allowances=(Allowance("model", "*", 0.5),))
        Proposals(talk.ledger, trusting).take([invented], {passage.observation: passage})
        Proposals(talk.ledger, Policy()).take([asked], {passage.observation: passage})

    reasons = {(one["status"], one["reason"]) for one in talk.memory.candidates()}
    assert reasons == {
        ("rejected", "quote_mismatch"), ("pending", "user_statement_needs_approval")
    }  # fmt: skip
    assert list(talk.memory.records()) == []
