"""Vectors on the server: a graph index chooses candidates, the stored rows score them exactly.

Rows are float16 of the unit vector, as in the other engine. Up to ``EXACT_ROWS`` of them all are
scored; above that pgvector's HNSW index is built and searched.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from muniment.adapters.indexes.postgres.conditions import conditions
from muniment.adapters.indexes.postgres.tables import (
    Tables,
    count_more,
    counted,
    protection,
    take_vectors,
    vector_tables,
)
from muniment.store.ids import digest
from muniment.store.index.match import COSINE_STEPS, EXACT_ROWS
from muniment.store.index.told import unit_rows

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.adapters.indexes.postgres.connection import Connection
    from muniment.store.index.documents import Filters

    Array: TypeAlias = np.ndarray[Any, Any]

_LEAST_CANDIDATES, _MOST_CANDIDATES = 400, 1_000
_CANDIDATES_EACH = 2
_BLOCK = 4_096
# What building the graph may use of the server's memory; less makes it much slower.
_BUILD_MEMORY = "1GB"
# Of unit vectors the negative inner product is the negative cosine. The graph goes by float16 on
# both sides; what is returned is scored with the query as it is, as in the other engine.
_NEAR = "v.vec <#> CAST(CAST(:query AS text) AS halfvec)"
_STEPS = f"round((CAST(vec AS vector) <#> CAST(CAST(:query AS text) AS vector)) * {COSINE_STEPS})"
_INDEXED = (
    "SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
    " JOIN pg_am a ON a.oid = c.relam WHERE i.indrelid = CAST(:name AS regclass)"
    " AND a.amname = 'hnsw' AND i.indisvalid)"
)


class PostgresVectors:
    """The vectors that one embedder made for the documents of a generation."""

    def __init__(
        self, connection: "Connection", tables: Tables, fingerprint: str, dimensions: int
    ) -> None:
        self._db, self._tables = connection, tables
        self._table = tables.vector(digest(fingerprint)[:16])
        self.dimensions = dimensions

    def __len__(self) -> int:
        """Return the number of vectors."""
        return counted(self._db, self._tables, self._table)

    def append(self, rows: "Iterable[tuple[int, Sequence[float] | Array]]") -> None:
        """Add (document number, vector) pairs; vectors are scaled to length one."""
        pairs = list(rows)
        if not pairs:
            return
        matrix = unit_rows(pairs, self.dimensions)
        with self._db.transaction():
            self._make()
            numbers = [int(doc) for doc, _ in pairs]
            take_vectors(self._db, self._tables, self._table, numbers)
            count_more(self._db, self._tables, self._table, len(pairs))
            self._db.run(
                f"INSERT INTO {self._table} SELECT doc, CAST(vec AS halfvec) FROM"
                " unnest(CAST(:docs AS integer[]), CAST(:vecs AS text[])) AS v(doc, vec)",
                docs=numbers, vecs=[_text(row) for row in matrix],
            )  # fmt: skip

    def nearest(
        self, vector: "Sequence[float] | Array", k: int, filters: "Filters | None" = None
    ) -> list[tuple[int, float]]:
        """Return (document number, cosine) of the k nearest live documents, nearest first."""
        import numpy as np

        if not self._exists():
            return []
        query = np.asarray(vector, dtype=np.float32)
        query = query / max(float(np.linalg.norm(query)), 1e-12)
        where, values = conditions(filters)
        if self._are_few(where, values):
            rows = self._db.run(
                f"WITH allowed AS MATERIALIZED ({self._allowed(where)})"
                f" SELECT doc, {_STEPS} AS far FROM allowed ORDER BY far, doc LIMIT :k",
                query=str(query.tolist()), k=k, **values,
            )  # fmt: skip
        else:
            rows = self._by_graph(str(query.tolist()), k, where, values)
        return [(doc, -float(far) / COSINE_STEPS) for doc, far in rows]

    def _by_graph(self, query: str, k: int, where: str, values: dict[str, Any]) -> list[list[Any]]:
        wanted = min(max(_LEAST_CANDIDATES, _CANDIDATES_EACH * k), _MOST_CANDIDATES)
        with self._db.transaction():
            self._db.run(f"SET LOCAL hnsw.ef_search = {wanted}")
            self._db.run("SET LOCAL hnsw.iterative_scan = relaxed_order")
            self._db.run("SET LOCAL enable_seqscan = off")
            return self._db.run(
                f"SELECT doc, {_STEPS} AS far FROM ("
                f"{self._allowed(where)} ORDER BY {_NEAR} LIMIT {wanted}) AS near"
                " ORDER BY far, doc LIMIT :k",
                query=query, k=k, **values,
            )  # fmt: skip

    def missing(self) -> list[int]:
        """Return the numbers of the documents without a vector, newest first."""
        statement = f"SELECT d.rowid FROM {self._tables.document} d {self._without()}"
        return [row[0] for row in self._db.run(f"{statement} ORDER BY d.rowid DESC")]

    def lacking(self) -> int:
        """Return how many documents have no vector."""
        return counted(self._db, self._tables, "documents") - len(self)

    def blocks(self) -> "Iterator[tuple[Array, Array]]":
        """Yield (document numbers, float32 unit rows), to be copied elsewhere."""
        import numpy as np

        last = 0
        while self._exists():
            rows = self._db.run(
                f"SELECT doc, CAST(vec AS text) FROM {self._table} WHERE doc > :last"
                f" ORDER BY doc LIMIT {_BLOCK}",
                last=last,
            )
            if not rows:
                return
            last = rows[-1][0]
            matrix = [np.fromstring(text[1:-1], dtype=np.float32, sep=",") for _, text in rows]
            yield np.asarray([doc for doc, _ in rows], dtype=np.int64), np.asarray(matrix)

    def erase(self, rowids: Iterable[int]) -> int:
        """Destroy the vectors of documents; return how many there were."""
        if not self._exists():
            return 0
        return take_vectors(self._db, self._tables, self._table, list(rowids))

    def drop_others(self) -> None:
        """Remove the vectors that another embedder made for the same generation."""
        for table in vector_tables(self._db, self._tables):
            if table != self._table:
                self._db.run(f"DROP TABLE {table}")
                self._db.run(f"DELETE FROM {self._tables.mark} WHERE name = '{table}'")

    @staticmethod
    def settle(connection: "Connection", tables: Tables, table: str) -> None:
        """Build the graph of a table that became large enough for one."""
        if connection.value(_INDEXED, name=table):
            return
        if counted(connection, tables, table) > EXACT_ROWS:
            connection.run(f"SET maintenance_work_mem = '{_BUILD_MEMORY}'")
            connection.run(f"CREATE INDEX ON {table} USING hnsw (vec halfvec_ip_ops)")
            connection.run(f"VACUUM (ANALYZE) {table}")

    def _make(self) -> None:
        if not self._exists():
            self._db.run(
                f"CREATE TABLE {self._table}"
                f" (doc integer PRIMARY KEY, vec halfvec({self.dimensions}) NOT NULL);"
                + protection(self._table, self._tables.scope)
            )

    def _exists(self) -> bool:
        return bool(self._db.value("SELECT to_regclass(:name) IS NOT NULL", name=self._table))

    def _are_few(self, where: str, values: dict[str, Any]) -> bool:
        """Tell whether all that may answer can be scored, or there is no graph yet."""
        if not self._db.value(_INDEXED, name=self._table):
            return True
        few = f"SELECT 1 FROM ({self._allowed(where)}) AS allowed LIMIT {EXACT_ROWS + 1}"
        return bool(self._db.value(f"SELECT count(*) FROM ({few}) AS few", **values) <= EXACT_ROWS)

    def _allowed(self, where: str) -> str:
        return f"SELECT v.doc, v.vec FROM {self._table} v {self._joined(where)} WHERE true{where}"

    def _joined(self, where: str) -> str:
        return f"JOIN {self._tables.document} d ON d.rowid = v.doc" if where else ""

    def _without(self) -> str:
        if not self._exists():
            return ""
        return f"WHERE NOT EXISTS (SELECT 1 FROM {self._table} v WHERE v.doc = d.rowid)"


def _text(vector: "Array") -> str:
    """Return a vector as the server reads it, rounded to float16 here as in the other engine."""
    import numpy as np

    return str(vector.astype(np.float16).astype(float).tolist())
