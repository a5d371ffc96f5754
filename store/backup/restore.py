"""Bring a snapshot back: check, stage beside, swap by a journal.

1. Everything is checked in the repository: paths, digests, schemas. Nothing is touched yet.
2. The files are written below ``tmp/`` of the root and checked again. A run that was killed here
   left the old store as it was; the next one goes on with what is whole.
3. The journal is written, and from then on the root refuses all other work. The old ``store/``
   moves to ``displaced-…/`` (a root of its own), the new one takes its place, then its manifest,
   and the journal goes. Each step can be taken again, so :func:`resume` ends what was begun.

The root lock is held alone all the while: no reader has a file open that moves away.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from muniment.store import files, locks, manifest
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Entry, Snapshot
from muniment.store.backup.sources import hash_chunks
from muniment.store.backup.verify import Check, Report, is_newer
from muniment.store.errors import DamageError, NoSpaceError, StateError, UsageError
from muniment.store.layout import Root
from muniment.store.manifest import RootState
from muniment.store.times import now

_STAGING = "restore-"
_VERSION = 1


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to restore: over a store that is there, without what is damaged, only to see."""

    replace: bool = False
    partial: bool = False
    dry_run: bool = False


def restore(
    root: Root, repository: Repository, snapshot: Snapshot, wishes: Wishes = Wishes(),  # noqa: B008
    wait_seconds: float = 0.0,
) -> dict[str, Any]:  # fmt: skip
    """Restore a snapshot into a root; return what was done.

    Raises ``DamageError`` when the snapshot does not hold what it should, ``StateError`` when
    the root or a schema refuses, ``LockedError`` while anybody else uses the root.
    """
    state = manifest.state_of(root)
    _require_target(root, state, wishes)
    left_out = _checked(repository, snapshot, partial=wishes.partial)
    entries = [entry for entry in snapshot.entries if entry.path not in left_out]
    if wishes.dry_run:
        return _answer(root, snapshot, entries, left_out, displaced=None, dry_run=True)
    files.make_directory(root.path)
    with _alone(root, wait_seconds):
        _require_target(root, manifest.state_of(root), wishes)
        staging = root.temporary / f"{_STAGING}{snapshot.id}"
        _stage(root, repository, entries, staging)
        displaced = _displaced(root)
        _write_journal(root, snapshot, staging, displaced)
        _swap(root, staging, displaced)
    return _answer(root, snapshot, entries, left_out, displaced=displaced, dry_run=False)


def resume(root: Root, wait_seconds: float = 0.0, *, dry_run: bool = False) -> dict[str, Any]:
    """End a restore whose swap was cut short; the repository is not needed for it."""
    said = pending(root)
    if said is None:
        raise StateError(
            "no restore is under way", code="nothing_to_resume", hint="name a repository: restore DEST"
        )
    displaced = None if said["displaced"] is None else root.path / said["displaced"]
    if not dry_run:
        with _alone(root, wait_seconds):
            if pending(root) == said:  # another process may have ended it meanwhile
                _swap(root, root.path / said["staging"], displaced)
    return {
        "snapshot": said["snapshot"], "root": _shown(root.path), "files": said["files"],
        "bytes": said["bytes"], "left_out": said["left_out"], "resumed": True,
        "displaced": None if displaced is None else _shown(displaced), "dry_run": dry_run,
    }  # fmt: skip


