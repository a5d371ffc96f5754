"""Where copies of what was erased may be left: the snapshots of every repository that is known."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline.repositories import opened, place
from muniment.store.asset_places import is_remote
from muniment.store.backup import notes
from muniment.store.backup.parts import opened_over_parts
from muniment.store.backup.snapshot import Snapshot, store_of
from muniment.store.errors import DamageError, MunimentError, NotFoundError, StateError
from muniment.store.forgetting.list import standing

if TYPE_CHECKING:
    from muniment.pipeline.forgetting.erasing import Erased
    from muniment.pipeline.options import Session
    from muniment.store.backup.repository import Repository

_TABLES = {"asset", "observation", "episode", "candidate", "record"}
_MOST_LOOKED_UP = 500


class Wanted(NamedTuple):
    """Which repositories to look into, and what opens the encrypted ones."""

    named: Sequence[str] = ()
    passphrase_file: str | None = None
    key_file: str | None = None


class Copies(NamedTuple):
    """The snapshots that still hold it, and the repositories that could not be looked into."""

    holding: list[dict[str, str]]
    unread: list[dict[str, str]]


def copies(session: "Session", erased: "Erased", wanted: Wanted) -> Copies:
    """Look into the repositories that were named, and into those the store was backed up to."""
    looking, found = _Looking(session, erased), Copies([], [])
    root = session.workspace().root
    known = [one["repository"] for one in notes.noted(root, notes.BACKUP)]
    named = [name if is_remote(name) else notes.shown(place(name)) for name in wanted.named]
    for name in dict.fromkeys([*named, *known]):
        try:
            repository = opened(name, wanted.passphrase_file, wanted.key_file)
            with repository.reading():
                found.holding.extend(
                    {"repository": name, "snapshot": identity}
                    for identity in looking.at(repository)
                )
        except MunimentError as error:
            found.unread.append({"repository": name, "reason": error.code})
    return found


class _Looking:
    """Tells of a snapshot whether it holds what was erased."""

    def __init__(self, session: "Session", erased: "Erased") -> None:
        workspace = session.workspace()
        root = workspace.root
        self._store = store_of(root.manifest.read_bytes())
        self._listed = set(erased.digests or standing(root))
        self._erased = erased
        ledger = root.scope(workspace.scope).ledger.relative_to(root.path)
        self._ledger = ledger.as_posix()

    def at(self, repository: "Repository") -> Iterator[str]:
        """Yield the ids of the snapshots that do."""
        for identity in repository.ids():
            with suppress(NotFoundError):  # it was pruned meanwhile
                try:
                    snapshot = repository.read(identity)
                except (DamageError, StateError):
                    yield identity  # nobody can tell that it does not
                    continue
                if self._holds(repository, snapshot):
                    yield identity

    def _holds(self, repository: "Repository", snapshot: Snapshot) -> bool:
        if snapshot.store != self._store or self._listed <= set(snapshot.forgotten):
            return False
        files = {asset.removeprefix("sha256:") for asset in self._erased.assets}
        if any(entry.sha256 in files for entry in snapshot.entries):
            return True
        ledgers = [entry for entry in snapshot.entries if entry.path == self._ledger]
        refs = self._erased.samples.refs
        if not ledgers or not refs:
            return bool(ledgers) or bool(self._erased.personas)
        try:
            with opened_over_parts(repository, ledgers[0]) as database:
                return any(_has(database, table, refs) for table in _TABLES)
        except DamageError:
            return True


def _has(database: Any, table: str, refs: Sequence[tuple[str, str]]) -> bool:
    wanted = [identity for kind, identity in refs if kind == table][:_MOST_LOOKED_UP]
    statement = f"SELECT 1 FROM {table} WHERE id IN (SELECT value FROM json_each(?)) LIMIT 1"  # noqa: S608 (our own names)
    return bool(database.execute(statement, (json.dumps(wanted),)).fetchone())
