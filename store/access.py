"""How often records were recalled: a file of its own, so that reading never writes the ledger.

It strengthens what is used. Losing it loses no claim, so nothing waits for it and nothing fails by
it.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
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


class Use(NamedTuple):
    """How often a record was recalled, and when last."""

    times: int
    last: str


def touch(path: Path, records: Iterable[str], at: str) -> bool:
    """Count a recall of each record; return false where that could not be written at once."""
    wanted = sorted(set(records))
    if not wanted:
        return True
    with suppress(MunimentError, apsw.Error, OSError), _open(path) as database:
        database.execute("BEGIN IMMEDIATE")
        database.executemany(
            "INSERT INTO access (record, count, last) VALUES (?, 1, ?) ON CONFLICT (record) "
            "DO UPDATE SET count = count + 1, last = max(last, excluded.last)",
            [(record, at) for record in wanted],
        )
        database.execute("COMMIT")
        return True
    return False


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
    database = open_unjournalled(path)
    try:
        database.set_busy_timeout(_BUSY_MILLISECONDS)
        database.pragma("journal_mode", "wal")
        database.pragma("synchronous", "normal")
        database.execute(_TABLE)
        yield database
    finally:
        database.close()
