"""The forget list over a restore: a snapshot from before a hard forget does not revive anything."""

import os
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from muniment.pipeline.forgetting.erasing import erase_again
from muniment.pipeline.forgetting.hiding import ACTOR
from muniment.pipeline.workspace import Workspace
from muniment.store import files
from muniment.store.errors import DamageError, MunimentError, NotFoundError, StateError
from muniment.store.forgetting.list import lifted, scopes, standing
from muniment.store.layout import Root
from muniment.store.ledger import Ledger
from muniment.store.migrating import migrate

if TYPE_CHECKING:
    from muniment.pipeline.settings import Settings
    from muniment.store.backup.repository import Repository
    from muniment.store.backup.snapshot import Snapshot


class Carried(NamedTuple):
    """A forget list and the key that it is kept under."""

    digests: tuple[str, ...] = ()
    key: bytes | None = None


def known_lists(root: Root, repository: "Repository", snapshot: "Snapshot") -> list[Carried]:
    """Return what must not come back with a snapshot.

    The lists are that of the store in the root, and that of the newest snapshot of the same store,
    without what the root has let in again.
    """
    here = of_root(root)
    newest = _of_repository(repository, snapshot)
    later = set(newest.digests) - set(lifted(root))
    told = set(snapshot.forgotten)  # it was made after these, or rewritten without them
    lists = {newest.key: later} if newest.key else {}
    if here.key:
        lists[here.key] = {*lists.get(here.key, ()), *here.digests}
    return [Carried(tuple(sorted(digests - told)), key) for key, digests in lists.items()]


def cleanse(settings: "Settings", root: Root, lists: Sequence[Carried]) -> int:
    """Erase what forget lists name from a store that was brought back; return how many scopes.

    What they name is kept out from then on. A store that they have no word on stays as it is; an
    older schema is brought up, and the copies that this makes go.
    """
    told = [one for one in lists if one.digests and one.key is not None]
    if not told:
        return 0
    migrate(root)
    for copy in root.store.rglob("*.sqlite3.schema-*"):
        files.remove(copy)
    touched: set[Path] = set()
    for one in told:
        touched |= _apply(settings, root, one.digests, one.key or b"")
    return len(touched)


def _apply(settings: "Settings", root: Root, digests: tuple[str, ...], key: bytes) -> set[Path]:
    if not root.forget_key.exists():
        files.make_directory(root.temporary)
        files.write_atomic(root.forget_key, [key], folder=root.temporary)
    own = root.forget_key.read_bytes() == key
    touched = set()
    for scope in list(scopes(root)):
        values = {**settings.values, **scope.as_dict(), "root": os.fspath(root.path)}
        workspace = Workspace(replace(settings, values=values))
        if erase_again(workspace, digests, key).tombstone is not None:
            touched.add(root.scope(scope).path)
        if own:
            with closing(Ledger.create(root, scope)) as ledger, ledger.unit():
                ledger.tombstones.carry(digests, ACTOR)
    return touched


def cleanse_displaced(settings: "Settings", root: Root) -> None:
    """Erase what the root's list names from the stores that restores have put aside in it.

    One that can't be opened stays as it is: looking again names its files.
    """
    for place in sorted(root.path.glob("displaced-*")):
        with suppress(MunimentError):
            cleanse(settings, Root(place), [of_root(root)])


def of_root(root: Root) -> Carried:
    """Return the forget list that stands in a root; one without its key tells nothing."""
    try:
        key = root.forget_key.read_bytes()
    except OSError:
        return Carried()
    return Carried(standing(root), key)


def _of_repository(repository: "Repository", snapshot: "Snapshot") -> Carried:
    """Return the list of the newest snapshot of the same store that can be read."""
    for identity in reversed(repository.ids()):
        try:
            newest = repository.read(identity)
            if newest.store == snapshot.store:
                return Carried(newest.forgotten, _key_of(repository, newest))
        except (DamageError, StateError, NotFoundError):
            continue
    return Carried()


def _key_of(repository: "Repository", snapshot: "Snapshot") -> bytes | None:
    parts = [part for entry in snapshot.entries if entry.path == "store/forget.key"
             for part in entry.parts]  # fmt: skip
    return b"".join(chunk for part in parts for chunk in repository.chunks(part.sha256)) or None
