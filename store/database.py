"""Open a SQLite file the way every authority here is opened.

WAL, ``synchronous=FULL``, foreign keys, and the ``erasing()`` function that the append-only
triggers ask. Only a hard forget ever makes it true.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from muniment.store import files
from muniment.store.errors import (
    DamageError,
    LockedError,
    MunimentError,
    NoSpaceError,
    UsageError,
)

BUSY_MILLISECONDS = 10_000
# A write touches random pages of every unique index, and questions, one after the other, random
# rows: they should be at hand, not read again. No more memory is taken than is used.
CACHE_KIB = 32 * 1024
_LARGEST_LOG_BYTES = 64 * 1024 * 1024
_MAPPED_BYTES = 4 * 1024**3
_CREATE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE


def open_database(path: Path, *, readonly: bool = False, still: bool = False) -> apsw.Connection:
    """Open a database file; a reader sees a stable snapshot inside each transaction.

    ``still`` says that the caller keeps writers out: then a reader leaves no file behind.
    """
    with database_errors(path):
        connection = _connect_readonly(path, still) if readonly else _connect(path)
        try:
            if not readonly:
                connection.pragma("journal_mode", "wal")
        except BaseException:
            connection.close()
            raise
    return connection


def open_unjournalled(path: Path) -> apsw.Connection:
    """Open a file for writing and leave its journal as it is; a new one has no log beside it."""
    with database_errors(path):
        return _connect(path)


def open_memory() -> apsw.Connection:
    """Open an empty database that lives in memory and goes with its connection."""
    return _prepared(apsw.Connection(":memory:"))


def _connect(path: Path) -> apsw.Connection:
    files.make_private(path)
    connection = _prepared(apsw.Connection(_name(path), flags=_CREATE))
    connection.pragma("synchronous", "full")
    connection.pragma("secure_delete", True)
    connection.pragma("wal_autocheckpoint", 2_000)
    connection.pragma("journal_size_limit", _LARGEST_LOG_BYTES)
    return connection


def _connect_readonly(path: Path, still: bool) -> apsw.Connection:
    """Open for reading; where nothing can be written, a file without a log is taken as it is."""
    log = path.with_name(path.name + "-wal")
    name, flags = _name(path), apsw.SQLITE_OPEN_READONLY
    if (still or not os.access(path.parent, os.W_OK)) and not log.exists():
        name, flags = f"{path.absolute().as_uri()}?immutable=1", flags | apsw.SQLITE_OPEN_URI
    return _prepared(apsw.Connection(name, flags=flags))


def _prepared(connection: apsw.Connection) -> apsw.Connection:
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    keep_plans(connection)
    connection.pragma("cache_size", -CACHE_KIB)
    connection.create_scalar_function("erasing", _never, 0)
    connection.pragma("foreign_keys", True)
    # Without it, INSERT OR REPLACE would delete rows past the triggers that refuse deletes.
    connection.pragma("recursive_triggers", True)
    # Content must not be spilled to files outside the root.
    connection.pragma("temp_store", "memory")
    return connection


def map_pages(connection: apsw.Connection) -> None:
    """Let a reader see pages in the system's cache instead of copying each that it looks at.

    Where many questions read a few rows from everywhere, that is a sixth of their time. A disk that
    fails under a mapped page ends the process: only what answers many questions maps the ledger.
    """
    connection.pragma("mmap_size", _MAPPED_BYTES)


def keep_plans(connection: apsw.Connection) -> None:
    """Let a statement be planned once, whatever values it is asked with.

    Otherwise every statement with a bound on a range is planned anew each time it runs, at ten
    times the cost of running it.
    """
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)


def _name(path: Path) -> str:
    name = os.fspath(path.absolute())
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(
            "SQLite can't open a path that is not UTF-8", code="bad_path",
            hint="name another folder", path=name,
        ) from None  # fmt: skip
    return name


def _never(*_: object) -> int:
    return 0


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Run the block as one immediate write transaction: all of it or nothing."""
    with database_errors(Path(connection.filename)):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            # A commit that failed (a full disk) leaves the transaction open, too.
            if connection.in_transaction:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
            raise


@contextmanager
def erasing(connection: apsw.Connection) -> Iterator[None]:
    """Let the block change and delete rows of append-only tables; for a hard forget alone."""
    connection.create_scalar_function("erasing", lambda *_: 1, 0)
    try:
        yield
    finally:
        connection.create_scalar_function("erasing", _never, 0)


@contextmanager
def snapshot(connection: apsw.Connection) -> Iterator[None]:
    """Read one state of the database for the whole block; inside a transaction it is that one."""
    if connection.in_transaction:
        yield
        return
    with database_errors(Path(connection.filename)):
        connection.execute("BEGIN")
        try:
            yield
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")  # nothing was written


@contextmanager
def database_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours, with the file named."""
    try:
        yield
    except apsw.Error as error:
        ours = _translated(error, os.fsdecode(path))
        if ours is None:
            raise
        raise ours from error


def _translated(error: apsw.Error, path: str) -> MunimentError | None:
    """Return our error for one of SQLite's; null for a mistake in our own statements."""
    if isinstance(error, apsw.FullError) or _no_room_for_index(error):
        return NoSpaceError(
            "no space left for the database",
            hint="free some space and run the same command again",
            path=path,
        )
    if isinstance(error, apsw.CorruptError | apsw.NotADBError):
        return DamageError(
            f"the database is damaged: {error}", hint="run: muniment verify", path=path
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError | apsw.ProtocolError):
        return LockedError("the database is busy", hint="try again later", path=path)
    if isinstance(error, _UNUSABLE):
        return MunimentError(
            f"the database can't be used: {error}",
            code="io",
            hint="check the disk and the permissions of the root",
            path=path,
        )
    return None


_UNUSABLE = (
    apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, apsw.NoMemError,
)  # fmt: skip


def _no_room_for_index(error: apsw.Error) -> bool:
    """Tell whether the shared index of the write-ahead log could not grow."""
    return getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE


def number(connection: apsw.Connection, statement: str, values: tuple[Any, ...] = ()) -> int:
    """Return the one integer that a statement gives; no row or null is 0."""
    row = connection.execute(statement, values).fetchone()
    return 0 if row is None or row[0] is None else int(row[0])


def rows(
    connection: apsw.Connection, statement: str, values: tuple[Any, ...] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows that a statement gives, so that what they name may be written meanwhile."""
    return [tuple(row) for row in connection.execute(statement, values)]
