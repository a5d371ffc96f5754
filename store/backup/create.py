"""Make a snapshot: pin every database at one moment, copy what is new, check, publish."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from muniment.store import files, manifest
from muniment.store.asset_places import assets_of
from muniment.store.backup.parts import PART_BYTES
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Entry, Part, Snapshot, store_of
from muniment.store.backup.sources import (
    Pinned,
    Source,
    Stored,
    copy_database,
    expendable,
    pinned,
    read_chunks,
    reason_of,
    rows_by_table,
    stored_assets,
    tree,
)
from muniment.store.backup.verify import Check, stored_bytes
from muniment.store.database import database_errors
from muniment.store.errors import DamageError, NoSpaceError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.migrating import LEDGER, looked_at
from muniment.store.migrations import version_of
from muniment.store.ports import AssetStore
from muniment.store.sampling import sampler
from muniment.store.scratch import aside
from muniment.store.times import now


@dataclass(slots=True)
class _Job:
    """One backup under way."""

    root: Root
    repository: Repository
    chosen: Callable[[str], bool]
    each: Callable[[], None]
    entries: list[Entry] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    new_bytes: int = 0
    store: str = ""
    opened: dict[Path, AssetStore] = field(default_factory=dict)

    def assets(self, folder: Path) -> AssetStore:
        """Return the asset store of the scope in a folder."""
        if folder not in self.opened:
            self.opened[folder] = assets_of(self.root, Scope.at(folder))
        return self.opened[folder]

    def relative(self, path: Path) -> str:
        return path.relative_to(self.root.path).as_posix()

    def put(self, part: Part, chunks: Callable[[], Iterator[bytes]]) -> None:
        """Keep an object unless it is there; one of the sample is read, and healed if it rotted."""
        self.each()
        if part.sha256 in self.written:
            return
        if self.repository.has(part.sha256, part.size):
            try:
                self.repository.check(
                    part.sha256, part.size, whole=self.chosen(f"sha256:{part.sha256}")
                )
            except DamageError:
                pass
            else:
                return
        self.repository.put(part.sha256, chunks())
        self.written.add(part.sha256)
        self.new_bytes += part.size


def create(  # noqa: PLR0913 (all but two are told apart by name)
    root: Root, repository: Repository, *, wait_seconds: float = 0.0, sample: str | None = None,
    forgotten: tuple[str, ...] = (), instead_of: Snapshot | None = None,
    each: Callable[[], None] = lambda: None,
) -> dict[str, Any]:  # fmt: skip
    """Back the whole store up; return what was done.

    ``instead_of`` gives its id and time to the new snapshot and is replaced by it. Objects
    written now are read back always; ``sample`` bounds the reading of those that were there
    before. What the store itself has lost or damaged is left out, named, and makes the snapshot
    incomplete. ``each`` is called after every object; what it raises ends the backup without a
    snapshot, and what was copied is there for the next one. The caller holds the repository alone.
    """
    job = _Job(root, repository, sampler(sample, lambda: stored_bytes(repository)), each)
    with manifest.shared(root, wait_seconds):
        created_at = now() if instead_of is None else instead_of.created_at
        with _scratch(job) as folder, pinned(root) as state:
            _require_room(folder, state)
            for path in state.plain:
                _plain(job, path)
            for source in state.databases:
                _database(job, source, folder, state.damaged)
            assets = list(state.assets())
            job.damaged |= {job.relative(path): why for path, why in state.damaged.items()}
        # Nobody can take assets away while the root is held; no database is kept open for them.
        for stored in assets:
            _asset(job, stored)
    for broken in _verify(job, _snapshot(job, created_at, forgotten, instead_of)):
        job.damaged[broken] = reason_of(Path(broken))
    job.entries = [entry for entry in job.entries if entry.path not in job.damaged]
    job.missing += [{"path": path, "reason": why} for path, why in sorted(job.damaged.items())]
    snapshot = _snapshot(job, created_at, forgotten, instead_of)
    repository.write(snapshot, over=instead_of is not None)
    return _answer(snapshot, len(job.written), job.new_bytes, dry_run=False)


def plan(root: Root, repository: Repository | None, *, wait_seconds: float = 0.0) -> dict[str, Any]:
    """Say what a backup would hold and copy, writing nothing; databases count as new."""
    with manifest.shared(root, wait_seconds):
        databases, plain = tree(root)
        small = sum(path.stat().st_size for path in [root.manifest, *plain])
        sizes: dict[str, int] = {}
        for ledger in (path for path in databases if path.name == LEDGER):
            with looked_at(ledger) as database:
                found = stored_assets(ledger.parent, database)
                sizes |= {asset.sha256: asset.size for asset in found}
        always = small + sum(path.stat().st_size for path in databases)
    new = [
        size for sha256, size in sizes.items()
        if repository is None or not repository.has(sha256, size)
    ]  # fmt: skip
    return {
        "snapshot": None,
        "files": 1 + len(plain) + len(databases) + len(sizes),
        "bytes": always + sum(sizes.values()),
        "new_objects": len(databases) + len(new),
        "new_bytes": always + sum(new),
        "dry_run": True,
    }


def require_apart(root: Path, repository: Path | str) -> None:
    """Refuse a repository inside the root, and a root inside the repository."""
    if isinstance(repository, str):
        return  # an object store is no folder
    ours, theirs = root.resolve(), repository.resolve()
    if ours == theirs or ours in theirs.parents or theirs in ours.parents:
        raise UsageError(
            "a backup inside the root goes with the root",
            code="bad_destination",
            hint="choose a place outside of --root, on another disk",
            path=os.fsdecode(repository),
        )


def _answer(snapshot: Snapshot, objects: int, size: int, *, dry_run: bool) -> dict[str, Any]:
    return {
        "snapshot": snapshot.id,
        **{name: value for name, value in snapshot.summary().items() if name != "id"},
        "missing": list(snapshot.missing),
        "new_objects": objects,
        "new_bytes": size,
        "verified": True,
        "dry_run": dry_run,
    }


def _snapshot(
    job: _Job, created_at: str, forgotten: tuple[str, ...], instead_of: Snapshot | None
) -> Snapshot:
    entries = tuple(sorted(job.entries, key=lambda entry: entry.path))
    return Snapshot(
        id=job.repository.next_id(created_at) if instead_of is None else instead_of.id,
        created_at=created_at, store=job.store,
        entries=entries, missing=tuple(job.missing), forgotten=forgotten,
    )  # fmt: skip


def _plain(job: _Job, path: Path) -> None:
    kind = "manifest" if path == job.root.manifest else "file"
    try:
        data = b"".join(read_chunks(path))
    except OSError:
        if kind == "manifest":
            raise
        job.missing.append({"path": job.relative(path), "reason": "unreadable"})
        return
    if kind == "manifest":
        job.store = store_of(data)
    part = Part(sha256(data).hexdigest(), len(data))
    job.put(part, lambda: iter([data]))
    job.entries.append(Entry(job.relative(path), kind, part.size, part.sha256, (part,)))


def _database(job: _Job, source: Source, folder: Path, damaged: dict[Path, str]) -> None:
    """Copy a database, cut the copy into parts, and keep those that are new."""
    with files.temporary_file(folder) as (copy, _):
        with expendable(source.path, damaged):
            with database_errors(source.path):
                schema, rows = version_of(source.database), rows_by_table(source.database)
            copy_database(source, copy)
        if source.path in damaged:
            files.remove(copy)
            return
        whole, parts = sha256(), []
        for chunk in read_chunks(copy, PART_BYTES):
            whole.update(chunk)
            parts.append(Part(sha256(chunk).hexdigest(), len(chunk)))
            job.put(parts[-1], lambda chunk=chunk: iter([chunk]))  # type: ignore[misc]
        size = copy.stat().st_size
        files.remove(copy)
    job.entries.append(
        Entry(
            job.relative(source.path), "database", size, whole.hexdigest(), tuple(parts),
            schema, rows,
        )
    )  # fmt: skip


def _asset(job: _Job, stored: Stored) -> None:
    part, path = Part(stored.sha256, stored.size), job.relative(stored.path)
    try:
        store = job.assets(stored.folder)
        job.put(part, lambda: store.chunks(f"sha256:{stored.sha256}"))
    except (DamageError, OSError) as error:
        lost = isinstance(error, FileNotFoundError)
        reason = "asset_missing" if lost else getattr(error, "code", "asset_unreadable")
        job.missing.append({"path": path, "reason": reason})
    else:
        job.entries.append(Entry(path, "asset", stored.size, stored.sha256, (part,)))


def _verify(job: _Job, snapshot: Snapshot) -> set[str]:
    """Open every database as it lies there now, and return those that are damaged in the store.

    Objects were read back when they were written.
    """
    databases = {f"sha256:{entry.sha256}" for entry in snapshot.entries if entry.rows is not None}
    check = Check(job.repository, databases.__contains__)
    check.snapshot(snapshot)
    for finding in check.report.findings:
        if finding["damage"] and finding["code"] != "database_damaged":
            raise DamageError(
                f"the backup did not pass its check: {finding['ref']}: {finding['message']}",
                code="backup_damaged",
                hint="check the disk of the repository, and run the same command again",
                path=job.repository.place.name,
            )
    return check.report.broken


def _pages(source: Source) -> int:
    with database_errors(source.path):
        return int(source.database.pragma("page_count")) * int(source.database.pragma("page_size"))


def _require_room(folder: Path, state: Pinned) -> None:
    needed = max((_pages(source) for source in state.databases), default=0)
    if shutil.disk_usage(folder).free < needed:
        raise NoSpaceError(
            f"{needed} bytes are needed for a copy of the database",
            hint="free some space and run the same command again",
            path=os.fsdecode(folder),
        )


@contextmanager
def _scratch(job: _Job) -> Iterator[Path]:
    """Yield a folder for plain copies: the repository's own, or the root's if that is encrypted."""
    own = job.repository.place.temporary
    if own is not None and not job.repository.encrypted:
        yield own
        return
    with aside(job.root.temporary, "backup") as folder:
        yield folder
