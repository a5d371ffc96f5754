"""Judge anew what waits: a policy that was changed may let through what the one before did not.

Only what the policy itself left pending is judged. What became memory stays, whatever the new
policy says: a record is taken back by the user alone.
"""

from collections.abc import Iterator
from dataclasses import astuple
from typing import TYPE_CHECKING, Any

from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.memory.review import claim_of, obstacle
from muniment.pipeline.policy import Decision, Policy, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.propose import STAGE, importance_of, passage_of
from muniment.store.ids import made

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

ACTOR = "policy"
_BY_RULE = frozenset({"rules", "remember"})


def rejudge(ledger: "Ledger", policy: Policy, *, dry_run: bool = False) -> list[dict[str, Any]]:
    """Activate what a policy lets through of what waits; return what was, with its record.

    Each candidate is judged once under a policy: what it left pending, it would again. Runs
    inside the caller's unit.
    """
    mark = ledger.attempts.mark(STAGE, _name(policy))
    activated = []
    newest = mark
    where = "c.seq > ? ORDER BY c.seq"
    for row in list(ledger.memory.candidates(where, (mark,))):
        newest = row["seq"]
        found = _judged(ledger, row, policy) if _waits(row) else None
        if found is not None:
            activated.append(_activate(ledger, row, *found, dry_run=dry_run))
    if not dry_run:
        ledger.attempts.set_mark(STAGE, newest, _name(policy))
    return activated


def is_due(ledger: "Ledger", policy: Policy) -> bool:
    """Tell whether there are candidates that a policy has not judged."""
    return ledger.memory.newest() > ledger.attempts.mark(STAGE, _name(policy))


def have_judged(ledger: "Ledger", policy: Policy) -> None:
    """Note that every candidate there is has been judged under a policy."""
    ledger.attempts.set_mark(STAGE, ledger.memory.newest(), _name(policy))


def _name(policy: Policy) -> str:
    allowances = [list(astuple(one)) for one in policy.allowances]
    return made("policy", sorted(policy.rules), allowances)


def _waits(row: dict[str, Any]) -> bool:
    return row["status"] == "pending" and row["actor"] in (None, ACTOR)


def _judged(
    ledger: "Ledger", row: dict[str, Any], policy: Policy
) -> tuple[CandidateDraft, Decision] | None:
    """Return a candidate as it was drafted, with the decision that activates it; else null."""
    if obstacle(ledger, row) is not None:
        return None
    for item in row["evidence"]:
        observation = ledger.evidence.get(item["observation"])
        if observation is None:
            return None
        passage = passage_of(observation)
        for draft in _drafts(row, passage, item):
            decision = judge(draft, passage, policy)
            if decision.status == "active":
                return draft, decision
    return None


def _drafts(
    row: dict[str, Any], passage: Passage, item: dict[str, Any]
) -> Iterator[CandidateDraft]:
    """Yield what was drafted: which rule saw it is not kept, so the rules read it again."""
    if row["proposer"] in _BY_RULE:
        drafts = RulesProposer().propose([passage])
        yield from (draft for draft in drafts if draft.id == row["id"])
        return
    quote = Quote(item["observation"], item["quote"], item["start"], item["end"])
    names = ("type", "kind", "text", "basis", "proposer", "subject", "key", "value", "confidence")
    yield CandidateDraft(evidence=quote, **{name: row[name] for name in names})


def _activate(
    ledger: "Ledger", row: dict[str, Any], draft: CandidateDraft, decision: Decision,
    *, dry_run: bool,
) -> dict[str, Any]:  # fmt: skip
    claims, claim = Claims(ledger, ACTOR), claim_of(row)
    effect = claims.effect(claim)
    told = {"ref": f"candidate:{row['id']}", "text": row["text"], "operation": effect.operation,
            "record": None}  # fmt: skip
    if dry_run:
        return told
    if effect.operation == "IGNORE":
        ledger.memory.decide(row["seq"], "rejected", "already_known", ACTOR)
        return told
    ledger.memory.decide(row["seq"], decision.status, decision.reason, ACTOR)
    importance = importance_of(row["proposer"], draft.instructed)
    kept = claims.keep(row["seq"], claim, effect, importance=importance)
    return {**told, "record": kept.ref}