def pending(root: Root) -> dict[str, Any] | None:
    """Return the journal of a restore whose swap was begun; null where there is none."""
    try:
        said = json.loads(root.journal.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        said = None
    sound = isinstance(said, dict) and said.get("version") == _VERSION
    if not sound or not _names_inside(said):
        raise StateError(
            "the journal can't be read", code="journal_damaged",
            hint="nothing was removed: look at tmp/restore-… and displaced-… in the root",
            path=os.fsdecode(root.journal),
        )  # fmt: skip
    return dict(said)


def _names_inside(said: dict[str, Any]) -> bool:
    staging, displaced = said.get("staging"), said.get("displaced")
    return (
        isinstance(staging, str)
        and Path(staging).parts[:1] == ("tmp",)
        and Path(staging).name.startswith(_STAGING)
        and (displaced is None or (str(displaced).startswith("displaced-") and "/" not in displaced))
    )


def _require_target(root: Root, state: RootState, wishes: Wishes) -> None:
    """Refuse a root that is no place for a restore; a store that is there needs ``replace``."""
    if state is RootState.UNINITIALIZED or (state is RootState.CURRENT and not root.store.exists()):
        return
    lost_manifest = state is RootState.INVALID and root.store.is_dir()
    if state not in {RootState.CURRENT, RootState.LEGACY} and not lost_manifest:
        raise manifest.refusal(root, state)
    if not wishes.replace:
        raise StateError(
            "the root holds a store",
            code="not_empty",
            hint="restore into another --root, or give --replace to keep the old one aside",
            path=os.fsdecode(root.path),
        )


def _checked(repository: Repository, snapshot: Snapshot, *, partial: bool) -> dict[str, str]:
    """Check a whole snapshot; return the paths that can't be restored, each with the reason."""
    if newer := [entry for entry in snapshot.entries if is_newer(entry)]:
        raise StateError(
            f"the snapshot has schema {newer[0].schema}, which this version does not know",
            code="future",
            hint="upgrade muniment",
        )
    check = Check(repository, lambda _: True)
    check.snapshot(snapshot)
    if check.report.broken:
        _refuse_damage(snapshot, check.report, partial=partial)
    return {finding["ref"]: finding["code"] for finding in check.report.findings}


def _refuse_damage(snapshot: Snapshot, report: Report, *, partial: bool) -> None:
    """Refuse damage, save that assets may be left out when that is asked for."""
    vital = [e for e in snapshot.entries if e.kind != "asset" and e.path in report.broken]
    if partial and not vital:
        return
    worst = next(f for f in report.findings if f["damage"] and (not vital or f["ref"] == vital[0].path))
    raise DamageError(
        f"snapshot {snapshot.id} is damaged: {worst['ref']}: {worst['message']}",
        code=worst["code"],
        hint=worst["hint"],
    )


@contextmanager
def _alone(root: Root, wait_seconds: float) -> Iterator[None]:
    with locks.hold(root.lock, wait_seconds=wait_seconds):
        yield


def _stage(root: Root, repository: Repository, entries: list[Entry], staging: Path) -> None:
    """Write every file below the staging folder, taking what an earlier run left whole."""
    files.make_directory(staging)
    for left in root.temporary.glob(f"{_STAGING}*"):
        if left != staging:
            files.remove_tree(left)
    wanted = [entry for entry in entries if not _is_whole(staging / entry.path, entry)]
    needed = sum(entry.size for entry in wanted)
    if shutil.disk_usage(staging).free < needed:
        raise NoSpaceError(
            f"{needed} bytes are needed",
            hint="free some space and run the same command again",
            path=os.fsdecode(root.path),
        )
    for entry in wanted:
        _write(repository, entry, staging / entry.path)


def _is_whole(path: Path, entry: Entry) -> bool:
    try:
        return path.stat().st_size == entry.size and hash_chunks(path) == entry.sha256
    except OSError:
        return False


def _write(repository: Repository, entry: Entry, target: Path) -> None:
    files.make_directory(target.parent)
    whole = sha256()

    def content() -> Iterator[bytes]:
        for part in entry.parts:
            for chunk in repository.chunks(part.sha256):
                whole.update(chunk)
                yield chunk
        if whole.hexdigest() != entry.sha256:
            raise DamageError(
                f"{entry.path} does not match its hash", code="object_damaged",
                hint="check the repository with: muniment backup verify DEST",
            )  # fmt: skip

    files.write_atomic(target, content())


def _displaced(root: Root) -> Path | None:
    """Return a free name for the store that is there; null where there is none."""
    if not root.store.exists():
        return None
    stamp = now().replace("-", "").replace(":", "")
    return root.path / f"displaced-{stamp}"


def _write_journal(root: Root, snapshot: Snapshot, staging: Path, displaced: Path | None) -> None:
    held = [path for path in staging.rglob("*") if path.is_file()]
    said = {
        "version": _VERSION,
        "snapshot": snapshot.id,
        "staging": staging.relative_to(root.path).as_posix(),
        "displaced": None if displaced is None else displaced.name,
        "files": len(held),
        "bytes": sum(path.stat().st_size for path in held),
        "left_out": [],
        "begun_at": now(),
    }
    files.write_atomic(root.journal, [json.dumps(said).encode()], folder=root.temporary)


def _swap(root: Root, staging: Path, displaced: Path | None) -> None:
    """Put the staged store in place; every step is skipped where it was taken before."""
    fresh = staging / "store"
    if fresh.exists() and displaced is not None:
        _set_aside(root, displaced)
    if fresh.exists():
        files.move(fresh, root.store)
    staged = staging / root.manifest.name
    if staged.exists():
        files.publish(staged, root.manifest)
    files.remove(root.journal)
    files.sync_directory(root.path)
    files.remove_tree(staging)


def _set_aside(root: Root, displaced: Path) -> None:
    """Move the old store to a root of its own."""
    files.make_directory(displaced)
    aside = displaced / root.manifest.name
    if root.manifest.exists() and not aside.exists():
        files.write_atomic(aside, [root.manifest.read_bytes()])
    if root.store.exists():
        files.move(root.store, displaced / root.store.name)


def _answer(  # noqa: PLR0913 (an answer has this many sides)
    root: Root, snapshot: Snapshot, entries: Iterable[Entry], left_out: dict[str, str], *,
    displaced: Path | None, dry_run: bool,
) -> dict[str, Any]:  # fmt: skip
    held = list(entries)
    return {
        "snapshot": snapshot.id,
        "root": _shown(root.path),
        "files": len(held),
        "bytes": sum(entry.size for entry in held),
        "left_out": [{"path": path, "reason": why} for path, why in sorted(left_out.items())],
        "resumed": False,
        "displaced": None if displaced is None else _shown(displaced),
        "dry_run": dry_run,
    }


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")
