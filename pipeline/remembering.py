"""Keep an explicit statement: its bytes, its observation, and the record that quotes it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.keys import USER
from muniment.pipeline.policy import Policy
from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.rules import RulesProposer
from muniment.pipeline.recall.request import instant
from muniment.pipeline.stages.propose import Proposals
from muniment.pipeline.statements import (
    add_statement,
    said_anew,
    sayings,
    statement_observation,
    statement_passage,
)
from muniment.store.database import number
from muniment.store.errors import UsageError
from muniment.store.ids import record_ref, storable
from muniment.store.ledger import Ledger
from muniment.store.records import Moment

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

MOST_CHARACTERS = 16_000


@dataclass(frozen=True, slots=True)
class Statement:
    """What the user asked to keep, with the fact in it named where they named it."""

    text: str
    key: str | None = None
    value: str | None = None
    valid_at: str | None = None


def keep(session: "Session", statement: Statement, *, dry_run: bool) -> dict[str, Any]:
    """Keep a statement; one that is kept already changes nothing and says so."""
    text = storable(statement.text).strip()
    if not text or len(text) > MOST_CHARACTERS:
        raise UsageError(
            "nothing to remember" if not text else "too long to be one statement",
            hint=f"give 1 to {MOST_CHARACTERS} characters, or ingest a file",
        )
    workspace = session.workspace()
    if dry_run:
        with workspace.planning() as ledger:
            before = sayings(ledger, text) or [statement_observation(text).id]
            return _document(ledger, before, "planned")
    with workspace.writing() as ledger:
        before = sayings(ledger, text)
        if before:
            known = _document(ledger, before, "known")
            if known["records"] or _waits(ledger, before):
                return known
        with ledger.unit():
            return _said(ledger, text, before, statement)


def _said(ledger: Ledger, text: str, before: list[str], statement: Statement) -> dict[str, Any]:
    """Keep a statement that no claim in force rests on, though it may have been made before."""
    from muniment.pipeline.forgetting.hiding import bring_back

    observation = said_anew(ledger, text)
    if before:
        bring_back(ledger, observation.asset)
        back = _document(ledger, before, "created")
        if back["records"]:
            return back
    add_statement(ledger, observation, "remember")
    passage = statement_passage(observation)
    proposals = Proposals(ledger, Policy(), allow=True)
    proposals.take(_drafts(passage, statement), {observation.id: passage})
    Relations(ledger).read()
    return _document(ledger, [observation.id], "created")


def _document(ledger: Ledger, observations: list[str], status: str) -> dict[str, Any]:
    """Tell which records in force quote any of some statements; the last of these is named."""
    records = ledger.memory.records(
        "r.status = 'active' AND r.version_seq IN (SELECT version FROM record_evidence e "
        "JOIN observation o ON o.seq = e.observation "
        "WHERE o.id IN (SELECT value FROM json_each(?)))",
        (json.dumps(observations),),
    )
    return {
        "status": status,
        "observation": f"observation:{observations[-1]}",
        "records": [record_ref(found) for found in records],
    }


def _waits(ledger: Ledger, observations: list[str]) -> bool:
    """Tell whether a claim that rests on some statements waits for its approval."""
    return bool(number(
        ledger.database,
        "SELECT EXISTS (SELECT 1 FROM candidate_now c JOIN candidate_evidence e "
        "ON e.candidate = c.seq JOIN observation_kept o ON o.seq = e.observation "
        "WHERE c.status = 'pending' AND o.id IN (SELECT value FROM json_each(?)))",
        (json.dumps(observations),),
    ))  # fmt: skip


def _drafts(passage: Passage, statement: Statement) -> Iterator[CandidateDraft]:
    """Yield what the rules see in it; whatever they don't see is kept as it was said."""
    text = passage.text
    found = [] if statement.key else list(RulesProposer().propose([passage]))
    whole = CandidateDraft(
        type="semantic",
        kind="fact",
        text=text,
        evidence=Quote(passage.observation, text, 0, len(text)),
        basis="user_statement",
        proposer="remember",
        rule="remember",
        subject=USER if statement.key else None,
        key=statement.key and storable(statement.key),
        value=statement.value and storable(statement.value),
        valid_at=passage.occurred,
        salience=0.8,
        confidence=1.0,
        instructed=True,
    )
    told = any(draft.kind != "relation" for draft in found)
    for draft in found if told else [*found, whole]:
        since = _since(statement.valid_at) or draft.valid_at
        yield replace(draft, instructed=True, proposer="remember", valid_at=since)


def _since(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    moment = Moment(utc=instant(text), zone_source="utc", precision="microsecond")
    return moment.model_dump()
