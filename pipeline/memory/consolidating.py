"""Consolidation: what time has done to memory, planned first, then done and recorded as a batch."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.memory.decay import is_faint
from muniment.pipeline.memory.review import claim_of
from muniment.store.access import Use
from muniment.store.ids import made
from muniment.store.ledger import Ledger
from muniment.store.times import sort_key

ACTOR = "consolidation"
_BY_WORD = frozenset({"rules", "remember", "correct"})
_NOT_SAID = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One change: a record that time has ended, that has faded, or that says what another says."""

    action: Literal["supersede", "archive", "merge"]
    record: str
    version: int
    into: str | None = None

    @property
    def ref(self) -> str:
        """Return the reference of the version."""
        return f"record:{self.record}@{self.version}"


def plan(ledger: Ledger, uses: Mapping[str, Use], now: str) -> list[Step]:
    """Return what consolidation would change now, in order; nothing is written."""
    active = ledger.memory.records("r.status = 'active' ORDER BY r.version_seq", evidence=False)
    rows = list(active)
    merged = list(_merges(rows))
    gone = {step.record for step in merged}
    steps = [*_ended(rows, now), *_faint(ledger, rows, uses, now), *merged]
    return [step for step in steps if step.action == "merge" or step.record not in gone]


def consolidate(ledger: Ledger, uses: Mapping[str, Use], now: str) -> tuple[list[Step], int]:
    """Do what is planned, after what an interrupted run had left; return both.

    Each batch is begun with its steps and ended with those that changed something.
    """
    resumed = 0
    for left in ledger.audit.unfinished():
        resumed += len(_finish(ledger, left["id"], [Step(*step) for step in left["inputs"]]))
    steps = plan(ledger, uses, now)
    if not steps:
        return [], resumed
    batch = made("con", now, [_fields(step) for step in steps])
    with ledger.unit():
        ledger.audit.begin(batch, [_fields(step) for step in steps])
    return _finish(ledger, batch, steps), resumed


def _finish(ledger: Ledger, batch: str, steps: Iterable[Step]) -> list[Step]:
    done = []
    for step in steps:
        with ledger.unit():
            if _take(ledger, step):
                done.append(step)
    with ledger.unit():
        ledger.audit.end(batch, "done", [_fields(step) for step in done])
    return done


def _take(ledger: Ledger, step: Step) -> bool:
    """Take one step unless the record has changed since it was planned."""
    claims = Claims(ledger, ACTOR)
    row = next(
        ledger.memory.records("r.id = ? AND r.version = ?", (step.record, step.version)), None
    )
    if row is None or row["status"] != "active" or row["pinned"]:
        return False
    if step.action == "supersede":
        return claims.settle(row["subject"], row["key"]) > 0
    if step.action == "archive":
        return claims.set_status(row, "archived", "faded below the threshold")
    return merge(ledger, claims, row, step.into or "")


def merge(ledger: Ledger, claims: Claims, row: dict[str, Any], into: str) -> bool:
    """Add a record's evidence to the one that says the same, and hide it."""
    kept = claims.current(into)
    number = next(ledger.memory.candidates("c.id = ?", (row["candidate"],)))
    claim = claim_of({**number, "evidence": row["evidence"]})
    ledger.memory.support(kept["version_seq"], number["seq"], claim)
    ledger.memory.link(kept["id"], row["id"], "related", actor=ACTOR, reason="says the same")
    return claims.set_status(row, "archived", f"says the same as {kept['id']}")


def _ended(rows: Sequence[dict[str, Any]], now: str) -> Iterator[Step]:
    """Yield what another claim has ended while nobody looked."""
    starts = {(row["subject"], row["key"], row["valid_sort"]) for row in rows}
    for row in rows:
        end = sort_key(row["invalid_at"])
        followed = (row["subject"], row["key"], end) in starts
        if row["key"] is not None and end is not None and end <= now and followed:
            yield Step("supersede", row["id"], row["version"])


def _faint(
    ledger: Ledger, rows: Iterable[dict[str, Any]], uses: Mapping[str, Use], now: str
) -> Iterator[Step]:
    """Yield what became memory by itself and has faded; what somebody said or approved stays."""
    for row in rows:
        use = uses.get(row["id"], Use(0, row["recorded_at"]))
        met = row["recorded_at"]
        if not is_faint(row, met, now, use.times, use.last):
            continue
        met = max([met, *(one["at"] for one in ledger.memory.supporters(row["version_seq"]))])
        if is_faint(row, met, now, use.times, use.last) and not is_explicit(ledger, row):
            yield Step("archive", row["id"], row["version"])


def is_explicit(ledger: Ledger, row: dict[str, Any]) -> bool:
    """Tell whether a record rests on the user's own word or approval."""
    supporters = [one["candidate"] for one in ledger.memory.supporters(row["version_seq"])]
    for identity in (row["candidate"], *supporters):
        for candidate in ledger.memory.candidates("c.id = ?", (identity,)):
            said = candidate["basis"] == "user_statement" and candidate["proposer"] in _BY_WORD
            if said or candidate["actor"] == "user":
                return True
    return False


def _merges(rows: Iterable[dict[str, Any]]) -> Iterator[Step]:
    """Yield those claims without a key that say what an older one says, but for punctuation."""
    first: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        if row["key"] is not None or row["pinned"]:
            continue
        words = _NOT_SAID.sub(" ", unicodedata.normalize("NFKC", row["text"]).casefold()).strip()
        due = sort_key(row["due_at"])
        same = (row["kind"], row["subject"], words, row["value"], due, _day(row))
        kept = first.setdefault(same, row)
        if kept is not row and words:
            yield Step("merge", row["id"], row["version"], kept["id"])


def _day(row: dict[str, Any]) -> str | None:
    """Return the day of what happened; what is so has none."""
    return (row["valid_sort"] or "")[:10] if row["type"] == "episodic" else None


def _fields(step: Step) -> list[Any]:
    return [step.action, step.record, step.version, step.into]
