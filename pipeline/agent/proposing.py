"""What an agent proposes to remember: quoted from evidence, pending until the owner approves."""

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.base import MEDIA_KINDS, CandidateDraft, Passage, Quote
from muniment.pipeline.stages.propose import Proposals, passage_of
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.records import Basis, MemoryKind, MemoryType, Unit

if TYPE_CHECKING:
    from collections.abc import Sequence

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


def check(session: "Session", proposals: "Sequence[Proposal]") -> None:
    """Raise for the first proposal that could not be kept, as far as its evidence is there yet."""
    with session.workspace().planning() as ledger:
        for one in proposals:
            with suppress(NotFoundError):  # it may be an event of the same turn
                _passage(ledger, one)


def propose(session: "Session", proposals: "Sequence[Proposal]") -> list[dict[str, Any]]:
    """Keep proposals with what the guards make of each; none becomes memory by itself.

    Raises ``NotFoundError`` for evidence that is not there, ``UsageError`` for words that do not
    stand in it.
    """
    agent = session.settings["agent"] or "agent"
    with session.workspace().writing() as ledger:
        found = [_draft(ledger, one, f"agent:{agent}") for one in proposals]
        with ledger.unit():
            for draft, passage in found:
                Proposals(ledger, Policy()).take([draft], {passage.observation: passage})
        return [_document(ledger, draft.id) for draft, _ in found]


def read_proposal(line: bytes) -> Proposal | None:
    """Read a line that holds a proposal; null for any other. Raises ``UsageError``."""
    try:
        fields = json.loads(line)
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
    raise UsageError(
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


def _document(ledger: "Ledger", candidate: str) -> dict[str, Any]:
    found = next(iter(ledger.memory.candidates("c.id = ?", (candidate,))))
    return {
        "ref": f"candidate:{found['id']}",
        **{name: found[name] for name in ("status", "reason", "operation", "text")},
    }
