"""Does everything that is kept still hold? Reads only, and says what to do about what does not.

Damage is what breaks a promise: bytes that changed, a quote that is not in its text, a row that
points nowhere. Notes are harmless: a file that no row names is what a crash between the two
leaves behind.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from muniment.store import manifest, migrations
from muniment.store.closure import BROKEN, EVIDENCE, WEAK
from muniment.store.database import database_errors, open_memory
from muniment.store.errors import DamageError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.sampling import sampler

_PAGE = 500
_STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 100_000
_RESTORE = "restore it from a backup"
_HARMLESS = "harmless: a write that was cut short left it"
_COUNTED = {
    "observation": "observations", "episode": "episodes", "candidate": "candidates",
    "record": "records", "entity": "entities",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that does not hold; ``damage`` false makes it a note."""

    code: str
    ref: str
    message: str
    hint: str
    damage: bool = True


@dataclass(slots=True)
class Report:
    """What a check looked at and what it found; ``complete`` is false when time ran out."""

    counts: dict[str, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    complete: bool = True

    @property
    def damaged(self) -> bool:
        """Tell whether anything found is more than a note."""
        return any(finding.damage for finding in self.findings)

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a count."""
        self.counts[name] = self.counts.get(name, 0) + amount

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "damaged": self.damaged,
            "complete": self.complete,
            "counts": self.counts,
            "findings": [
                {name: getattr(finding, name) for name in Finding.__dataclass_fields__}
                for finding in self.findings
            ],
        }


@dataclass(frozen=True, slots=True)
class _Check:
    """What every step is given."""

    ledger: Ledger
    report: Report
    chosen: Callable[[str], bool]
    deadline: float | None

    @property
    def late(self) -> bool:
        return self.deadline is not None and time.monotonic() > self.deadline

    def rows(self, statement: str, values: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        return iter(self.ledger.database.execute(statement, values))

    def damage(self, code: str, ref: str, message: str, hint: str = _RESTORE) -> None:
        self.report.findings.append(Finding(code, ref, message, hint))

    def note(self, code: str, ref: str, message: str, hint: str) -> None:
        self.report.findings.append(Finding(code, ref, message, hint, damage=False))


def verify(
    root: Root, scope: Scope, *, sample: str | None = None, time_limit: float | None = None
) -> Report:
    """Check a scope; ``sample`` (2/7, 5%, 500M) and ``time_limit`` (seconds) bound the reading.

    Raises ``NoStoreError`` or ``StateError`` where there is nothing to check.
    """
    manifest.require(root)
    sampler(sample, lambda: 0)  # what is no sample is told first
    try:
        ledger = Ledger.read(root, scope)
    except DamageError as error:
        return Report(findings=[_ledger_finding(error)])
    with closing(ledger):
        return verify_ledger(ledger, sample=sample, time_limit=time_limit)


def verify_ledger(
    ledger: Ledger, *, sample: str | None = None, time_limit: float | None = None
) -> Report:
    """Check a scope by its ledger, which the caller has open."""
    chosen = sampler(sample, lambda: _asset_bytes(ledger))
    deadline = None if time_limit is None else time.monotonic() + time_limit
    check = _Check(ledger, Report(), chosen, deadline)
    if deadline is not None:
        ledger.database.set_progress_handler(lambda: check.late, _STEPS_BETWEEN_LOOKS_AT_THE_CLOCK)
    for step in _STEPS:
        _take(step, check)
    return check.report


def _asset_bytes(ledger: Ledger) -> int:
    ((size,),) = ledger.database.execute("SELECT coalesce(sum(size), 0) FROM asset")
    return int(size)


def _take(step: Callable[[_Check], None], check: _Check) -> None:
    """Take one step; what is broken in the database itself is found, not raised."""
    try:
        with database_errors(check.ledger.paths.ledger):
            if check.late:
                check.report.complete = False
            else:
                step(check)
    except DamageError as error:
        finding = _ledger_finding(error)
        if finding not in check.report.findings:  # each step may meet the same rotten page
            check.report.findings.append(finding)
    except apsw.SQLError as error:  # a table or view that we count on is gone
        check.damage("schema_changed", "ledger", str(error))
    except apsw.InterruptError:
        check.report.complete = False


def _ledger_finding(error: DamageError) -> Finding:
    code = error.code if error.code != DamageError.code else "ledger_damaged"
    return Finding(code, "ledger", error.message, _RESTORE)


def _pages(check: _Check) -> None:
    for (found,) in check.rows("PRAGMA integrity_check(100)"):
        if found != "ok":
            check.damage("ledger_damaged", "ledger", str(found))
    for table, number, parent, _ in check.rows("PRAGMA foreign_key_check"):
        check.damage("reference_broken", f"{table}:{number}", f"its {parent} does not exist")


def _schema(check: _Check) -> None:
    """Compare tables, views, indexes and the append-only triggers with those of a new ledger."""
    with closing(open_memory()) as fresh:
        migrations.migrate(fresh)
        expected = _objects(fresh)
    found = _objects(check.ledger.database)
    for name in sorted(expected.keys() | found.keys()):
        if name not in found:
            check.damage("schema_changed", name, f"{name} is missing from the ledger")
        elif name not in expected:
            check.note("schema_extra", name, f"{name} is not ours", "find out who made it")
        elif found[name] != expected[name]:
            check.damage("schema_changed", name, f"{name} was changed")


def _objects(database: apsw.Connection) -> dict[str, str]:
    rows = database.execute(
        "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"
    )
    return {str(name): str(sql) for name, sql in rows}


def _bytes(check: _Check) -> None:
    """Hash the assets of the sample; the others at least have to be there in full size."""
    last = 0
    while True:
        page = list(
            check.rows(
                "SELECT seq, id, size, storage FROM asset WHERE seq > ? ORDER BY seq LIMIT ?",
                (last, _PAGE),
            )
        )
        for number, asset, size, storage in page:
            if check.late:
                check.report.complete = False
                return
            last = number
            _asset(check, number, asset, size, storage)
        if len(page) < _PAGE:
            return


def _asset(check: _Check, number: int, asset: str, size: int, storage: str) -> None:
    report, assets = check.report, check.ledger.assets
    report.count("assets")
    try:
        if check.chosen(asset):
            report.count("hashed")
            report.count("hashed_bytes", size)
            assets.check(number, asset, size, storage)
        elif storage == "file":
            assets.store.check(asset, size, whole=False)
    except DamageError as error:
        hint = "ingest the file again, or restore it from a backup"
        check.damage(error.code, asset, error.message, hint)


def _orphans(check: _Check) -> None:
    named = "SELECT 1 FROM asset WHERE id = ? AND storage = 'file'"
    for place, asset in check.ledger.assets.store.stored():
        if check.late:
            check.report.complete = False
            return
        if asset is None or not list(check.rows(named, (asset,))):
            check.note("orphan", _shown(Path(place)), "no asset has this file", _HARMLESS)


def _leftovers(check: _Check) -> None:
    for folder, _, names in os.walk(check.ledger.root.temporary):
        for name in names:
            path = _shown(Path(folder, name))
            check.note("leftover", path, "a temporary file", "the next ingest removes it")


def _forgetting(check: _Check) -> None:
    """Name a hard forget that was cut short, and a forget list that can't be read any more."""
    if list(check.rows("SELECT 1 FROM erasure LIMIT 1")):
        message = "a hard forget was cut short"
        check.note("forget_unfinished", "ledger", message, "run: muniment forget --resume")
    key = check.ledger.root.forget_key
    if not key.exists() and check.ledger.tombstones.any():
        check.damage("forget_key_missing", _shown(key), "the key of the forget list is missing")


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _quotes(check: _Check) -> None:
    """Compare every quote with its observation's text; what the gate rejected may differ."""
    for plane, statement in EVIDENCE.items():
        for ref, observation, text, quote, start, end in check.rows(statement):
            check.report.count("quotes")
            if text[start:end] != quote:
                message = f"its quote is not in observation:{observation} at {start}:{end}"
                check.damage("quote_mismatch", f"{plane}:{ref}", message)


def _closure(check: _Check) -> None:
    """Name the candidates, records and episodes that stand on nothing."""
    for code, (kind, message, statement) in BROKEN.items():
        for (ref,) in check.rows(statement):
            check.damage(code, f"{kind}:{ref}", message)
    for code, (kind, message, hint, statement) in WEAK.items():
        for (ref,) in check.rows(statement):
            check.note(code, f"{kind}:{ref}", message, hint)
    for table, name in _COUNTED.items():
        ((amount,),) = check.rows(f"SELECT count(*) FROM {table}")  # noqa: S608 (our own names)
        check.report.count(name, amount)


_STEPS = (_pages, _schema, _closure, _quotes, _forgetting, _orphans, _leftovers, _bytes)
