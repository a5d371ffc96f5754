"""Which generation of a scope's index is live on the server, and how another takes its place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from muniment.adapters.indexes.postgres.connection import SCHEMA, Connection, damaged
from muniment.adapters.indexes.postgres.tables import (
    SCHEMA_VERSION,
    Tables,
    create,
    drop,
    number_of,
    prepare,
    vector_tables,
)
from muniment.adapters.indexes.postgres.words import PostgresIndex
from muniment.store.text.words import ANALYSER_VERSION, analyse

if TYPE_CHECKING:
    from muniment.adapters.indexes.postgres.address import Address
    from muniment.store.text.words import Cutter

_GENERATION = f"{SCHEMA}.generation"
# Row-level security says so, too; this lets the server use the key.
_OWN = "scope = :scope"


class PostgresIndexes:
    """The generations of one scope; the index lock beside the ledger keeps writers apart.

    ``scope`` is 16 hex digits. Every call raises ``IndexServerError`` when the server can't be
    reached or refuses.
    """

    def __init__(self, address: "Address", scope: str) -> None:
        self._address, self._scope = address, scope

    def current(self) -> str:
        """Return the name of the live generation.

        Raises ``IndexDamageError`` (``index_missing``) when there is none.
        """
        connection = self._connect(readonly=True)
        try:
            return f"gen-{self._live(connection).number}"
        finally:
            connection.close()

    def create(self, cutter: "Cutter | None" = None) -> PostgresIndex:
        """Begin a generation beside the live one and open it for writing."""
        connection = self._connect(readonly=False)
        try:
            prepare(connection)
            last = connection.value(f"SELECT max(number) FROM {_GENERATION} WHERE {_OWN}",
                                    scope=self._scope)  # fmt: skip
            tables = Tables(self._scope, int(last or 0) + 1)
            create(connection, tables)
        except BaseException:
            connection.close()
            raise
        return PostgresIndex(connection, tables, cutter)

    def promote(self, generation: str) -> None:
        """Make a generation the live one; readers of the old one find out at their next call."""
        self._run(
            f"UPDATE {_GENERATION} SET live = (number = :number) WHERE {_OWN}",
            number=number_of(generation),
        )

    def prune(self) -> int:
        """Drop every generation but the live one; return how many went."""
        connection = self._connect(readonly=False)
        try:
            live = self._live(connection).number
            others = [number for number in self._numbers(connection) if number != live]
            for number in others:
                drop(connection, Tables(self._scope, number))
        finally:
            connection.close()
        return len(others)

    def open(self, *, readonly: bool = True, cutter: "Cutter | None" = None) -> PostgresIndex:
        """Open the live generation; raises ``IndexDamageError`` when there is none."""
        connection = self._connect(readonly=readonly)
        try:
            tables = self._live(connection)
            self._require_version(connection, tables)
        except BaseException:
            connection.close()
            raise
        return PostgresIndex(connection, tables, cutter)

    def discard(self) -> None:
        """Drop every generation: the next refresh begins from nothing."""
        connection = self._connect(readonly=False)
        try:
            for number in self._numbers(connection):
                drop(connection, Tables(self._scope, number))
        finally:
            connection.close()

    def traces(self, ids: Sequence[str], passages: Sequence[str]) -> list[str]:
        """Return the rows on the server that name erased ids or hold erased passages."""
        connection = self._connect(readonly=True)
        try:
            found: list[str] = []
            for number in self._numbers(connection):
                found += _traces(connection, Tables(self._scope, number), ids, passages)
            return found
        finally:
            connection.close()

    def _connect(self, *, readonly: bool) -> Connection:
        return Connection(self._address, self._scope, readonly=readonly)

    def _run(self, statement: str, **values: object) -> None:
        connection = self._connect(readonly=False)
        try:
            connection.run(statement, scope=self._scope, **values)
        finally:
            connection.close()

    def _numbers(self, connection: Connection) -> list[int]:
        if not connection.value(f"SELECT to_regclass('{_GENERATION}') IS NOT NULL"):
            return []
        rows = connection.run(f"SELECT number FROM {_GENERATION} WHERE {_OWN} ORDER BY number",
                              scope=self._scope)  # fmt: skip
        return [row[0] for row in rows]

    def _live(self, connection: Connection) -> Tables:
        number = None
        if connection.value(f"SELECT to_regclass('{_GENERATION}') IS NOT NULL"):
            number = connection.value(f"SELECT number FROM {_GENERATION} WHERE {_OWN} AND live",
                                      scope=self._scope)  # fmt: skip
        if number is None:
            raise damaged("there is no index on the server yet", "index_missing")
        return Tables(self._scope, number)

    def _require_version(self, connection: Connection, tables: Tables) -> None:
        ((analyser, version),) = connection.run(
            f"SELECT analyser, version FROM {_GENERATION} WHERE {_OWN} AND number = :number",
            scope=self._scope, number=tables.number,
        )  # fmt: skip
        if (analyser, version) != (ANALYSER_VERSION, SCHEMA_VERSION):
            raise damaged("the index was made by another version", "index_outdated")


def _traces(
    connection: Connection, tables: Tables, ids: Sequence[str], passages: Sequence[str]
) -> list[str]:
    said = [" ".join(words) for one in passages if len(words := analyse(one).words) > 1]
    cut = [" ".join(grams[:-1]) for one in passages if len(grams := analyse(one).grams) > 2]  # noqa: PLR2004
    rows = connection.run(
        f"SELECT d.ref FROM {tables.document} d WHERE EXISTS (SELECT 1 FROM"
        " unnest(CAST(:ids AS text[])) AS i(id) WHERE strpos(d.ref, i.id) > 0"
        " OR strpos(d.asset, i.id) > 0 OR strpos(d.grp, i.id) > 0) OR EXISTS (SELECT 1 FROM"
        " unnest(CAST(:said AS text[])) AS s(words) WHERE strpos(d.spaced, s.words) > 0)"
        " OR EXISTS (SELECT 1 FROM unnest(CAST(:cut AS text[])) AS c(grams)"
        " WHERE strpos(d.paired, c.grams) > 0)",
        ids=list(ids), said=said, cut=cut,
    )  # fmt: skip
    orphans = [
        f"{table}:{doc}"
        for table in vector_tables(connection, tables)
        for (doc,) in connection.run(
            f"SELECT v.doc FROM {table} v WHERE NOT EXISTS"
            f" (SELECT 1 FROM {tables.document} d WHERE d.rowid = v.doc)"
        )
    ]
    return [str(row[0]) for row in rows] + orphans
