"""What an agent proposes to remember: quoted from evidence, pending until the owner approves."""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.base import MEDIA_KINDS, CandidateDraft, Passage, Quote
from muniment.pipeline.stages.propose import Proposals, passage_of
from muniment.store.errors import MunimentError, NotFoundError, UsageError
from muniment.store.ids import storable_value
from muniment.store.records import Basis, MemoryKind, MemoryType, Unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger


class Proposal(BaseModel):
    """A claim with the words that support it.

    ``quote`` is an exact part of the evidence, named by ``ref`` (``observation:…`` or an event's
    id).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=2_000)]
    quote: Annotated[str, Field(min_length=1)]
    ref: Annotated[str, Field(min_length=1)]
    kind: MemoryKind = "fact"
    type: MemoryType = "semantic"
    subject: str | None = None
    key: str | None = None
    value: str | None = None
    inferred: Annotated[bool, Field(description="It is concluded, not said.")] = False
    confidence: Unit = 0.5


@dataclass(slots=True)
class Proposed:
    """What became of one proposal: the state of its candidate, or ``failed`` and why.

    ``planned`` is what a dry run says of one that could be kept.
    """

    text: str | None
    status: str
    ref: str | None = None
    reason: str | None = None
    operation: str | None = None
    code: str | None = None
    message: str | None = None
    hint: str | None = None
    line: int | None = None

    @classmethod
    def failed(cls, text: str | None, error: MunimentError, line: int | None = None) -> "Proposed":
        """Return what is told of a proposal that could not be kept."""
        said = {"code": error.code, "message": error.message, "hint": error.hint}
        return cls(text, "failed", line=line, **said)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in Proposed.__dataclass_fields__}


def foresee(
    session: "Session", proposals: "Sequence[Proposal]", coming: "Mapping[str, str]"
) -> list[Proposed]:
    """Say what would become of proposals; ``coming`` are texts of the same turn by event id."""
    with session.workspace().planning() as ledger:
        return [_foreseen(ledger, one, coming) for one in proposals]


def propose(session: "Session", proposals: "Sequence[Proposal]") -> list[Proposed]:
    """Keep proposals with what the guards make of each; none becomes memory by itself.

    One whose evidence is not there, or whose words do not stand in it, keeps no other from going
    in.
    """
    agent = session.settings["agent"] or "agent"
    with session.workspace().writing() as ledger, ledger.unit():
        return [_kept(ledger, one, f"agent:{agent}") for one in proposals]


def propose_of_turn(session: "Session", proposals: "Sequence[Proposal]") -> list[Proposed]:
    """Keep proposals once the events of their turn are in: what goes wrong is told of each."""
    if not proposals:
        return []
    try:
        return propose(session, proposals)
    except MunimentError as error:
        return [Proposed.failed(one.text, error) for one in proposals]


def read_proposal(line: bytes) -> Proposal | None:
    """Read a line that holds a proposal; null for any other. Raises ``UsageError``."""
    try:
        fields = storable_value(json.loads(line.decode("utf-8", "replace")))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or set(fields) != {"proposal"}:
        return None
    try:
        return Proposal.model_validate(fields["proposal"])
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"{where or 'proposal'}: {first['msg']}",
            code="bad_proposal",
            hint="text, quote and ref (an event's id)",
        ) from None


def _kept(ledger: "Ledger", proposal: Proposal, proposer: str) -> Proposed:
    try:
        draft, passage = _draft(ledger, proposal, proposer)
    except (NotFoundError, UsageError) as error:
        return Proposed.failed(proposal.text, error)
    Proposals(ledger, Policy()).take([draft], {passage.observation: passage})
    found = next(iter(ledger.memory.candidates("c.id = ?", (draft.id,))))
    ref = f"candidate:{found['id']}"
    return Proposed(found["text"], found["status"], ref, found["reason"], found["operation"])


def _foreseen(ledger: "Ledger", proposal: Proposal, coming: "Mapping[str, str]") -> Proposed:
    said = coming.get(proposal.ref.removeprefix("event:"))
    try:
        if said is None:
            _passage(ledger, proposal)
        elif proposal.quote not in said:
            raise _mismatch()
    except (NotFoundError, UsageError) as error:
        return Proposed.failed(proposal.text, error)
    return Proposed(proposal.text, "planned")


def _draft(ledger: "Ledger", proposal: Proposal, proposer: str) -> tuple[CandidateDraft, Passage]:
    passage = _passage(ledger, proposal)
    start = passage.text.index(proposal.quote)
    draft = CandidateDraft(
        type=proposal.type,
        kind=proposal.kind,
        text=proposal.text,
        evidence=Quote(passage.observation, proposal.quote, start, start + len(proposal.quote)),
        basis="inference" if proposal.inferred else _basis(passage),
        proposer=proposer,
        subject=proposal.subject,
        key=proposal.key,
        value=proposal.value,
        confidence=proposal.confidence,
    )
    return draft, passage


def _passage(ledger: "Ledger", proposal: Proposal) -> Passage:
    """Return the live observation that holds the quote."""
    event = ledger.sessions.event(proposal.ref.removeprefix("event:"))
    if event is not None and event.asset is not None:
        rows = list(ledger.evidence.of_asset(event.asset))
    else:
        rows = list(
            ledger.evidence.live_by_id([proposal.ref.removeprefix("observation:")]).values()
        )
    if not rows:
        raise NotFoundError(
            f"no live evidence {proposal.ref!r}", hint="name an observation that recall cited"
        )
    for row in rows:
        if proposal.quote in row.text:
            return passage_of(row)
    raise _mismatch()


def _mismatch() -> UsageError:
    return UsageError(
        "the quote does not stand in the evidence",
        code="quote_mismatch",
        hint="copy the words exactly, without changes",
    )


def _basis(passage: Passage) -> Basis:
    if passage.kind in MEDIA_KINDS:
        return "media"
    bases: dict[str, Basis] = {
        "user": "user_statement", "agent": "assistant_expression", "third_party": "third_party",
    }  # fmt: skip
    return bases.get(passage.origin, "media")
