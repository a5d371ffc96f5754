"""Propose: observations to candidates, and through the policy gate to records.

Proposers read what is new since their own mark; guards and gate are the same for all of them.
"""

from collections.abc import Iterable
from typing import Any

from muniment.pipeline import keys
from muniment.pipeline.policy import Decision, Policy, judge
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.stages.run import Run
from muniment.store.ledger import Ledger
from muniment.store.records import Candidate, Evidence, Moment
from muniment.store.rows import ObservationRow
from muniment.store.times import now, sort_key

STAGE = "propose"
BATCH = 1_000
# CONTRACT 4.3: where a claim came from is how important it is at first.
IMPORTANCE = {"remember": 1.0, "rules": 0.7}
EXPLICIT, AUTOMATIC = 1.0, 0.5


def propose(run: Run, policy: Policy | None = None) -> None:
    """Read what is new with the rules and decide on what they propose."""
    proposer = RulesProposer()
    fingerprint = f"{proposer.name}/{proposer.version}"
    attempts = run.ledger.attempts
    mark = attempts.mark(STAGE, fingerprint)
    memory = Proposals(run.ledger, policy or Policy())
    while rows := run.ledger.evidence.after(mark, BATCH):
        mark = rows[-1].seq
        passages = {row.id: passage_of(row) for row in rows}
        with run.ledger.unit():
            memory.take(proposer.propose(passages.values()), passages)
            attempts.set_mark(STAGE, mark, fingerprint)
    run.tally.add("candidates", memory.candidates)
    run.tally.add("records", len(memory.records))


def passage_of(row: ObservationRow) -> Passage:
    """Show an observation to proposers."""
    return Passage(
        observation=row.id,
        text=row.text,
        kind=row.kind,
        origin=row.origin,
        role=row.role,
        author=row.author,
        occurred=row.occurred or _instant(row.instant),
        instant=row.instant,
        language=row.language,
    )


def _instant(instant: str | None) -> dict[str, Any] | None:
    if instant is None:
        return None
    return Moment(utc=instant, zone_source="capture", precision="microsecond").model_dump()


class Proposals:
    """Takes drafts through guards and gate into the ledger, inside the caller's unit."""

    def __init__(self, ledger: Ledger, policy: Policy) -> None:
        self._memory = ledger.memory
        self._policy = policy
        self.candidates = 0
        self.records: list[str] = []

    def take(self, drafts: Iterable[CandidateDraft], passages: dict[str, Passage]) -> None:
        """Keep every draft with its decision; make records of those that activate."""
        for draft in drafts:
            passage = passages[draft.evidence.observation]
            self._take(draft, judge(draft, passage, self._policy))

    def _take(self, draft: CandidateDraft, decision: Decision) -> None:
        known = self._same(draft)
        operation = "ADD" if known is None else "IGNORE"
        candidate = _candidate(draft, operation)
        number = self._memory.propose(candidate)
        if number is None:
            return
        self.candidates += 1
        if known is not None and decision.status == "active":
            self._memory.decide(number, "rejected", "already_known", "policy")
            return
        self._memory.decide(number, decision.status, decision.reason, "policy")
        if decision.status == "active":
            self._activate(number, candidate, draft)

    def _same(self, draft: CandidateDraft) -> dict[str, Any] | None:
        """Return the active record that says the same already."""
        same = self._memory.records(
            "r.status = 'active' AND r.kind = ? AND r.subject IS ? AND r.key IS ? "
            "AND r.value IS ? AND (r.value IS NOT NULL OR r.text = ?)",
            (draft.kind, draft.subject, draft.key, draft.value, draft.text),
        )
        return next(iter(same), None)

    def _activate(self, number: int, candidate: Candidate, draft: CandidateDraft) -> None:
        """Make a record; where a key has one value at a time, validity decides which is live."""
        rival = self._rival(candidate)
        importance = EXPLICIT if draft.instructed else IMPORTANCE.get(draft.proposer, AUTOMATIC)
        record = self._memory.activate(number, candidate, importance=importance, actor="policy")
        self.records.append(record)
        if rival is None:
            return
        start = None if candidate.valid_at is None else candidate.valid_at.model_dump()
        late = (sort_key(start) or "") < (rival["valid_sort"] or "")
        older, newer_start = (
            ((record, 1), rival["valid_at"]) if late else ((rival["id"], rival["version"]), start)
        )
        self._memory.revise(
            *older, action="supersede", status="superseded", actor="policy",
            reason="a newer value of the key", invalid_at=newer_start,
        )  # fmt: skip

    def _rival(self, candidate: Candidate) -> dict[str, Any] | None:
        if not keys.is_single_valued(candidate.key):
            return None
        rivals = self._memory.records(
            "r.status = 'active' AND r.subject IS ? AND r.key = ?",
            (candidate.subject, candidate.key),
        )
        return next(iter(rivals), None)


def _candidate(draft: CandidateDraft, operation: Any) -> Candidate:
    quote = draft.evidence
    return Candidate(
        id=draft.id,
        type=draft.type,
        kind=draft.kind,
        text=draft.text,
        subject=draft.subject,
        key=draft.key,
        value=draft.value,
        valid_at=_moment(draft.valid_at),
        invalid_at=_moment(draft.invalid_at),
        due_at=_moment(draft.due_at),
        basis=draft.basis,
        sensitivity="sensitive" if draft.sensitive else "normal",
        salience=draft.salience,
        confidence=draft.confidence,
        evidence=(
            Evidence(
                observation=quote.observation, quote=quote.quote, start=quote.start, end=quote.end
            ),
        ),
        operation=operation,
        proposer=draft.proposer,
        created_at=now(),
    )


def _moment(fields: Any) -> Moment | None:
    return None if fields is None else Moment(**fields)
