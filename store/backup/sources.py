"""What of a root goes into a backup, and the one moment that all its databases are read at.

Indexes, locks and temporary files can be made again and stay out. Assets are named by the
ledgers, not by the folder, so that what a crash left behind stays out, too.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import apsw

from muniment.store import files
from muniment.store.backup.cipher import READ_BYTES
from muniment.store.database import database_errors, number, open_database
from muniment.store.errors import DamageError, MunimentError, NoSpaceError, StateError
from muniment.store.layout import Root, ScopePaths
from muniment.store.migrating import LEDGER, steps_of
from muniment.store.migrations import version_of

DAMAGED = "database_damaged"
_REBUILT = {"assets", "cache", "index"}  # assets come by the ledger's rows
_LEFT_OUT = re.compile(r".*(\.lock|-wal|-shm|-journal|\.partial|\.sqlite3\.schema-\d+)")
_PAGES_A_STEP = 4096


class Source(NamedTuple):
    """One database, open for reading at the moment of the snapshot."""

    path: Path
    database: apsw.Connection


class Stored(NamedTuple):
    """One asset that lies in a file of its own, below the folder of a scope."""

    folder: Path
    sha256: str
    size: int

    @property
    def path(self) -> Path:
        """Where it lies."""
        return ScopePaths(self.folder).asset(self.sha256)


@dataclass(frozen=True, slots=True)
class Pinned:
    """Everything that one snapshot is made of; ``damaged`` names databases and what is wrong."""

    databases: list[Source]
    plain: list[Path]
    damaged: dict[Path, str] = field(default_factory=dict)

    def assets(self) -> Iterator[Stored]:
        """Yield the assets in files that the pinned ledgers name."""
        for path, database in self.databases:
            if path.name == LEDGER and path not in self.damaged:
                with expendable(path, self.damaged):
                    yield from stored_assets(path.parent, database)


@contextmanager
def pinned(root: Root) -> Iterator[Pinned]:
    """Begin one read transaction on every database, all within a moment.

    Writers go on; what they commit later is not seen. The caller holds the root lock with
    others, so that nobody erases, migrates or swaps what is being read.
    """
    found, plain = tree(root)
    lost = dict.fromkeys(_lost_ledgers(root), "ledger_missing")
    state = Pinned([], [root.manifest, *plain], lost)
    with ExitStack() as stack:
        waiting = []
        for path in found:
            with expendable(path, state.damaged):
                database = open_database(path, readonly=True)
                stack.callback(database.close)
                waiting.append(Source(path, database))
        for source in waiting:
            with expendable(source.path, state.damaged):
                _pin(source)
                state.databases.append(source)
        yield state


def _pin(source: Source) -> None:
    """Begin to read; an empty file in the place of one that has a schema is damage."""
    with database_errors(source.path):
        source.database.execute("BEGIN")
        number(source.database, "SELECT count(*) FROM sqlite_schema")
        if steps_of(source.path.name) and not version_of(source.database):
            raise DamageError("the database is empty", code="ledger_missing")


@contextmanager
def expendable(path: Path, damaged: dict[Path, str]) -> Iterator[None]:
    """Note a database that can't be read and go on without it: others are not to suffer by it.

    Nothing is lost with one that holds no claims, so any fault will do; else it must be damage.
    """
    try:
        yield
    except MunimentError as error:
        vital = bool(steps_of(path.name)) or isinstance(error, NoSpaceError)
        if isinstance(error, DamageError) or not vital:
            lost = error.code == "ledger_missing"
            damaged[path] = error.code if lost else reason_of(path)
            return
        raise


def reason_of(path: Path) -> str:
    """Return the word for a database that can't be used."""
    return DAMAGED if steps_of(path.name) else "database_unreadable"


def _lost_ledgers(root: Root) -> Iterator[Path]:
    """Yield where a ledger must have been: a scope with assets and nothing that names them."""
    for folder in root.store.glob("tenants/*/users/*/namespaces/*/assets/sha256"):
        ledger = folder.parent.parent / LEDGER
        if not ledger.exists() and any(folder.iterdir()):
            yield ledger


def tree(root: Root) -> tuple[list[Path], list[Path]]:
    """Return the databases of a store, and its other files that nothing can make again."""
    databases: list[Path] = []
    plain: list[Path] = []
    for here, folders, names in os.walk(root.store):
        folder = Path(here)
        if folder.parent.name == "namespaces":
            folders[:] = sorted(set(folders) - _REBUILT)
        for name in sorted([*folders, *names]):
            path = folder / name
            if path.is_symlink():
                raise StateError(
                    "the store holds a link, which no backup would follow",
                    code="link_in_store",
                    hint="put the folder itself there",
                    path=os.fsdecode(path),
                )
            if name in names and not _LEFT_OUT.fullmatch(name):
                (databases if name.endswith(".sqlite3") else plain).append(path)
    return databases, plain


def stored_assets(folder: Path, database: apsw.Connection) -> Iterator[Stored]:
    """Yield the assets that a ledger says lie in files below the folder of its scope."""
    with database_errors(folder / LEDGER):
        rows = database.execute("SELECT id, size FROM asset WHERE storage = 'file' ORDER BY id")
        for identity, size in rows:
            yield Stored(folder, identity.removeprefix("sha256:"), size)


def rows_by_table(database: apsw.Connection) -> dict[str, int]:
    """Count the rows of every table."""
    names = [
        row[0]
        for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' "
            "AND name NOT LIKE 'sqlite_%' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name"
        )
    ]
    return {
        name: number(database, f'SELECT count(*) FROM "{name}"')  # noqa: S608 (its own names)
        for name in names
    }


def copy_database(source: Source, target: Path) -> None:
    """Copy a pinned database into an empty file by SQLite's backup API."""
    with database_errors(source.path):
        copy = apsw.Connection(os.fspath(target.absolute()))
        try:
            # The copy is read back and checked; it needs neither a journal nor to be durable.
            copy.pragma("journal_mode", "off")
            copy.pragma("synchronous", "off")
            with copy.backup("main", source.database, "main") as backup:
                while not backup.done:
                    backup.step(_PAGES_A_STEP)
        finally:
            copy.close()


def read_chunks(path: Path, size: int = READ_BYTES) -> Iterator[bytes]:
    """Yield a file in chunks of one size, the last one shorter."""
    with files.open_plain(path) as stream:
        while chunk := stream.read(size):
            yield chunk


def hash_chunks(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with files.open_plain(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
