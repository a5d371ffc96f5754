"""How often records were recalled: a file of its own, so that reading never writes the ledger.

It strengthens what is used, and keeps how long the last recalls took, never what was asked. Losing
it loses no claim, so nothing waits for it and nothing fails by it.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from muniment.store.database import open_unjournalled
from muniment.store.errors import MunimentError

_BUSY_MILLISECONDS = 50
_TABLE = (
    "CREATE TABLE IF NOT EXISTS access (record TEXT PRIMARY KEY, count INTEGER NOT NULL, "
    "last TEXT NOT NULL) STRICT, WITHOUT ROWID"
)
_DURATIONS = (
    "CREATE TABLE IF NOT EXISTS recall (seq INTEGER PRIMARY KEY, at TEXT NOT NULL, "
    "milliseconds REAL NOT NULL) STRICT"
)
_MOST_DURATIONS = 5_000


class Use(NamedTuple):
    """How often a record was recalled, and when last."""

    times: int
    last: str


def touch(path: Path, records: Iterable[str], at: str, milliseconds: float | None = None) -> bool:
    """Count a recall of each record, and how long it took.

    Returns false where that could not be written at once.
    """
    with closing(Recorder(path)) as recorder:
        return recorder.touch(records, at, milliseconds)


class Recorder:
    """Keeps the file open from one recall to the next: opening it costs more than writing to it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database: apsw.Connection | None = None

    def touch(self, records: Iterable[str], at: str, milliseconds: float | None = None) -> bool:
        """Do what :func:`touch` does."""
        wanted = sorted(set(records))
        if not wanted and milliseconds is None:
            return True
        with suppress(MunimentError, apsw.Error, OSError):
            self._database = self._database or _opened(self._path)
            with self._database:
                self._database.executemany(
                    "INSERT INTO access (record, count, last) VALUES (?, 1, ?) ON CONFLICT "
                    "(record) DO UPDATE SET count = count + 1, last = max(last, excluded.last)",
                    [(record, at) for record in wanted],
                )
                if milliseconds is not None:
                    _keep_duration(self._database, at, milliseconds)
            return True
        return False

    def close(self) -> None:
        """Let go of the file."""
        if self._database is not None:
            self._database.close()
            self._database = None


def durations(path: Path) -> list[tuple[str, float]]:
    """Return when the last recalls were and how many milliseconds each took, oldest first."""
    if not path.exists():
        return []
    with suppress(MunimentError, apsw.Error, OSError), _open(path) as database:
        rows = database.execute("SELECT at, milliseconds FROM recall ORDER BY seq").fetchall()
        return [(str(at), float(str(taken))) for at, taken in rows]
    return []


def uses(path: Path) -> dict[str, Use]:
    """Return what is known of every record's use; nothing where there is no file."""
    if not path.exists():
        return {}
    with suppress(MunimentError, apsw.Error, OSError), _open(path) as database:
        rows = database.execute("SELECT record, count, last FROM access").fetchall()
        return {str(record): Use(int(str(times)), str(last)) for record, times, last in rows}
    return {}


def drop(path: Path, records: Iterable[str]) -> None:
    """Forget the use of records, leaving none of their ids in the file.

    Raises what stands in the way: whoever forgets must know.
    """
    if not path.exists():
        return
    with _open(path) as database:
        database.execute("BEGIN IMMEDIATE")
        database.executemany(
            "DELETE FROM access WHERE record = ?", [(record,) for record in records]
        )
        database.execute("COMMIT")
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def _open(path: Path) -> Iterator[apsw.Connection]:
    with closing(_opened(path)) as database:
        yield database


def _opened(path: Path) -> apsw.Connection:
    database = open_unjournalled(path)
    try:
        database.set_busy_timeout(_BUSY_MILLISECONDS)
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "normal")
        database.execute(_TABLE)
        database.execute(_DURATIONS)
    except BaseException:
        database.close()
        raise
    return database


def _keep_duration(database: apsw.Connection, at: str, milliseconds: float) -> None:
    database.execute("INSERT INTO recall (at, milliseconds) VALUES (?, ?)", (at, milliseconds))
    database.execute("DELETE FROM recall WHERE seq <= ?",
                     (database.last_insert_rowid() - _MOST_DURATIONS,))  # fmt: skip
