"""The tables of one index generation, and how its database is opened."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from muniment.store import files
from muniment.store.database import (
    BUSY_MILLISECONDS,
    CACHE_KIB,
    database_errors,
    keep_plans,
    map_pages,
    number,
)
from muniment.store.errors import DamageError
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.match import OF_PLANES
from muniment.store.index.postings import TABLES as POSTING_TABLES
from muniment.store.text.words import ANALYSER_VERSION

SCHEMA_VERSION = 6
# The views that text is searched through, in the order of the table's columns.
VIEWS = ("words", "names", "grams", "cuts", "title", "context")

# Tokens arrive separated by spaces, so every other ASCII character is part of one. This tokenizer
# takes all that isn't ASCII as it is.
_SIGNS = "".join(chr(code) for code in range(0x21, 0x7F) if not chr(code).isalnum())
_TOKENIZER = "ascii tokenchars '" + _SIGNS.replace("'", "''") + "'"

# Much that is written at once becomes one segment, and segments are merged when there are so many:
# a quarter less work than with the engine's own 1 MB and 4.
_HASH_BYTES = 16 * 1024 * 1024
_MERGED_AT_ONCE = 8

_TABLES = f"""
CREATE TABLE doc (
    rowid INTEGER PRIMARY KEY AUTOINCREMENT,
    place INTEGER NOT NULL UNIQUE,
    ref TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    asset TEXT,
    seq INTEGER NOT NULL,
    instant TEXT,
    family TEXT,
    origin TEXT,
    role TEXT,
    source TEXT,
    session TEXT,
    path TEXT,
    confidence REAL NOT NULL,
    grp TEXT,
    author TEXT,
    told INTEGER NOT NULL
) STRICT;
CREATE INDEX doc_asset ON doc (asset);
CREATE INDEX doc_plane ON doc (kind, place) WHERE {OF_PLANES};
CREATE TABLE gone (rowid INTEGER PRIMARY KEY) STRICT;
CREATE TABLE mark (name TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE fts USING fts5(
    {", ".join(VIEWS)}, content='', contentless_delete=1,
    tokenize="{_TOKENIZER.replace('"', '""')}"
);
INSERT INTO fts (fts, rank) VALUES ('hashsize', {_HASH_BYTES}), ('automerge', {_MERGED_AT_ONCE});
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(fts, 'row');
INSERT INTO mark VALUES ('documents', 0), ('analyser', '{ANALYSER_VERSION}');
{POSTING_TABLES}
PRAGMA user_version = {SCHEMA_VERSION};
"""


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours; damage here means only that a rebuild is due."""
    try:
        with database_errors(path):
            yield
    except IndexDamageError:
        raise
    except DamageError as error:
        raise damaged(path, str(error)) from error
    except apsw.SQLError as error:
        raise damaged(path, f"the index has other tables than expected: {error}") from error


def damaged(path: Path, message: str, code: str = "index_damaged") -> IndexDamageError:
    """Return the error that asks for a rebuild."""
    return IndexDamageError(message, code=code, hint="run: muniment reindex", path=str(path))


def open_index(path: Path, *, readonly: bool) -> apsw.Connection:
    """Open the database of a generation; a writer creates what is missing.

    Raises ``IndexDamageError`` when a reader finds none, or anybody another version.
    """
    with index_errors(path):
        if readonly:
            if not path.exists():
                raise damaged(path, "there is no index yet", "index_missing")
            connection = _open_reader(path)
        else:
            files.make_private(path)
            connection = apsw.Connection(str(path))
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            keep_plans(connection)
            _prepare_writer(connection)
        _check_version(connection, path)
    return connection


def _open_reader(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    try:
        connection.pragma("user_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # A folder that can't be written to has no place for a reader's marks: nobody writes there.
        connection.close()
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        connection = apsw.Connection(path.absolute().as_uri() + "?immutable=1", flags=flags)
    keep_plans(connection)
    connection.pragma("cache_size", -CACHE_KIB)
    map_pages(connection)
    return connection


def _prepare_writer(connection: apsw.Connection) -> None:
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "normal")
    connection.pragma("cache_size", -CACHE_KIB)
    if not number(connection, "SELECT count(*) FROM sqlite_schema"):
        connection.execute("BEGIN IMMEDIATE")
        if not number(connection, "SELECT count(*) FROM sqlite_schema"):
            connection.execute(_TABLES)
        connection.execute("COMMIT")


def _check_version(connection: apsw.Connection, path: Path) -> None:
    version = number(connection, "PRAGMA user_version")
    analyser = connection.execute("SELECT value FROM mark WHERE name = 'analyser'").fetchone()
    if version != SCHEMA_VERSION or analyser != (ANALYSER_VERSION,):
        connection.close()
        raise damaged(path, "the index was made by another version", "index_outdated")
