"""The root's manifest and the states of CONTRACT 8.

A missing or empty root initialises on first write; a non-empty unknown directory, a newer layout
and an unfinished restore refuse.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

from muniment.store import files, locks
from muniment.store.asset_places import KEY, Place
from muniment.store.errors import MunimentError, NoStoreError, StateError
from muniment.store.layout import Root
from muniment.store.times import now

LAYOUT_VERSION = 1
_FORMAT = "muniment"
# What may stand in a root that has no manifest yet: what a start that was cut short leaves
# behind, and the folder that a fresh volume comes with.
_OURS = {"lock", "tmp", "lost+found"}


class RootState(StrEnum):
    """What a directory is to us."""

    UNINITIALIZED = "uninitialized"
    CURRENT = "current"
    LEGACY = "legacy"
    FUTURE = "future"
    RECOVERY_REQUIRED = "recovery_required"
    INVALID = "invalid"


def state_of(root: Root) -> RootState:
    """Tell the state of a root; reads only."""
    try:
        if root.journal.exists():
            return RootState.RECOVERY_REQUIRED
        manifest = json.loads(root.manifest.read_bytes())
    except FileNotFoundError:
        return _without_manifest(root.path)
    except (NotADirectoryError, ValueError):
        return RootState.INVALID
    except OSError as error:
        raise _unreadable(root.path, error) from error
    return _state_by(manifest)


def _state_by(manifest: Any) -> RootState:
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        return RootState.INVALID
    version = manifest.get("layout_version")
    if type(version) is not int or version < 1:
        return RootState.INVALID
    if version == LAYOUT_VERSION:
        return RootState.CURRENT
    return RootState.FUTURE if version > LAYOUT_VERSION else RootState.LEGACY


def _without_manifest(path: Path) -> RootState:
    try:
        names = {entry.name for entry in path.iterdir()}
    except FileNotFoundError:
        # A link that leads nowhere has a name but nothing behind it.
        return RootState.INVALID if path.is_symlink() else RootState.UNINITIALIZED
    except NotADirectoryError:
        return RootState.INVALID
    except OSError as error:
        raise _unreadable(path, error) from error
    return RootState.INVALID if names - _OURS else RootState.UNINITIALIZED


def _unreadable(path: Path, error: OSError) -> MunimentError:
    return MunimentError(
        f"the root can't be read: {error.strerror}",
        code="io",
        hint="check its permissions",
        path=os.fsdecode(path),
    )


def require(root: Root) -> None:
    """Raise unless the root is a current store."""
    state = state_of(root)
    if state is RootState.CURRENT:
        return
    if state is RootState.UNINITIALIZED:
        raise NoStoreError(
            "no store here", hint="make one with: muniment init", path=os.fsdecode(root.path)
        )
    raise refusal(root, state)


def refusal(root: Root, state: RootState) -> StateError:
    """Say why a root in this state can't be used."""
    said = {
        RootState.INVALID: ("is not a store and not empty", "choose another --root"),
        RootState.FUTURE: ("was written by a newer version", "upgrade muniment"),
        RootState.LEGACY: ("has an older layout", "run: muniment migrate"),
        RootState.RECOVERY_REQUIRED: ("holds an unfinished restore", "run: muniment restore"),
    }[state]
    if state is RootState.INVALID and root.store.is_dir():
        word = "a damaged" if root.manifest.exists() else "lost its"
        said = (f"has {word} manifest", "restore muniment.json, or the root from a backup")
    return StateError(
        f"the root {said[0]}", code=state.value, hint=said[1], path=os.fsdecode(root.path)
    )


def initialize(root: Root, place: Place | None = None) -> bool:
    """Make the root a store; return whether it was new. The manifest comes last.

    ``place`` says where the assets of a new one lie, if not beside its ledgers.
    """
    state = state_of(root)
    if state is RootState.CURRENT:
        return False
    if state is not RootState.UNINITIALIZED:
        raise refusal(root, state)
    files.make_directory(root.path)
    with locks.hold(root.lock, wait_seconds=10):
        # Another process may have been quicker, and an empty directory may have been filled.
        state = state_of(root)
        if state is RootState.CURRENT:
            return False
        if state is not RootState.UNINITIALIZED:
            raise refusal(root, state)
        with suppress(PermissionError):  # a mounted volume may belong to somebody else
            root.path.chmod(0o700)
        files.make_directory(root.temporary)
        manifest: dict[str, Any] = {
            "format": _FORMAT, "layout_version": LAYOUT_VERSION, "created_at": now()
        }  # fmt: skip
        files.write_atomic(root.manifest, [placed(manifest, place)], folder=root.temporary)
    return True


def placed(manifest: dict[str, Any], place: Place | None) -> bytes:
    """Write a manifest down with another place of the assets; null is beside the ledgers."""
    said = {name: value for name, value in manifest.items() if name != KEY}
    if place is not None:
        said[KEY] = place.as_dict()
    return (json.dumps(said, indent=1) + "\n").encode()


@contextmanager
def shared(root: Root, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the root with others, as every normal operation does."""
    if not root.lock.exists():
        require(root)  # nothing is written into what is no store
    with locks.hold(root.lock, shared=True, wait_seconds=wait_seconds):
        require(root)
        yield


@contextmanager
def alone(root: Root, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the root alone, as a hard forget does: nobody has a file of it open."""
    require(root)
    with locks.hold(root.lock, wait_seconds=wait_seconds):
        require(root)
        yield
