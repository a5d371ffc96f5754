"""Propose: observations to candidates, and through the policy gate to records.

Proposers read what is new since their own mark; guards and gate are the same for all of them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.reading import read as read_entities
from muniment.pipeline.memory.claims import Claims, Effect
from muniment.pipeline.policy import Decision, Policy, judge
from muniment.pipeline.policy_file import load_policy
from muniment.pipeline.proposers.base import (
    MEDIA_KINDS,
    CandidateDraft,
    Passage,
    Proposer,
    Quote,
)
from muniment.pipeline.proposers.found import FoundProposer
from muniment.pipeline.stages.admission import Admission
from muniment.pipeline.stages.run import Run
from muniment.pipeline.statements import STATED
from muniment.store.ledger import Ledger
from muniment.store.records import Candidate, Evidence, Moment
from muniment.store.rows import ObservationRow
from muniment.store.times import sort_key

if TYPE_CHECKING:
    from muniment.adapters.models.settings import ModelSettings

STAGE = "propose"
BATCH = 1_000
# CONTRACT 4.3: where a claim came from is how important it is at first.
IMPORTANCE = {"remember": 1.0, "correct": 1.0, "import": 0.8, "rules": 0.7}
EXPLICIT, AUTOMATIC = 1.0, 0.5
_SPOKEN = frozenset({"user", "third_party"})


def propose(run: Run, models: "ModelSettings | None" = None, policy: Policy | None = None) -> None:
    """Read what is new with every proposer there is; decide on what they propose.

    A model proposes where one is configured for ``chat``; what it fails at stays pending.
    """
    policy = policy or load_policy(run.ledger.paths)
    memory = Proposals(run.ledger, policy)
    _rejudge(run, policy)
    for proposer in (SpokenRules(), FoundProposer()):
        _read_on(run, proposer, memory)
    if models is not None:
        _ask_model(run, models, memory)
    _have_judged(run, policy)
    read_entities(run, Identities(run.ledger))
    run.tally.add("candidates", memory.candidates)
    run.tally.add("records", len(memory.records))


def _rejudge(run: Run, policy: Policy) -> None:
    """Let a policy that was changed take up what waits."""
    from muniment.pipeline.memory.rejudging import is_due, rejudge

    if is_due(run.ledger, policy):
        with run.ledger.unit():
            run.tally.add("records", len(rejudge(run.ledger, policy)))


def _have_judged(run: Run, policy: Policy) -> None:
    from muniment.pipeline.memory.rejudging import have_judged

    with run.ledger.unit():
        have_judged(run.ledger, policy)


class SpokenRules:
    """The rules proposer, whose patterns are loaded when somebody has said something."""

    name = "rules"
    version = "2"

    def propose(self, passages: Iterable[Passage]) -> Iterator[CandidateDraft]:
        """Yield what the rules recognise."""
        spoken = [
            passage
            for passage in passages
            if passage.origin in _SPOKEN and passage.kind not in MEDIA_KINDS
        ]
        if spoken:
            from muniment.pipeline.proposers.rules import RulesProposer

            yield from RulesProposer().propose(spoken)


def _ask_model(run: Run, models: "ModelSettings", memory: "Proposals") -> None:
    from muniment.adapters import registry

    spec = registry.model_spec("chat", models)
    if spec is None:
        return
    if spec.remote and models.offline:
        run.tally.warnings.append("the chat model is remote and was not asked: --offline")
        return
    from muniment.pipeline.stages.propose_model import ModelReading

    reading = ModelReading(run, memory, lambda audit: registry.model("chat", models, audit))
    reading.read()
    if reading.failed:
        run.tally.warnings.append(
            f"{reading.failed} batches could not be proposed from; the next run takes them up"
        )


def _read_on(run: Run, proposer: Proposer, memory: "Proposals") -> None:
    """Take one proposer from its mark to the newest observation, a batch a transaction."""
    fingerprint = f"{proposer.name}/{proposer.version}"
    attempts = run.ledger.attempts
    mark = attempts.mark(STAGE, fingerprint)
    while not run.out_of_time and (rows := run.ledger.evidence.after(mark, BATCH)):
        mark = rows[-1].seq
        passages = {row.id: found for row in rows if not (found := passage_of(row)).decided}
        with run.ledger.unit():
            memory.take(proposer.propose(passages.values()), passages)
            attempts.set_mark(STAGE, mark, fingerprint)


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
        asset=row.asset,
        confidence=row.confidence,
        attributes=row.attributes,
        decided=row.producer == STATED,
    )


def _instant(instant: str | None) -> dict[str, Any] | None:
    if instant is None:
        return None
    return Moment(utc=instant, zone_source="capture", precision="microsecond").model_dump()


class Proposals:
    """Takes drafts through guards and gate into the ledger, inside the caller's unit.

    With ``allow``, a claim that was forgotten for good may be made again.
    """

    def __init__(self, ledger: Ledger, policy: Policy, *, allow: bool = False) -> None:
        self._memory = ledger.memory
        self._claims = Claims(ledger, "policy")
        self._admission = Admission(ledger, allow=allow)
        self._policy = policy
        self.candidates = 0
        self.records: list[str] = []

    def take(self, drafts: Iterable[CandidateDraft], passages: Mapping[str, Passage]) -> None:
        """Keep every draft with its decision; make records of those that activate."""
        for draft in drafts:
            passage = passages[draft.evidence.observation]
            decision = judge(draft, passage, self._policy)
            if not all(_stands_in(quote, passages) for quote in draft.also):
                decision = Decision("rejected", "quote_mismatch")
            self._take(draft, passage, decision)

    def _take(self, draft: CandidateDraft, passage: Passage, decision: Decision) -> None:
        claim = candidate_of(draft, passage, self._memory.clock())
        if not self._admission.admits_claim(claim):
            return
        effect = self._claims.effect(claim)
        claim = claim.model_copy(update={"operation": effect.operation})
        number = self._memory.propose(claim)
        if number is None:
            return
        self.candidates += 1
        if decision.status != "rejected" and effect.operation == "IGNORE":
            decision = Decision("rejected", "already_known")
        self._memory.decide(number, decision.status, decision.reason, "policy")
        if decision.status == "active":
            self._activate(number, claim, effect, importance_of(draft.proposer, draft.instructed))

    def _activate(self, number: int, claim: Candidate, effect: Effect, importance: float) -> None:
        kept = self._claims.keep(number, claim, effect, importance=importance)
        if effect.known is None:
            self.records.append(kept.record)


def importance_of(proposer: str, instructed: bool = False) -> float:
    """Return how important a claim is at first, by where it came from."""
    return EXPLICIT if instructed else IMPORTANCE.get(proposer, AUTOMATIC)


def candidate_of(draft: CandidateDraft, passage: Passage, now: str) -> Candidate:
    """Return the candidate of a draft; a claim without a start begins when its source was made.

    A source that says it was made later than now (a clock that is wrong, a wall time of another
    zone) must not hide the claim: it begins now.
    """
    valid = draft.valid_at or passage.occurred
    if draft.valid_at is None and (valid is None or (sort_key(dict(valid)) or now) > now):
        valid = Moment(utc=now, zone_source="utc", precision="microsecond").model_dump()
    return Candidate(
        id=draft.id,
        type=draft.type,
        kind=draft.kind,
        text=draft.text,
        subject=draft.subject,
        key=draft.key,
        value=draft.value,
        valid_at=_moment(valid),
        invalid_at=_moment(draft.invalid_at),
        due_at=_moment(draft.due_at),
        basis=draft.basis,
        sensitivity="sensitive" if draft.sensitive else "normal",
        salience=draft.salience,
        confidence=draft.confidence,
        evidence=_evidence(draft),
        proposer=draft.proposer,
        created_at=now,
    )


def _evidence(draft: CandidateDraft) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(observation=quote.observation, quote=quote.quote, start=quote.start, end=quote.end)
        for quote in (draft.evidence, *draft.also)
    )


def _stands_in(quote: Quote, passages: Mapping[str, Passage]) -> bool:
    passage = passages.get(quote.observation)
    return passage is not None and passage.text[quote.start : quote.end] == quote.quote


def _moment(fields: Any) -> Moment | None:
    return None if fields is None else Moment(**fields)
