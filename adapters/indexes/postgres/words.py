"""The documents of one generation on the server; the other engine is ``store.index.fts``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING

from muniment.adapters.indexes.postgres.conditions import conditions, storable
from muniment.adapters.indexes.postgres.connection import Connection, damaged
from muniment.adapters.indexes.postgres.ranking import COLUMNS, Ranker
from muniment.adapters.indexes.postgres.tables import Tables, vector_tables
from muniment.adapters.indexes.postgres.vectors import PostgresVectors
from muniment.adapters.indexes.postgres.writing import Writer
from muniment.store.index.documents import Document, Filters, Hit, Row
from muniment.store.index.match import OF_PLANES, PLANES, rarity
from muniment.store.index.told import WEIGHTS

if TYPE_CHECKING:
    from muniment.store.text.query import QueryAnalysis
    from muniment.store.text.words import Cutter

BATCH = 1_000
# So many new documents change what the server's planner should know.
_MANY = 1_000


class PostgresIndex:
    """One generation, over a connection of its own."""

    def __init__(
        self, connection: Connection, tables: Tables, cutter: "Cutter | None" = None
    ) -> None:
        self._db, self._tables = connection, tables
        self._writer = Writer(connection, tables, cutter)
        self._written = 0

    @property
    def generation(self) -> str:
        """The name of the generation, never used twice."""
        return f"gen-{self._tables.number}"

    def close(self) -> None:
        """Let the connection go."""
        self._db.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Make what the block writes one unit; inside another one, a part of that."""
        return self._db.transaction()

    # --- writing ---------------------------------------------------------------------------------

    def add(self, documents: Iterable[Document]) -> int:
        """Add documents, replacing those of the same ref; return how many were added."""
        added = 0
        with self.transaction():
            waiting = iter(documents)
            while batch := list(islice(waiting, BATCH)):
                added += len(batch)
                self._put(list({one.ref: one for one in batch}.values()))
        self._written += added
        return added

    def _put(self, batch: list[Document]) -> None:
        marks = self._counts()
        following, new, tokens = self._writer.put(batch, marks["next"])
        self._set_marks({
            "next": following, "documents": marks["documents"] + new,
            "places": marks["places"] + len(batch), "tokens": marks["tokens"] + tokens,
        })  # fmt: skip

    def remove(self, refs: Iterable[str]) -> int:
        """Remove documents by ref, with their vectors; return how many there were."""
        wanted = list(dict.fromkeys(refs))
        if not wanted:
            return 0
        with self.transaction():
            removed = self._writer.remove(wanted)
            if removed:
                self.set_mark("documents", self.count() - removed)
        self._written += removed
        return removed

    def settle(self) -> None:
        """Let the server look at what much was written, and index vectors that became many."""
        if self._written >= _MANY:
            for name in self._tables.names().values():
                self._db.run(f"VACUUM (ANALYZE) {name}")
            self._written = 0
        for table in vector_tables(self._db, self._tables):
            PostgresVectors.settle(self._db, self._tables, table)

    def compact(self) -> None:
        """Rewrite the tables without what was removed; the server then has no copy in them."""
        for name in self._tables.names().values():
            self._db.run(f"VACUUM (FULL, ANALYZE) {name}")
        for table in vector_tables(self._db, self._tables):
            self._db.run(f"VACUUM (FULL, ANALYZE) {table}")

    # --- marks -----------------------------------------------------------------------------------

    def get_mark(self, name: str, default: int | str = 0) -> int | str:
        """Return a watermark, such as the last ledger sequence that is indexed."""
        found = self._db.run(f"SELECT value FROM {self._tables.mark} WHERE name = :name", name=name)
        value: int | str = found[0][0] if found else default
        return value

    def set_mark(self, name: str, value: int | str) -> None:
        """Set a watermark, in the transaction that makes it true."""
        self._set_marks({name: value})

    def _set_marks(self, marks: Mapping[str, int | str]) -> None:
        self._db.run(
            f"INSERT INTO {self._tables.mark} SELECT * FROM unnest(CAST(:names AS text[]),"
            " CAST(:values AS jsonb[])) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            names=list(marks), values=[json.dumps(value) for value in marks.values()],
        )  # fmt: skip

    def _counts(self) -> dict[str, int]:
        rows = self._db.run(
            f"SELECT name, value FROM {self._tables.mark}"
            " WHERE name IN ('next', 'documents', 'places', 'tokens')"
        )
        return {name: int(value) for name, value in rows}

    def count(self) -> int:
        """Return the number of documents."""
        return int(self.get_mark("documents"))

    def gone(self) -> frozenset[int]:
        """Return the numbers of removed documents; they are never given out again."""
        return frozenset(row[0] for row in self._db.run(f"SELECT rowid FROM {self._tables.gone}"))

    # --- reading ---------------------------------------------------------------------------------

    def search(
        self,
        query: "QueryAnalysis",
        limit: int = 50,
        filters: Filters | None = None,
        weights: Mapping[str, float] = WEIGHTS,
    ) -> list[Hit]:
        """Return the best documents; those that hold a short or quoted question as it is lead."""
        return self._ranker().search(query, limit, filters, weights)

    def rows(self, rowids: Iterable[int]) -> dict[int, Row]:
        """Return stored documents by number; those removed are left out."""
        condition = "d.rowid = ANY(CAST(:keys AS integer[]))"
        return {row.rowid: row for row in self._select(condition, list(rowids))}

    def rows_of(self, refs: Iterable[str]) -> dict[str, Row]:
        """Return stored documents by ref."""
        condition = "d.ref = ANY(CAST(:keys AS text[]))"
        return {row.ref: row for row in self._select(condition, list(map(storable, refs)))}

    def matching(self, filters: Filters) -> list[int]:
        """Return the numbers of all documents that meet the filters."""
        where, values = conditions(filters)
        statement = f"SELECT d.rowid FROM {self._tables.document} d WHERE true{where}"
        return [row[0] for row in self._db.run(statement, **values)]

    def holds(self, kind: str) -> bool:
        """Tell whether there is any record or episode."""
        return kind in PLANES and bool(self._db.value(
            f"SELECT EXISTS (SELECT 1 FROM {self._tables.document}"
            f" WHERE kind = :kind AND {OF_PLANES})",
            kind=kind,
        ))  # fmt: skip

    def idf(self, query: "QueryAnalysis") -> dict[str, float]:
        """Return the inverse document frequency of each unit of a question, by its text."""
        ranker, documents = self._ranker(), self.count()
        found = {unit.text: ranker.documents_with(unit) for unit in query.units}
        return {text: rarity(count, documents) for text, count in found.items()}

    def check(self) -> None:
        """Compare the tables; raises ``IndexDamageError`` when they don't hold together."""
        tables = self._tables
        ((rows, named, held, counted),) = self._db.run(
            f"SELECT (SELECT count(*) FROM {tables.document}),"
            f" (SELECT coalesce(sum(cardinality(tokens)), 0) FROM {tables.document}),"
            f" (SELECT count(*) FROM {tables.posting}),"
            f" (SELECT coalesce(sum(documents), 0) FROM {tables.term})"
        )
        if rows != self.count() or not named == held == counted:
            raise damaged("the index does not hold together")

    def vectors(self, fingerprint: str, dimensions: int) -> PostgresVectors:
        """Return the vectors that the embedder of a fingerprint made for these documents."""
        return PostgresVectors(self._db, self._tables, fingerprint, dimensions)

    def _ranker(self) -> Ranker:
        return Ranker(self._db, self._tables, self._counts())

    def _select(self, condition: str, keys: list[int] | list[str]) -> Iterator[Row]:
        if keys:
            statement = f"SELECT {COLUMNS} FROM {self._tables.document} d WHERE {condition}"
            yield from (Row(*row) for row in self._db.run(statement, keys=keys))
