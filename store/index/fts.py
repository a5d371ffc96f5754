"""Find documents by their words: SQLite's full-text engine over tokens that our analyser made."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.store.database import number
from muniment.store.index import match, statements
from muniment.store.index.documents import Document, Filters, Hit, Row, in_order
from muniment.store.index.schema import VIEWS, index_errors, open_index

if TYPE_CHECKING:
    import apsw

    from muniment.store.text.query import QueryAnalysis, Term, Unit
    from muniment.store.text.words import Cutter

# Measured on paragraph retrieval in both languages; see VIEWS for the order.
WEIGHTS: Mapping[str, float] = {
    "words": 1.0,
    "names": 1.0,
    "grams": 1.0,
    "cuts": 1.0,
    "title": 1.0,
    "context": 0.3,
}

# Equal scores are put in a fixed order after the engine's cut, so some more are asked for.
_TIES = 32
_MOST_VARIABLES = 500


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
                raise
            self._db.execute("COMMIT")

    # --- writing ---------------------------------------------------------------------------------

    def add(self, documents: Iterable[Document]) -> int:
        """Add documents, replacing those of the same ref; return how many were added."""
        added = 0
        with self.transaction():
            execute = self._db.execute
            before = self.count()
            for document in documents:
                values = statements.values_of(document)
                execute(statements.INSERT, values)
                if self._db.changes():
                    number = self._db.last_insert_rowid()
                    execute(
                        statements.INSERT_WORDS,
                        (number, *statements.views_of(document, self._cutter)),
                    )
                    added += 1
                    continue
                self._replace(document, values)
                before -= 1
                added += 1
            self.set_mark("documents", before + added)
        return added

    def _replace(self, document: Document, values: tuple[object, ...]) -> None:
        """Put a document in the place of that of its ref; its number goes on with the same text.

        A vector belongs to a number, so only what was said anew needs one.
        """
        execute = self._db.execute
        ((own, told),) = execute("SELECT rowid, told FROM doc WHERE ref = ?", (document.ref,))
        if told != values[-1]:
            self._delete([document.ref])
            execute(statements.INSERT, values)
            own = self._db.last_insert_rowid()
            execute(statements.INSERT_WORDS, (own, *statements.views_of(document, self._cutter)))
        else:
            execute(statements.UPDATE, (*values[1:], own))
            execute(statements.UPDATE_WORDS, (*statements.views_of(document, self._cutter), own))

    def remove(self, refs: Iterable[str]) -> int:
        """Remove documents by ref; return how many there were."""
        with self.transaction():
            removed = self._delete(refs)
            self.set_mark("documents", self.count() - removed)
        return removed

    def compact(self) -> None:
        """Rewrite the file without what was removed, and empty the log beside it."""
        with index_errors(self.path):
            self._db.execute("INSERT INTO fts (fts) VALUES ('optimize')")
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _delete(self, refs: Iterable[str]) -> int:
        execute = self._db.execute
        removed = 0
        for ref in refs:
            row = execute("DELETE FROM doc WHERE ref = ? RETURNING rowid", (ref,)).fetchone()
            if row is not None:
                execute("DELETE FROM fts WHERE rowid = ?", row)
                execute("INSERT INTO gone VALUES (?)", row)
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
        return int(self.get_mark("documents"))

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
        with index_errors(self.path):
            ask = (limit, filters, weights)
            chosen = match.choose(query.terms, self.count(), self._frequency)
            if chosen.common:
                found = self._with_common(query, chosen, ask)
            else:
                found = self._ranked(match.any_of(query, chosen.rare), *ask)
            if query.exact:
                whole = self._ranked(match.all_phrases(query), *ask)
                exact = {row.rowid for row, _ in whole}
                found += whole
            else:
                exact = set()
        best: dict[int, Hit] = {}
        for row, score in sorted(found, key=lambda pair: -pair[1]):
            best.setdefault(row.rowid, Hit(row, score, row.rowid in exact))
        ordered = sorted(best.values(), key=in_order)
        return ordered[:limit]

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
            statement = "SELECT 1 FROM doc WHERE kind = ? AND kind IN ('record', 'episode') LIMIT 1"
            return self._db.execute(statement, (kind,)).fetchone() is not None

    def idf(self, query: "QueryAnalysis") -> dict[str, float]:
        """Return the inverse document frequency of each unit of a question, by its text."""
        with index_errors(self.path):
            documents = self.count()
            found = {unit.text: self._unit_frequency(unit) for unit in query.units}
        return {
            text: log(1 + (max(documents - count, 0) + 0.5) / (count + 0.5))
            for text, count in found.items()
        }

    def check(self) -> None:
        """Read the whole index; raises ``IndexDamageError`` when it doesn't hold together."""
        from muniment.store.index.schema import damaged

        with index_errors(self.path):
            problems = self._db.execute("PRAGMA quick_check").fetchall()
            rows = number(self._db, "SELECT count(*) FROM doc")
            indexed = number(self._db, "SELECT count(*) FROM fts")
        if problems != [("ok",)] or not rows == indexed == self.count():
            raise damaged(self.path, "the index does not hold together")

    def _with_common(
        self,
        query: "QueryAnalysis",
        chosen: match.Chosen,
        ask: tuple[int, Filters | None, Mapping[str, float]],
    ) -> list[tuple[Row, float]]:
        """Rank all terms among the newest documents, the rare ones among all; common ones among
        all where the newest hold too few.
        """
        expression = match.any_of(query, [*chosen.rare, *chosen.common])
        if chosen.share < 1:
            newest = number(self._db, "SELECT max(rowid) FROM doc")
            found = self._ranked(expression, *ask, after=int(newest * (1 - chosen.share)))
            if len(found) >= ask[0]:
                return found + self._ranked(match.any_of(query, chosen.rare), *ask)
        return self._ranked(expression, *ask)

    def _ranked(
        self,
        expression: str,
        limit: int,
        filters: Filters | None,
        weights: Mapping[str, float],
        *,
        after: int = 0,
    ) -> list[tuple[Row, float]]:
        if not expression:
            return []
        if filters is not None and filters == Filters(origins=filters.origins) and filters.origins:
            # Most documents meet it: looking at the found ones costs less than joining all.
            wide = self._ranked(expression, 2 * limit, None, weights, after=after)
            kept = [pair for pair in wide if pair[0].origin in filters.origins]
            if len(kept) >= limit or len(wide) < 2 * limit:
                return kept
        where, values = match.conditions(filters)
        if after:
            where, values = where + " AND fts.rowid > ?", [*values, after]
        narrowed = "CROSS JOIN doc ON doc.rowid = fts.rowid" if "doc." in where else ""
        statement = (
            f"SELECT {statements.COLUMNS}, score FROM (SELECT fts.rowid AS place,"
            f" bm25(fts, {', '.join('?' * len(VIEWS))}) AS score FROM fts {narrowed}"
            f" WHERE fts MATCH ?{where} ORDER BY score LIMIT ?)"
            " CROSS JOIN doc ON doc.rowid = place"
        )
        factors = [weights[view] for view in VIEWS]
        rows = self._db.execute(statement, (*factors, expression, *values, limit + _TIES))
        return [(Row(*row[:-1]), -row[-1]) for row in rows]

    def _select(self, column: str, keys: Iterable[object]) -> Iterator[Row]:
        wanted = list(keys)
        with index_errors(self.path):
            for at in range(0, len(wanted), _MOST_VARIABLES):
                part = wanted[at : at + _MOST_VARIABLES]
                marks = ", ".join("?" * len(part))
                statement = f"SELECT {statements.COLUMNS} FROM doc WHERE {column} IN ({marks})"
                for row in self._db.execute(statement, part):
                    yield Row(*row)

    def _frequency(self, term: "Term") -> int:
        if term.prefix:
            return number(
                self._db,
                "SELECT sum(doc) FROM vocabulary WHERE term >= ? AND term < ?",
                (term.token, term.token + "\U0010ffff"),
            )
        return number(self._db, "SELECT doc FROM vocabulary WHERE term = ?", (term.token,))

    def _unit_frequency(self, unit: "Unit") -> int:
        from muniment.store.text.query import Term

        if len(unit.text) == 1 and unit.view == "grams":
            return self._frequency(Term("grams", unit.text, prefix=True))
        tokens = unit.grams or (unit.text,)
        return min(self._frequency(Term(unit.view, token)) for token in tokens)
