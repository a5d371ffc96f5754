"""Find documents by their words: postings and SQLite's full-text engine over our tokens."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store.database import number
from muniment.store.index import match, statements
from muniment.store.index.documents import Document, Filters, Hit, Row
from muniment.store.index.postings import DOCUMENTS, Collector, PlainCollector, PostingWriter, purge
from muniment.store.index.schema import index_errors, open_index
from muniment.store.index.searching import Searcher
from muniment.store.index.told import WEIGHTS

if TYPE_CHECKING:
    import apsw

    from muniment.store.index.vectors import VectorIndex
    from muniment.store.text.query import QueryAnalysis
    from muniment.store.text.words import Cutter

_MOST_VARIABLES = 500
# From so many documents on, loading numpy costs less than taking them one by one.
_MANY = 1_500
_MANY_WITH_NUMPY = 256


class TextIndex:
    """The documents of one index generation, searchable by words.

    Every method raises ``IndexDamageError`` when the file turns out to be damaged.
    """

    def __init__(
        self, path: Path, *, readonly: bool = False, cutter: "Cutter | None" = None
    ) -> None:
        self.path = path
        self._cutter = cutter
        self._db: apsw.Connection = open_index(path, readonly=readonly)
        self._searcher = Searcher(self._db)

    @property
    def generation(self) -> str:
        """The name of the generation, never used twice."""
        return self.path.parent.name

    def close(self) -> None:
        """Let the file go."""
        self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Make what the block writes one unit; inside another one, a part of that."""
        with index_errors(self.path):
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                self._searcher = Searcher(self._db)  # what it read may never have been
                raise
            self._db.execute("COMMIT")

    # --- writing ---------------------------------------------------------------------------------

    def add(self, documents: Iterable[Document]) -> int:
        """Add documents, replacing those of the same ref; return how many were added."""
        told = list(documents)
        return self.write(map(statements.values_of, told), self._collector(told))

    def write(self, rows: Iterable[tuple[object, ...]], collector: Collector) -> int:
        """Add documents by the values of their rows, and what a collector gives of each in turn."""
        with self.transaction():
            before = self.count()
            writer = PostingWriter(self._db, collector)
            placed, words = [], []
            for values in rows:
                place, views = writer.add()
                placed.append((place, *values))
                words.append((place, *views))
            changes = self._db.total_changes()
            self._db.executemany(statements.INSERT, placed)
            added = self._db.total_changes() - changes
            self._db.executemany(statements.INSERT_WORDS, words)
            if added < len(placed):
                self._replace(placed, writer)
            writer.finish()
            self.set_mark(DOCUMENTS, before + added)
        return len(placed)

    def _collector(self, documents: list[Document]) -> Collector:
        if len(documents) < (_MANY_WITH_NUMPY if "numpy" in sys.modules else _MANY):
            return PlainCollector(documents, self._cutter)
        from muniment.store.index.inverting import InvertedCollector, invert

        return InvertedCollector(invert(documents, self._cutter))

    def _replace(self, placed: list[tuple[Any, ...]], writer: PostingWriter) -> None:
        """Put documents that have no row yet in the places of those of their refs.

        A document's number goes on with the same text: a vector belongs to a number, so only what
        was said anew needs one.
        """
        execute = self._db.execute
        statement = "SELECT place FROM doc WHERE place >= ?"
        taken = {row[0] for row in execute(statement, (placed[0][0],))}
        for values in placed:
            place, ref, *others = values
            if place in taken:
                continue
            ((own, old, told),) = execute(
                "SELECT rowid, place, told FROM doc WHERE ref = ?", (ref,)
            )
            if told != others[-1]:
                self._delete([ref], writer)
                execute(statements.INSERT, values)
            else:
                writer.bury(old)
                execute("DELETE FROM fts WHERE rowid = ?", (old,))
                execute(statements.UPDATE, (place, *others, own))

    def remove(self, refs: Iterable[str]) -> int:
        """Remove documents by ref; return how many there were."""
        with self.transaction():
            writer = PostingWriter(self._db)
            removed = self._delete(refs, writer)
            writer.finish()
            self.set_mark(DOCUMENTS, self.count() - removed)
        return removed

    def settle(self) -> None:
        """Do nothing: what was written is quick to search as it is."""

    def compact(self) -> None:
        """Rewrite the file without what was removed, and empty the log beside it."""
        with self.transaction():
            purge(self._db)
        with index_errors(self.path):
            self._db.execute("INSERT INTO fts (fts) VALUES ('optimize')")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _delete(self, refs: Iterable[str], writer: PostingWriter) -> int:
        execute = self._db.execute
        removed = 0
        for ref in refs:
            statement = "DELETE FROM doc WHERE ref = ? RETURNING rowid, place"
            row = execute(statement, (ref,)).fetchone()
            if row is not None:
                writer.bury(row[1])
                execute("DELETE FROM fts WHERE rowid = ?", (row[1],))
                execute("INSERT INTO gone VALUES (?)", (row[0],))
                removed += 1
        return removed

    # --- marks -----------------------------------------------------------------------------------

    def get_mark(self, name: str, default: int | str = 0) -> int | str:
        """Return a watermark, such as the last ledger sequence that is indexed."""
        with index_errors(self.path):
            row = self._db.execute("SELECT value FROM mark WHERE name = ?", (name,)).fetchone()
        return default if row is None else row[0]

    def set_mark(self, name: str, value: int | str) -> None:
        """Set a watermark, in the transaction that makes it true."""
        with index_errors(self.path):
            self._db.execute("INSERT OR REPLACE INTO mark VALUES (?, ?)", (name, value))

    def count(self) -> int:
        """Return the number of documents."""
        return int(self.get_mark(DOCUMENTS))

    def gone(self) -> frozenset[int]:
        """Return the numbers of removed documents; they are never given out again."""
        with index_errors(self.path):
            return frozenset(row[0] for row in self._db.execute("SELECT rowid FROM gone"))

    # --- reading ---------------------------------------------------------------------------------

    def search(
        self,
        query: "QueryAnalysis",
        limit: int = 50,
        filters: Filters | None = None,
        weights: Mapping[str, float] = WEIGHTS,
    ) -> list[Hit]:
        """Return the best documents; those that hold a short or quoted question as it is lead."""
        with self._snapshot():
            return self._searcher.search(query, limit, filters, weights)

    def rows(self, rowids: Iterable[int]) -> dict[int, Row]:
        """Return stored documents by number; those removed are left out."""
        return {row.rowid: row for row in self._select("doc.rowid", rowids)}

    def rows_of(self, refs: Iterable[str]) -> dict[str, Row]:
        """Return stored documents by ref."""
        return {row.ref: row for row in self._select("ref", refs)}

    def matching(self, filters: Filters) -> list[int]:
        """Return the numbers of all documents that meet the filters."""
        where, values = match.conditions(filters)
        with index_errors(self.path):
            statement = f"SELECT rowid FROM doc WHERE 1{where}"
            return [row[0] for row in self._db.execute(statement, values)]

    def holds(self, kind: str) -> bool:
        """Tell whether there is any record or episode."""
        with index_errors(self.path):
            statement = f"SELECT 1 FROM doc WHERE kind = ? AND {match.OF_PLANES} LIMIT 1"
            return self._db.execute(statement, (kind,)).fetchone() is not None

    def idf(self, query: "QueryAnalysis") -> dict[str, float]:
        """Return the inverse document frequency of each unit of a question, by its text."""
        with self._snapshot():
            documents = self._searcher.documents()
            found = {unit.text: self._searcher.documents_with(unit) for unit in query.units}
        return {text: match.rarity(count, documents) for text, count in found.items()}

    def vectors(self, fingerprint: str, dimensions: int) -> "VectorIndex":
        """Return the vectors that the embedder of a fingerprint made for these documents."""
        from muniment.store.index.vectors import VectorIndex

        return VectorIndex(self.path.parent, fingerprint, dimensions, self)

    def check(self) -> None:
        """Read the whole index; raises ``IndexDamageError`` when it doesn't hold together."""
        from muniment.store.index.schema import damaged

        with index_errors(self.path):
            problems = self._db.execute("PRAGMA quick_check").fetchall()
            rows = number(self._db, "SELECT count(*) FROM doc")
            indexed = number(self._db, "SELECT count(*) FROM fts")
        if problems != [("ok",)] or not rows == indexed == self.count():
            raise damaged(self.path, "the index does not hold together")

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let the reads of a block see one state."""
        with index_errors(self.path):
            if self._db.in_transaction:
                yield
                return
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                if self._db.in_transaction:
                    self._db.execute("COMMIT")

    def _select(self, column: str, keys: Iterable[object]) -> Iterator[Row]:
        wanted = list(keys)
        with index_errors(self.path):
            for at in range(0, len(wanted), _MOST_VARIABLES):
                part = wanted[at : at + _MOST_VARIABLES]
                marks = ", ".join("?" * len(part))
                statement = f"SELECT {statements.COLUMNS} FROM doc WHERE {column} IN ({marks})"
                for row in self._db.execute(statement, part):
                    yield Row(*row)
