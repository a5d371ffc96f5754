"""What a ledger's tables look like to an archive, read from the schema itself."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import apsw

_NATURAL = ("id", "fingerprint")
# Digests under this store's own key mean nothing in another one, and work that is under way here
# is not to be done there.
_LOCAL = {"forgotten", "forgotten_lift", "erasure"}


@dataclass(frozen=True, slots=True)
class Reference:
    """A column's target: the table, the column that the value equals, and the target's own id."""

    table: str
    column: str
    natural: str


@dataclass(frozen=True)
class Table:
    """One table: its columns in order, what rows are ordered by, and what columns point at."""

    name: str
    columns: tuple[str, ...]
    order: tuple[str, ...]
    references: dict[str, Reference]
    needs: frozenset[str]

    @cached_property
    def selection(self) -> str:
        """The statement that reads every row as an archive holds it."""
        columns = ", ".join(self._read(column) for column in self.columns)
        order = ", ".join(f't."{column}"' for column in self.order)
        return f'SELECT {columns} FROM "{self.name}" t ORDER BY {order}'

    @cached_property
    def insertion(self) -> str:
        """The statement that writes one row; an id that nothing has becomes a broken reference."""
        columns = ", ".join(f'"{column}"' for column in self.columns)
        values = ", ".join(self._written(n, c) for n, c in enumerate(self.columns, 1))
        return f'INSERT INTO "{self.name}" ({columns}) VALUES ({values})'

    @cached_property
    def copying(self) -> str:
        """The statement that copies every row from an attached ledger."""
        columns = ", ".join(f'"{column}"' for column in self.columns)
        order = ", ".join(f'"{column}"' for column in self.order)
        return (
            f'INSERT INTO main."{self.name}" ({columns}) '
            f'SELECT {columns} FROM incoming."{self.name}" ORDER BY {order}'
        )

    def _read(self, column: str) -> str:
        target = self.references.get(column)
        if target is None:
            return f't."{column}"'
        return (
            f'(SELECT r."{target.natural}" FROM "{target.table}" r '
            f'WHERE r."{target.column}" = t."{column}")'
        )

    def _written(self, number: int, column: str) -> str:
        target = self.references.get(column)
        if target is None:
            return f"?{number}"
        found = (
            f'(SELECT r."{target.column}" FROM "{target.table}" r '
            f'WHERE r."{target.natural}" = ?{number})'
        )
        return f"CASE WHEN ?{number} IS NULL THEN NULL ELSE coalesce({found}, -1) END"


def tables(database: apsw.Connection) -> list[Table]:
    """Return the tables of an archive so that each comes after those it points at."""
    names = [
        str(row[0])
        for row in database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' "
            "AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        )
        if row[0] not in _LOCAL
    ]
    waiting = [_table(database, name) for name in names]
    ordered: list[Table] = []
    done: set[str] = set()
    while waiting:
        ready = [table for table in waiting if table.needs <= done | {table.name}]
        # A ring can't be ordered; its references are checked when everything is there.
        ready = ready or waiting[:1]
        ordered += ready
        done |= {table.name for table in ready}
        waiting = [table for table in waiting if table.name not in done]
    return ordered


def to_json(value: Any) -> Any:
    """Return a value of SQLite as JSON can hold it."""
    if not isinstance(value, bytes):
        return value
    try:
        return {"utf8": value.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}


def from_json(value: Any) -> Any:
    """Return a value of an archive as SQLite takes it; raise ``ValueError`` for anything else."""
    if isinstance(value, dict):
        if "utf8" in value:
            return str(value["utf8"]).encode("utf-8")
        return base64.b64decode(value["base64"], validate=True)
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    raise ValueError(type(value).__name__)


def _columns(database: apsw.Connection, name: str) -> Iterator[tuple[str, int]]:
    rows = database.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,))
    yield from ((str(column), int(key)) for column, key in rows)


def _unique(database: apsw.Connection, name: str) -> set[str]:
    """Return the columns that no two rows of a table share a value of."""
    rows = database.execute(
        "SELECT min(i.name) FROM pragma_index_list(?) l, pragma_index_info(l.name) i "
        'WHERE l."unique" AND NOT l.partial GROUP BY l.name HAVING count(*) = 1',
        (name,),
    )
    return {str(row[0]) for row in rows}


def _table(database: apsw.Connection, name: str) -> Table:
    columns = list(_columns(database, name))
    references, needs = {}, set()
    for target, source, column in database.execute(
        'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)', (name,)
    ):
        needs.add(target)
        own = [name for name in _NATURAL if name in _unique(database, target)]
        if own and column is not None and own[0] != column:
            references[source] = Reference(target, column, own[0])
    keys = [column for column, key in sorted(columns, key=lambda one: one[1]) if key]
    return Table(
        name=name,
        columns=tuple(column for column, _ in columns),
        order=tuple(keys) or ("rowid",),
        references=references,
        needs=frozenset(needs),
    )
