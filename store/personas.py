"""Personas of one user: immutable versions in a file of the user's own, above the namespaces."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from muniment.store import files, locks, manifest, migrations
from muniment.store.database import (
    database_errors,
    open_database,
    open_unjournalled,
    transaction,
)
from muniment.store.errors import NotFoundError
from muniment.store.ids import storable
from muniment.store.layout import Root, Scope, UserPaths
from muniment.store.times import now

_NAMES = ("version", "text", "restores", "actor", "reason", "at")


class Personas:
    """The persona versions of one user, open."""

    def __init__(self, database: apsw.Connection | None) -> None:
        self._database = database

    def versions(self) -> list[dict[str, Any]]:
        """Return every version, oldest first."""
        if self._database is None:
            return []
        rows = self._database.execute(
            f"SELECT {', '.join(_NAMES)} FROM persona ORDER BY version"  # noqa: S608 (constants)
        )
        return [dict(zip(_NAMES, row, strict=True)) for row in rows]

    def version(self, number: int | None = None) -> dict[str, Any] | None:
        """Return a version, the newest unless one is named."""
        found = self.versions()
        if number is None:
            return found[-1] if found else None
        return next((version for version in found if version["version"] == number), None)

    def add(self, text: str, *, actor: str, reason: str, restores: int | None = None) -> bool:
        """Append a version; the newest one's text again changes nothing and returns false."""
        newest = self.version()
        if newest is not None and newest["text"] == storable(text):
            return False
        assert self._database is not None  # opened for writing
        with transaction(self._database):
            self._database.execute(
                "INSERT INTO persona (text, restores, actor, reason, at) VALUES (?, ?, ?, ?, ?)",
                (storable(text), restores, storable(actor), storable(reason), now()),
            )
        return True

    def roll_back(self, number: int, *, actor: str) -> bool:
        """Append an older version's text as the newest; return whether that changed anything."""
        wanted = self.version(number)
        if wanted is None:
            raise NotFoundError(f"no persona version {number}", hint="see: muniment persona show")
        return self.add(
            wanted["text"], actor=actor, reason=f"rollback to {number}", restores=number
        )


@contextmanager
def reading(root: Root, scope: Scope, wait_seconds: float = 0.0) -> Iterator[Personas]:
    """Open a user's personas for reading; a user who has none yet has an empty list."""
    paths = root.user(scope)
    with manifest.shared(root, wait_seconds):
        if not paths.database.exists():
            yield Personas(None)
            return
        with database_errors(paths.database):
            database = open_database(paths.database, readonly=True)
            try:
                migrations.check_version(database, len(migrations.USER_STEPS))
                yield Personas(database)
            finally:
                database.close()


@contextmanager
def writing(root: Root, scope: Scope, wait_seconds: float = 0.0) -> Iterator[Personas]:
    """Open a user's personas as their one writer, making root and file on first write."""
    manifest.initialize(root)
    paths = root.user(scope)
    with manifest.shared(root, wait_seconds):
        files.make_directory(paths.path)
        with locks.hold(paths.writer_lock, wait_seconds=wait_seconds):
            if not paths.database.exists():
                _make(root, paths)
            with database_errors(paths.database):
                database = open_database(paths.database)
                try:
                    migrations.migrate(database, migrations.USER_STEPS)
                    yield Personas(database)
                finally:
                    database.close()


def _make(root: Root, paths: UserPaths) -> None:
    """Make an empty file under a temporary name; the real name is never seen without a schema."""
    files.make_directory(root.temporary)
    with files.temporary_file(root.temporary) as (temporary, stream):
        database = open_unjournalled(temporary)
        try:
            migrations.migrate(database, migrations.USER_STEPS)
            with database_errors(temporary):
                database.pragma("journal_mode", "wal")
        finally:
            database.close()
        files.sync_file(stream)
        files.publish(temporary, paths.database)
