"""What of a root goes into a backup, and the one moment that all its databases are read at.

Indexes, locks and temporary files can be made again and stay out. Assets are named by the
ledgers, not by the folder, so that what a crash left behind stays out, too.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import apsw

from muniment.store import files
from muniment.store.backup.cipher import READ_BYTES
from muniment.store.database import database_errors, number, open_database
from muniment.store.errors import StateError
from muniment.store.layout import Root

LEDGER = "ledger.sqlite3"
_REBUILT = {"assets", "index"}  # assets come by the ledger's rows
_LEFT_OUT = re.compile(r".*(\.lock|-wal|-shm|-journal|\.partial|\.sqlite3\.schema-\d+)")
_PAGES_A_STEP = 4096


class Source(NamedTuple):
    """One database, open for reading at the moment of the snapshot."""

    path: Path
    database: apsw.Connection


class Stored(NamedTuple):
    """One asset that lies in a file of its own."""

    path: Path
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Pinned:
    """Everything that one snapshot is made of."""

    databases: list[Source]
    plain: list[Path]

    def assets(self) -> Iterator[Stored]:
        """Yield the assets in files that the pinned ledgers name."""
        for path, database in self.databases:
            if path.name == LEDGER:
                yield from stored_assets(path.parent, database)


@contextmanager
def pinned(root: Root) -> Iterator[Pinned]:
    """Begin one read transaction on every database, all within a moment.

    Writers go on; what they commit later is not seen. The caller holds the root lock with
    others, so that nobody erases, migrates or swaps what is being read.
    """
    found, plain = _tree(root)
    with ExitStack() as stack:
        sources = []
        for path in found:
            database = open_database(path, readonly=True)
            stack.callback(database.close)
            sources.append(Source(path, database))
        for path, database in sources:
            with database_errors(path):
                database.execute("BEGIN")
                number(database, "SELECT count(*) FROM sqlite_schema")
        yield Pinned(sources, [root.manifest, *plain])


def _tree(root: Root) -> tuple[list[Path], list[Path]]:
    databases, plain = [], []
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
            sha256 = identity.removeprefix("sha256:")
            yield Stored(folder / "assets" / "sha256" / sha256[:2] / sha256, sha256, size)


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
