"""Bring a snapshot back: check, stage beside, swap by a journal.

1. Everything is checked in the repository: paths, digests, schemas. Nothing is touched yet.
2. The files are written below ``tmp/`` of the root and checked again. A run that was killed here
   left the old store as it was; the next one goes on with what is whole. What was forgotten since
   is taken out of them there, so that it never stands in the root's own store.
3. The journal is written, and from then on the root refuses all other work. The old ``store/``
   moves to ``displaced-…/`` (a root of its own), the new one takes its place, then its manifest,
   and the journal goes. Each step can be taken again, so
   :func:`~muniment.store.backup.swap.resume` ends what was begun.

The root lock is held alone all the while: no reader has a file open that moves away.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from muniment.store import files, locks, manifest
from muniment.store.asset_places import Location, Place, assets_of, place_in, place_of
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Entry, Snapshot
from muniment.store.backup.sources import hash_chunks
from muniment.store.backup.swap import STAGING, shown, swap, write_journal
from muniment.store.backup.verify import Check, Report, is_newer
from muniment.store.errors import DamageError, NoSpaceError, StateError
from muniment.store.layout import Root, Scope
from muniment.store.manifest import RootState
from muniment.store.times import now

_CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to restore: over a store that is there, without what is damaged, only to see.

    Assets go to ``assets``, an object store, or else beside the ledgers wherever they were.
    """

    replace: bool = False
    partial: bool = False
    dry_run: bool = False
    assets: Location | None = None


