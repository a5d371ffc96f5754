"""Does a backup hold what it promises? Every object is hashed and every database opened."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from muniment.store import migrations
from muniment.store.backup.parts import opened_over_parts
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Entry, Part, Snapshot
from muniment.store.backup.sources import rows_by_table
from muniment.store.errors import DamageError, StateError
from muniment.store.migrating import steps_of
from muniment.store.sampling import sampler

_NEWER = "upgrade muniment before you restore it"
_LOST = "restore another snapshot, or the rest of this one with --partial"
_BROKEN = "restore another snapshot"


@dataclass(slots=True)
class Report:
    """What was looked at and what does not hold; ``damage`` false in a finding makes it a note.

    ``complete`` is false when the check was stopped.
    """

    counts: dict[str, int] = field(default_factory=dict)
    findings: list[dict[str, Any]] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    complete: bool = True

    @property
    def damaged(self) -> bool:
        """Tell whether anything found is more than a note."""
        return any(finding["damage"] for finding in self.findings)

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a count."""
        self.counts[name] = self.counts.get(name, 0) + amount

    def find(
        self, code: str, snapshot: str | None, ref: str, message: str, hint: str,
        *, damage: bool = True,
    ) -> None:  # fmt: skip
        """Add a finding."""
        self.findings.append(
            {"code": code, "snapshot": snapshot, "ref": ref, "message": message, "hint": hint,
             "damage": damage}
        )  # fmt: skip

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values."""
        return {
            "damaged": self.damaged, "complete": self.complete, "counts": self.counts,
            "findings": self.findings,
        }  # fmt: skip


@dataclass(slots=True)
class Check:
    """One check over a repository; what several snapshots share is read once.

    ``chosen`` tells by asset id which objects are read whole; the others must have their size.
    """

    repository: Repository
    chosen: Callable[[str], bool]
    each: Callable[[], bool] = lambda: True
    report: Report = field(default_factory=Report)
    _parts: dict[str, DamageError | None] = field(default_factory=dict)
    _databases: set[str] = field(default_factory=set)

    def snapshot(self, snapshot: Snapshot) -> None:
        """Check everything that a snapshot names."""
        self.report.count("snapshots")
        for lost in snapshot.missing:
            self.report.find(
                "missing_at_backup", snapshot.id, lost["path"], lost["reason"],
                "it was lost in the store before; an older snapshot may hold it", damage=False,
            )  # fmt: skip
        for entry in snapshot.entries:
            if not self.each():
                self.report.complete = False
                return
            self.report.count("files")
            faults = [fault for part in entry.parts if (fault := self._part(part)) is not None]
            for fault in faults[:1]:
                self.report.broken.add(entry.path)
                hint = _BROKEN if entry.kind == "database" else _LOST
                self.report.find(fault.code, snapshot.id, entry.path, fault.message, hint)
            if entry.kind == "database" and not faults:
                self._database(snapshot, entry)

    def strays(self, known: Iterable[Part]) -> None:
        """Note the objects that no snapshot needs."""
        names = {self.repository.file_name(part.sha256) for part in known}
        strays = sum(
            1 for held in self.repository.stored() if held.name.rpartition("/")[2] not in names
        )
        if strays:
            self.report.find(
                "unreferenced", None, "objects", f"{strays} objects belong to no snapshot",
                "harmless: muniment backup prune removes them", damage=False,
            )  # fmt: skip

    def _part(self, part: Part) -> DamageError | None:
        if part.sha256 not in self._parts:
            whole = self.chosen(f"sha256:{part.sha256}")
            self.report.count("objects")
            if whole:
                self.report.count("hashed")
                self.report.count("hashed_bytes", part.size)
            try:
                self.repository.check(part.sha256, part.size, whole=whole)
                self._parts[part.sha256] = None
            except DamageError as error:
                self._parts[part.sha256] = error
        return self._parts[part.sha256]

    def _database(self, snapshot: Snapshot, entry: Entry) -> None:
        if entry.sha256 in self._databases or not self.chosen(f"sha256:{entry.sha256}"):
            return
        self._databases.add(entry.sha256)
        self.report.count("databases")
        try:
            faults = _faults(self.repository, entry)
        except DamageError as error:
            faults = [error.message]
        for fault in faults:
            self.report.broken.add(entry.path)
            self.report.find("database_damaged", snapshot.id, entry.path, fault, _BROKEN)
        if is_newer(entry):
            self.report.find(
                "newer_schema", snapshot.id, entry.path, f"it has schema {entry.schema}",
                _NEWER, damage=False,
            )  # fmt: skip


def stored_bytes(repository: Repository) -> int:
    """Return the bytes of all objects together."""
    return sum(held.size for held in repository.stored())


def is_newer(entry: Entry) -> bool:
    """Tell whether a database has a schema that this version does not know."""
    known = len(steps_of(PurePosixPath(entry.path).name))
    return bool(known) and (entry.schema or 0) > known


def _faults(repository: Repository, entry: Entry) -> list[str]:
    """Open a database and return what is wrong with it."""
    with opened_over_parts(repository, entry) as database:
        said = [str(row[0]) for row in database.execute("PRAGMA integrity_check(10)")]
        if said != ["ok"]:
            return said
        if list(database.execute("PRAGMA foreign_key_check")):
            return ["a row in it points nowhere"]
        if migrations.version_of(database) != entry.schema:
            return ["its schema is not the one of the manifest"]
        if rows_by_table(database) != entry.rows:
            return ["its tables do not hold the rows of the manifest"]
    return []


def verify(
    repository: Repository, *, snapshot: str | None = None, sample: str | None = None,
    each: Callable[[], bool] = lambda: True,
) -> Report:  # fmt: skip
    """Check one snapshot or all of them; ``sample`` (``2/7``, ``5%``, ``500M``) bounds the reading.

    ``each`` is asked before every file of a snapshot whether to go on.
    """
    check = Check(repository, sampler(sample, lambda: stored_bytes(repository)), each)
    known: list[Part] = []
    readable = True
    for identity in repository.ids() if snapshot is None else [snapshot]:
        if not check.report.complete:
            break
        try:
            found = repository.read(identity)
        except (DamageError, StateError) as error:
            readable = False
            check.report.find(error.code, identity, identity, error.message, error.hint)
            continue
        check.snapshot(found)
        known += found.objects()
    if snapshot is None and readable and check.report.complete:
        check.strays(known)
    return check.report
