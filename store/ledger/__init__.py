"""The authority of one scope: facts appended to one SQLite file, and the views over them.

One class a plane, each a thin layer of named statements over the same connection. Write methods
run inside :meth:`Ledger.unit`, one transaction a unit of work.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from muniment.store import files, locks, migrations
from muniment.store.asset_places import assets_of
from muniment.store.database import (
    database_errors,
    open_database,
    open_memory,
    open_unjournalled,
    snapshot,
    transaction,
)
from muniment.store.errors import DamageError, NoStoreError, StateError
from muniment.store.forgetting.tombstones import Tombstones
from muniment.store.layout import Root, Scope, ScopePaths
from muniment.store.ledger.assets import Assets
from muniment.store.ledger.attempts import Attempts
from muniment.store.ledger.audit import Audit
from muniment.store.ledger.beside import Beside
from muniment.store.ledger.checkpoints import Checkpoints
from muniment.store.ledger.duplicates import Duplicates
from muniment.store.ledger.entities import Entities
from muniment.store.ledger.episodes import Episodes
from muniment.store.ledger.evidence import Evidence
from muniment.store.ledger.grouping import Grouping
from muniment.store.ledger.links import Links
from muniment.store.ledger.memory import Memory
from muniment.store.ledger.pairs import Pairs
from muniment.store.ledger.readings import Readings
from muniment.store.ledger.relations import Relations
from muniment.store.ledger.sessions import Sessions
from muniment.store.seals import Seals

_CREATION_SECONDS = 30.0


class Ledger:
    """One scope's ledger, open."""

    def __init__(self, root: Root, scope: Scope, database: apsw.Connection) -> None:
        self.root = root
        self.scope = scope
        self.paths = root.scope(scope)
        self.database = database
        self.assets = Assets(database, assets_of(root, scope))
        self.attempts = Attempts(database)
        self.evidence = Evidence(database)
        self.episodes = Episodes(database)
        self.grouping = Grouping(database)
        self.links = Links(database)
        self.beside = Beside(database)
        self.duplicates = Duplicates(database)
        self.memory = Memory(database)
        self.readings = Readings(database)
        self.pairs = Pairs(database)
        self.entities = Entities(database)
        self.relations = Relations(database)
        self.sessions = Sessions(database)
        self.checkpoints = Checkpoints(database)
        self.audit = Audit(database)
        self.tombstones = Tombstones(database, root, scope)
        self.seals = Seals(self.paths.index)

    @classmethod
    def create(cls, root: Root, scope: Scope) -> "Ledger":
        """Open a scope for writing, creating it when it is new, at the current schema."""
        paths = root.scope(scope)
        files.make_directory(paths.assets)
        if not paths.ledger.exists():
            # The folder itself is the lock: two processes may find it empty at once.
            with locks.hold(paths.path, wait_seconds=_CREATION_SECONDS):
                if not paths.ledger.exists():
                    _make(root, paths)
        # Looked at before anything is set: what is not a ledger is left as it was found.
        database = _checked(open_unjournalled(paths.ledger), paths.ledger)
        with database_errors(paths.ledger):
            database.pragma("journal_mode", "wal")
        return cls(root, scope, database)

    @classmethod
    def empty(cls, root: Root, scope: Scope) -> "Ledger":
        """Make a ledger in memory, for planning over a scope that does not exist yet."""
        database = open_memory()
        migrations.migrate(database)
        return cls(root, scope, database)

    @classmethod
    def read(cls, root: Root, scope: Scope, *, still: bool = False) -> "Ledger":
        """Open a scope for reading; it must exist. ``still``: the caller keeps writers out."""
        paths = root.scope(scope)
        if not paths.ledger.exists():
            _refuse_loss(paths)
            raise NoStoreError(
                f"the scope {'/'.join(scope.as_dict().values())} holds nothing yet",
                hint="add something with: muniment ingest PATH",
                path=os.fsdecode(paths.path),
            )
        database = open_database(paths.ledger, readonly=True, still=still)
        return cls(root, scope, _checked(database, paths.ledger))

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: object
    ) -> None:
        """Close the ledger; a fault of SQLite in the block becomes one of our errors."""
        self.close()
        if isinstance(error, apsw.Error):
            with database_errors(self.paths.ledger):
                raise error

    @contextmanager
    def unit(self) -> Iterator[None]:
        """Write everything of the block, durably, or nothing of it."""
        with transaction(self.database):
            yield

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state for the whole block."""
        with snapshot(self.database):
            yield

    def close(self) -> None:
        """Close the file; an open unit is rolled back."""
        with database_errors(self.paths.ledger):
            self.database.close()


def _make(root: Root, paths: ScopePaths) -> None:
    """Make an empty ledger under a temporary name; the real name is never seen without a schema."""
    _refuse_loss(paths)
    files.make_directory(root.temporary)
    with files.temporary_file(root.temporary) as (temporary, stream):
        database = open_unjournalled(temporary)
        try:
            migrations.migrate(database)
            with database_errors(temporary):
                database.pragma("journal_mode", "wal")
        finally:
            database.close()
        files.sync_file(stream)
        files.publish(temporary, paths.ledger)


def _refuse_loss(paths: ScopePaths) -> None:
    """Refuse to put an empty ledger where a full one must have been."""
    log = paths.ledger.with_name(paths.ledger.name + "-wal")
    places = (paths.assets, paths.cache)
    kept = any(folder.is_dir() and any(folder.iterdir()) for folder in places)
    if kept or (log.exists() and log.stat().st_size):
        raise DamageError(
            "the ledger of this scope is missing",
            code="ledger_missing",
            hint="restore it from a backup",
            path=os.fsdecode(paths.ledger),
        )


def _checked(database: apsw.Connection, path: Path) -> apsw.Connection:
    try:
        with database_errors(path):
            _require_current(database, path)
    except BaseException:
        database.close()
        raise
    return database


def _require_current(database: apsw.Connection, path: Path) -> None:
    migrations.check_version(database)
    found = migrations.version_of(database)
    if found == 0:
        raise DamageError(
            "the ledger is empty",
            code="ledger_missing",
            hint="restore it from a backup",
            path=os.fsdecode(path),
        )
    if found < migrations.SCHEMA_VERSION:
        raise StateError(
            f"the ledger has schema {found}, this version needs {migrations.SCHEMA_VERSION}",
            code="legacy",
            hint="run: muniment migrate",
            path=os.fsdecode(path),
        )
