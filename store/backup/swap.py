"""The swap that ends a restore, and the journal by which it survives being cut short.

The journal lies in the root from before the first move until after the last one, and while it is
there the root refuses all other work. Each move is left out where it was made before, so the swap
can be run again from any point.
"""

import json
import os
from pathlib import Path
from typing import Any

from muniment.store import files, locks
from muniment.store.errors import StateError
from muniment.store.layout import Root
from muniment.store.times import now

STAGING = "restore-"
_VERSION = 1


def resume(root: Root, wait_seconds: float = 0.0, *, dry_run: bool = False) -> dict[str, Any]:
    """End a restore whose swap was cut short; the repository is not needed for it."""
    said = pending(root)
    if said is None:
        raise StateError(
            "no restore is under way",
            code="nothing_to_resume",
            hint="name a repository: restore DEST",
        )
    displaced = None if said["displaced"] is None else root.path / said["displaced"]
    if not dry_run:
        with locks.hold(root.lock, wait_seconds=wait_seconds):
            if pending(root) == said:  # another process may have ended it meanwhile
                swap(root, root.path / said["staging"], displaced)
    return {
        "snapshot": said["snapshot"], "root": shown(root.path), "files": said["files"],
        "bytes": said["bytes"], "left_out": said["left_out"],
        "erased_again": said.get("erased_again", 0), "resumed": True,
        "displaced": None if displaced is None else shown(displaced), "dry_run": dry_run,
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
        and Path(staging).name.startswith(STAGING)
        and (
            displaced is None or (str(displaced).startswith("displaced-") and "/" not in displaced)
        )
    )


def write_journal(root: Root, answer: dict[str, Any], staging: Path) -> None:
    """Write down what the swap has to do and what there is to say when it is done."""
    aside = answer["displaced"]
    said = {
        "version": _VERSION,
        **{name: answer[name] for name in ("snapshot", "files", "bytes", "left_out")},
        "erased_again": answer.get("erased_again", 0),
        "staging": staging.relative_to(root.path).as_posix(),
        "displaced": None if aside is None else Path(aside).name,
        "begun_at": now(),
    }
    files.write_atomic(root.journal, [json.dumps(said).encode()], folder=staging / "tmp")


def swap(root: Root, staging: Path, displaced: Path | None) -> None:
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


def shown(path: Path) -> str:
    """Return a path as text for an answer."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
