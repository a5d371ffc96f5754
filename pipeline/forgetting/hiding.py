"""Soft forget and its undoing: hide, draft the episodes around it anew, settle the claims."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muniment.pipeline.forgetting.choosing import choose
from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.stages.group import Groups
from muniment.pipeline.stages.run import Tally, new_run_id
from muniment.store.database import number
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.forgetting.hide import (
    Change,
    blank_episodes,
    hide,
    lift,
    liftable,
    planned,
)
from muniment.store.forgetting.selection import Selection, Wanted
from muniment.store.forgetting.stated import add_hidden_statements, add_statements
from muniment.store.ids import storable

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger

_TOMBSTONE = "tombstone:"
ACTOR = "user"


def forget(
    session: "Session", named: Sequence[str], wanted: Wanted, *, dry_run: bool
) -> dict[str, Any]:
    """Hide what is named; what is hidden already changes nothing and says so."""
    with session.workspace().changing(dry_run=dry_run) as ledger:
        selection = choose(ledger, named, wanted)
        if selection.personas:
            raise UsageError(
                "a persona version can only be erased",
                hint="use --hard, or go back to another one with: muniment persona rollback",
            )
        add_statements(ledger.database, selection)
        if dry_run:
            return _document(planned(ledger, selection), "planned")
        with ledger.unit():
            change = hide(ledger, selection, actor=ACTOR)
            _follow(ledger, change)
        return _document(change, "forgotten")


def unforget(
    session: "Session", named: Sequence[str], wanted: Wanted, *, dry_run: bool
) -> dict[str, Any]:
    """Bring back what was hidden; what is shown already changes nothing and says so."""
    with session.workspace().changing(dry_run=dry_run) as ledger:
        tombstone, selection = _asked_back(ledger, named, wanted)
        add_hidden_statements(ledger.database, selection)
        if dry_run:
            return _document(liftable(ledger, selection, tombstone), "planned")
        with ledger.unit():
            change = lift(ledger, selection, tombstone=tombstone, actor=ACTOR)
            _follow(ledger, change)
            _settle(ledger, change)
        return _document(change, "restored")


def bring_back(ledger: "Ledger", asset: str) -> None:
    """Bring one asset back, and what was hidden of it, inside the caller's unit."""
    found = ledger.assets.number(asset)
    change = Change() if found is None else lift(ledger, Selection(assets={found}), actor=ACTOR)
    if change.members:
        _follow(ledger, change)
        _settle(ledger, change)


def _asked_back(
    ledger: "Ledger", named: Sequence[str], wanted: Wanted
) -> tuple[str | None, Selection]:
    tombstones = [
        storable(text.removeprefix(_TOMBSTONE)) for text in named if text.startswith(_TOMBSTONE)
    ]
    if not tombstones:
        return None, choose(ledger, named, wanted)
    if len(named) > 1 or wanted:
        raise UsageError("a tombstone stands alone", hint="name one tombstone and nothing else")
    statement = "SELECT count(*) FROM tombstone WHERE mode = 'soft' AND id = ?"
    if not number(ledger.database, statement, (tombstones[0],)):
        raise NotFoundError(
            f"no tombstone {tombstones[0]} that hides anything",
            hint="see: muniment list tombstones",
        )
    return tombstones[0], Selection()


def _follow(ledger: "Ledger", change: Change) -> None:
    """Let the episodes around what was hidden or shown tell of what is shown now."""
    beside = ledger.grouping.sharing_episodes(change.touched)
    Groups(ledger, Tally(new_run_id())).regroup(beside | change.touched)
    blank_episodes(ledger, change.touched)


def _settle(ledger: "Ledger", change: Change) -> None:
    """Bring what came back in line with what was learnt meanwhile."""
    claims = Claims(ledger, ACTOR)
    for record, version in change.records:
        row = claims.current(record, version)
        claims.settle(row["subject"], row["key"])


def _document(change: Change, verb: str) -> dict[str, Any]:
    return {
        "status": verb if change.members else "unchanged",
        "mode": "soft",
        "tombstone": change.tombstone,
        **{name: change.counts.get(name, 0)
           for name in ("assets", "observations", "candidates", "records", "fragments")},
        "claims_changed": len(change.records) + change.candidates,
        "dry_run": verb == "planned",
    }  # fmt: skip
