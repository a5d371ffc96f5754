"""Write documents: their rows, their postings, and how many documents hold each token."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from muniment.adapters.indexes.postgres.conditions import storable
from muniment.adapters.indexes.postgres.tables import take_vectors, vector_tables
from muniment.store.index.told import told_by

if TYPE_CHECKING:
    from muniment.adapters.indexes.postgres.connection import Connection
    from muniment.adapters.indexes.postgres.tables import Tables
    from muniment.store.index.documents import Document
    from muniment.store.text.words import Cutter

_FIELDS = {
    "rowid": "integer", "ref": "text", "kind": "text", "asset": "text", "seq": "bigint",
    "instant": "text", "family": "text", "origin": "text", "role": "text", "source": "text",
    "session": "text", "path": "text", "confidence": "float8", "grp": "text", "author": "text",
    "told": "bigint", "size": "integer", "spaced": "text", "paired": "text",
}  # fmt: skip
_DIGEST_BYTES = 8
_POSTINGS_AT_ONCE = 50_000


class Writer:
    """Writes batches of documents; call it inside a transaction."""

    def __init__(self, connection: "Connection", tables: "Tables", cutter: "Cutter | None") -> None:
        self._db, self._tables, self._cutter = connection, tables, cutter

    def put(self, documents: Sequence["Document"], first: int) -> tuple[int, int, int]:
        """Write documents of different refs; a number goes on with the same text.

        ``first`` is the next free number. Returns the next one then, how many documents are new to
        the index, and how many tokens were written.
        """
        known = self._known([document.ref for document in documents])
        digests = {storable(document.ref): _digest(document) for document in documents}
        replaced = [rowid for rowid, _ in known.values()]
        retold = [own for ref, (own, told) in known.items() if told != digests[ref]]
        self._take_out(replaced)
        self._note_gone(retold)
        kept = {ref: own for ref, (own, told) in known.items() if told == digests[ref]}
        columns: dict[str, list[Any]] = {name: [] for name in (*_FIELDS, "tokens")}
        postings: list[tuple[str, int, int, int]] = []
        size = 0
        for document in documents:
            ref = storable(document.ref)
            number = kept.get(ref, first)
            first += number == first
            told = told_by(document, self._cutter)
            size += told.tokens
            words, _, grams, cuts, title, context = told.views
            row = (
                number, *map(storable, (document.ref, document.kind, *document[5:])),
                digests[ref], told.tokens, f" {words} \n {title} \n {context} ",
                f" {grams} \n {cuts} ",
            )  # fmt: skip
            for name, value in zip(_FIELDS, row, strict=True):
                columns[name].append(value)
            columns["tokens"].append(_joined(told.held))
            postings += [(token, number, held, told.tokens) for token, held in told.held.items()]
        self._insert(columns)
        self._insert_postings(postings)
        self._count(Counter(token for token, *_ in postings))
        return first, len(documents) - len(known), size

    def remove(self, refs: Sequence[str]) -> int:
        """Remove documents with their postings and vectors; return how many there were."""
        known = self._known(refs)
        numbers = [rowid for rowid, _ in known.values()]
        self._take_out(numbers)
        self._note_gone(numbers)
        return len(numbers)

    def _known(self, refs: Sequence[str]) -> dict[str, tuple[int, int]]:
        if not refs:
            return {}
        rows = self._db.run(
            f"SELECT ref, rowid, told FROM {self._tables.document}"
            " WHERE ref = ANY(CAST(:refs AS text[]))",
            refs=[storable(ref) for ref in refs],
        )
        return {ref: (rowid, told) for ref, rowid, told in rows}

    def _take_out(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        tables = self._tables
        tokens = (
            f"SELECT d.rowid, t.token FROM {tables.document} d,"
            " unnest(d.tokens) AS t(token) WHERE d.rowid = ANY(CAST(:numbers AS integer[]))"
        )
        for statement in (
            f"UPDATE {tables.term} AS t SET documents = t.documents - o.times"
            f" FROM (SELECT token, count(*) AS times FROM ({tokens}) AS h GROUP BY token) AS o"
            " WHERE t.token = o.token",
            f"DELETE FROM {tables.term} AS t USING ({tokens}) AS o"
            " WHERE t.token = o.token AND t.documents <= 0",
            f"DELETE FROM {tables.posting} AS p USING ({tokens}) AS o"
            " WHERE p.token = o.token AND p.doc = o.rowid",
            f"DELETE FROM {tables.document} WHERE rowid = ANY(CAST(:numbers AS integer[]))",
        ):
            self._db.run(statement, numbers=list(numbers))

    def _note_gone(self, numbers: Sequence[int]) -> None:
        """Note numbers that are never given out again; their vectors go at once."""
        if not numbers:
            return
        self._db.run(
            f"INSERT INTO {self._tables.gone} SELECT unnest(CAST(:numbers AS integer[]))",
            numbers=list(numbers),
        )
        for table in vector_tables(self._db, self._tables):
            take_vectors(self._db, self._tables, table, numbers)

    def _insert(self, columns: dict[str, list[Any]]) -> None:
        names = ", ".join(_FIELDS)
        arrays = ", ".join(f"CAST(:{name} AS {kind}[])" for name, kind in _FIELDS.items())
        self._db.run(
            f"INSERT INTO {self._tables.document} ({names}, tokens)"
            f" SELECT {names}, string_to_array(tokens, ' ')"
            f" FROM unnest({arrays}, CAST(:tokens AS text[])) AS d({names}, tokens)",
            **columns,
        )

    def _insert_postings(self, postings: list[tuple[str, int, int, int]]) -> None:
        postings.sort()  # neighbours in the index go into the same page
        for at in range(0, len(postings), _POSTINGS_AT_ONCE):
            tokens, docs, helds, sizes = zip(*postings[at : at + _POSTINGS_AT_ONCE], strict=True)
            self._db.run(
                f"INSERT INTO {self._tables.posting} SELECT * FROM unnest(CAST(:tokens AS text[]),"
                " CAST(:docs AS integer[]), CAST(:helds AS smallint[]), CAST(:sizes AS integer[]))",
                tokens=texts(tokens), docs=numbers(docs), helds=numbers(helds),
                sizes=numbers(sizes),
            )  # fmt: skip

    def _count(self, times: Counter[str]) -> None:
        if not times:
            return
        self._db.run(
            f"INSERT INTO {self._tables.term} AS t SELECT * FROM unnest(CAST(:tokens AS text[]),"
            " CAST(:times AS integer[]))"
            " ON CONFLICT (token) DO UPDATE SET documents = t.documents + excluded.documents",
            tokens=texts(times), times=numbers(times.values()),
        )  # fmt: skip


def texts(values: Iterable[str]) -> str:
    """Return an array of texts as the server reads it: batches are large, the driver slow at it."""
    escaped = (value.replace("\\", "\\\\").replace('"', '\\"') for value in values)
    return "{" + ",".join(f'"{value}"' for value in escaped) + "}"


def numbers(values: Iterable[int]) -> str:
    """Return an array of numbers as the server reads it."""
    return "{" + ",".join(map(str, values)) + "}"


def _joined(held: dict[str, int]) -> str:
    return " ".join(held)


def _digest(document: "Document") -> int:
    """Return what says whether the text is the same."""
    told = f"{document.title}\n{document.text}".encode("utf-8", "replace")
    return int.from_bytes(blake2b(told, digest_size=_DIGEST_BYTES).digest(), "big", signed=True)