def restore(
    root: Root, repository: Repository, snapshot: Snapshot, wishes: Wishes = Wishes(),
    wait_seconds: float = 0.0, settle: Callable[[Root], int] = lambda _: 0,
) -> dict[str, Any]:  # fmt: skip
    """Restore a snapshot into a root; return what was done.

    ``settle`` is given the staged store before it takes its place; it may change it, and returns
    in how many scopes it did.

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
    with suppress(PermissionError):  # a mounted volume may belong to somebody else
        root.path.chmod(0o700)
    with locks.hold(root.lock, wait_seconds=wait_seconds):
        _require_target(root, manifest.state_of(root), wishes)
        staging = root.temporary / f"{STAGING}{snapshot.fingerprint[:32]}"
        place = _place(root, staging, repository, entries, wishes.assets)
        _stage(root, repository, entries, staging, place)
        displaced = _displaced(root)
        answer = {
            **_answer(root, snapshot, entries, left_out, displaced=displaced),
            "erased_again": _settled(staging, settle),
        }
        write_journal(root, answer, staging)
        swap(root, staging, displaced)
    return answer


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
    _require_known(repository, snapshot)
    check = Check(repository, lambda _: True)
    check.snapshot(snapshot)
    if check.report.broken:
        _refuse_damage(snapshot, check.report, partial=partial)
    return {finding["ref"]: finding["code"] for finding in check.report.findings}


def _require_known(repository: Repository, snapshot: Snapshot) -> None:
    """Refuse a layout or schema that a newer version wrote, and a snapshot without a manifest."""
    roots = [entry for entry in snapshot.entries if entry.kind == "manifest"]
    if len(roots) != 1 or roots[0].path != "muniment.json":
        raise DamageError("the snapshot holds no store", code="snapshot_damaged")
    repository.check(roots[0].sha256, roots[0].size)
    try:
        layout = json.loads(b"".join(repository.chunks(roots[0].sha256)))["layout_version"]
    except (ValueError, KeyError, TypeError):
        layout = 0
    if layout > manifest.LAYOUT_VERSION:
        raise StateError(
            "the snapshot has a layout that this version does not know",
            code="future",
            hint="upgrade muniment",
        )
    if newer := [entry for entry in snapshot.entries if is_newer(entry)]:
        raise StateError(
            f"the snapshot has schema {newer[0].schema}, which this version does not know",
            code="future",
            hint="upgrade muniment",
        )


def _refuse_damage(snapshot: Snapshot, report: Report, *, partial: bool) -> None:
    """Refuse damage, save that assets may be left out when that is asked for."""
    vital = [e for e in snapshot.entries if e.kind != "asset" and e.path in report.broken]
    if partial and not vital:
        return
    worst = next(
        f for f in report.findings if f["damage"] and (not vital or f["ref"] == vital[0].path)
    )
    raise DamageError(
        f"snapshot {snapshot.id} is damaged: {worst['ref']}: {worst['message']}",
        code=worst["code"],
        hint=worst["hint"],
    )


def _settled(staging: Path, settle: Callable[[Root], int]) -> int:
    """Let a staged store be changed; cut short, none of its files is taken for whole again."""
    files.write_atomic(staging / _CHANGED, [b""])
    changed = settle(Root(staging))
    if not changed:
        files.remove(staging / _CHANGED)
    return changed


def _stage(
    root: Root, repository: Repository, entries: list[Entry], staging: Path, place: Place | None
) -> None:
    """Write every file below the staging folder, taking what an earlier run left whole.

    Assets that have another place are sent there, and the manifest says so first.
    """
    if (staging / _CHANGED).exists():
        files.remove_tree(staging)
    unfinished = staging / "tmp"
    files.remove_tree(unfinished)
    files.make_directory(unfinished)
    for left in root.temporary.glob(f"{STAGING}*"):
        if left != staging:
            files.remove_tree(left)
    remote = [entry for entry in entries if entry.kind == "asset" and place is not None]
    local = [entry for entry in entries if entry not in remote] if remote else entries
    wanted = [entry for entry in local if not _is_whole(staging / entry.path, entry)]
    needed = sum(entry.size for entry in wanted)
    if shutil.disk_usage(staging).free < needed:
        raise NoSpaceError(
            f"{needed} bytes are needed",
            hint="free some space and run the same command again",
            path=os.fsdecode(root.path),
        )
    for entry in wanted:
        _write(repository, entry, staging / entry.path, unfinished)
    _set_place(staging, place, unfinished)
    for entry in remote:
        _send(repository, entry, Root(staging, offline=root.offline), unfinished)


def _place(
    root: Root, staging: Path, repository: Repository, entries: list[Entry],
    wanted: Location | None,
) -> Place | None:  # fmt: skip
    """Return where assets go, by the id that a run cut short, the snapshot or the root gave it."""
    if wanted is None:
        return None
    said = b"".join(chunk for entry in entries if entry.kind == "manifest"
                    for chunk in repository.chunks(entry.sha256))  # fmt: skip
    known = [place_of(Root(staging)), place_in(said), place_of(root)]
    same = (place for place in known if place is not None and place.location == wanted)
    return next(same, None) or Place.new(wanted)


def _set_place(staging: Path, place: Place | None, unfinished: Path) -> None:
    """Let the staged manifest say where the assets are, and take that place for it."""
    path = Root(staging).manifest
    text = path.read_bytes()
    changed = manifest.placed(json.loads(text), place)
    if place_in(text) != place:
        files.write_atomic(path, [changed], folder=unfinished)
    if place is not None:
        from muniment.store.backends.claims import claim

        claim(place)


def _send(repository: Repository, entry: Entry, staged: Root, unfinished: Path) -> None:
    """Put an asset where the staged manifest says, unless it is there and sound."""
    folder = staged.path / PurePosixPath(entry.path).parents[3]
    store, asset = assets_of(staged, Scope.at(folder)), f"sha256:{entry.sha256}"
    with suppress(DamageError):
        store.check(asset, entry.size)
        return
    with files.temporary_file(unfinished) as (partial, stream):
        for chunk in _content(repository, entry):
            files.write_chunk(stream, chunk)
        files.sync_file(stream)
        store.keep(partial, asset, entry.size)


def _is_whole(path: Path, entry: Entry) -> bool:
    try:
        return path.stat().st_size == entry.size and hash_chunks(path) == entry.sha256
    except OSError:
        return False


def _write(repository: Repository, entry: Entry, target: Path, unfinished: Path) -> None:
    files.make_directory(target.parent)
    files.write_atomic(target, _content(repository, entry), folder=unfinished)


def _content(repository: Repository, entry: Entry) -> Iterator[bytes]:
    """Yield the bytes of a file; raise ``DamageError`` at the end when they are not its own."""
    whole = sha256()
    for part in entry.parts:
        for chunk in repository.chunks(part.sha256):
            whole.update(chunk)
            yield chunk
    if whole.hexdigest() != entry.sha256:
        raise DamageError(
            f"{entry.path} does not match its hash", code="object_damaged",
            hint="check the repository with: muniment backup verify DEST",
        )  # fmt: skip


def _displaced(root: Root) -> Path | None:
    """Return a free name for the store that is there; null where there is none."""
    if not root.store.exists():
        return None
    stamp = now().replace("-", "").replace(":", "")
    return root.path / f"displaced-{stamp}"


def _answer(
    root: Root, snapshot: Snapshot, entries: Iterable[Entry], left_out: dict[str, str], *,
    displaced: Path | None, dry_run: bool = False,
) -> dict[str, Any]:  # fmt: skip
    held = list(entries)
    return {
        "snapshot": snapshot.id,
        "root": shown(root.path),
        "files": len(held),
        "bytes": sum(entry.size for entry in held),
        "left_out": [{"path": path, "reason": why} for path, why in sorted(left_out.items())],
        "erased_again": 0,
        "resumed": False,
        "displaced": None if displaced is None else shown(displaced),
        "dry_run": dry_run,
    }
