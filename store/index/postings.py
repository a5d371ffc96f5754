"""Postings: for each token, which documents hold it and how often, in chunks of documents.

The full-text table knows all of that, but ranking with it costs about two microseconds an
occurrence; these are read as arrays. A document stands at a *place*, a number that grows with every
write and is never used twice, so a document that is written anew leaves what was there before
behind: it leads to no document any more, until ``purge`` takes it out.

A posting is one unsigned 32-bit number: the place in its chunk, shifted by 8, and a byte of how
often the token stands in the document (high half) and in its context (low half), each at most 15.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping

import apsw

from muniment.store.database import rows

CHUNK = 8_192
_TOKENS_KEPT = 65_535
PLACES, TOKENS, PURGES = "places", "tokens", "purges"

TABLES = """
CREATE TABLE posting (
    chunk INTEGER NOT NULL, token TEXT NOT NULL, held BLOB NOT NULL, PRIMARY KEY (chunk, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE length (chunk INTEGER PRIMARY KEY, tokens BLOB NOT NULL) STRICT;
INSERT INTO mark VALUES ('places', 0), ('tokens', 0), ('purges', 0);
"""
_APPEND = (
    "INSERT INTO posting VALUES (?, ?, ?) ON CONFLICT DO UPDATE"
    " SET held = CAST(held || excluded.held AS BLOB)"
)
_APPEND_LENGTHS = (
    "INSERT INTO length VALUES (?, ?) ON CONFLICT DO UPDATE"
    " SET tokens = CAST(tokens || excluded.tokens AS BLOB)"
)


class PostingWriter:
    """Collects the postings of documents and writes them chunk by chunk."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        marks = dict(database.execute("SELECT name, value FROM mark WHERE name IN (?, ?)",
                                      (PLACES, TOKENS)))  # fmt: skip
        self._next, self._tokens = int(marks[PLACES]), int(marks[TOKENS])
        self._held: defaultdict[str, list[int]] = defaultdict(list)
        self._lengths = array("H")

    def add(self, held: Mapping[str, int], tokens: int) -> int:
        """Take in one document, with the byte that is kept of each token; return its place."""
        place = self._next
        self._next += 1
        self._tokens += tokens
        offset = place % CHUNK << 8
        collected = self._held
        for token, times in held.items():
            collected[token].append(offset | times)
        self._lengths.append(min(tokens, _TOKENS_KEPT))
        if self._next % CHUNK == 0:
            self.flush()
        return place

    def flush(self) -> None:
        """Write what was collected; call it in the transaction that wrote the documents."""
        if not self._lengths:
            return
        chunk = (self._next - 1) // CHUNK
        held = self._held
        self._database.executemany(
            _APPEND, ((chunk, token, array("I", held[token]).tobytes()) for token in sorted(held))
        )
        self._database.execute(_APPEND_LENGTHS, (chunk, self._lengths.tobytes()))
        self._database.executemany(
            "INSERT OR REPLACE INTO mark VALUES (?, ?)",
            [(PLACES, self._next), (TOKENS, self._tokens)],
        )
        self._held.clear()
        self._lengths = array("H")


def purge(database: apsw.Connection) -> None:
    """Take out what leads to no document any more."""
    for chunk, tokens in rows(database, "SELECT chunk, length(tokens) / 2 FROM length"):
        first = chunk * CHUNK
        statement = "SELECT place FROM doc WHERE place >= ? AND place < ?"
        live = {place - first for (place,) in rows(database, statement, (first, first + CHUNK))}
        if len(live) < tokens:
            _purge_chunk(database, chunk, live)
    database.execute("UPDATE mark SET value = value + 1 WHERE name = ?", (PURGES,))


def _purge_chunk(database: apsw.Connection, chunk: int, live: set[int]) -> None:
    statement = "SELECT token, held FROM posting WHERE chunk = ?"
    for token, held in rows(database, statement, (chunk,)):
        before = array("I", held)
        kept = array("I", [posting for posting in before if posting >> 8 in live])
        if not kept:
            database.execute("DELETE FROM posting WHERE chunk = ? AND token = ?", (chunk, token))
        elif len(kept) < len(before):
            database.execute(
                "UPDATE posting SET held = ? WHERE chunk = ? AND token = ?",
                (kept.tobytes(), chunk, token),
            )


def unpacked(held_in: Iterable[tuple[int, bytes]]) -> Iterable[tuple[int, int]]:
    """Yield (place, stored byte) of the postings of (chunk, postings) rows."""
    for chunk, held in held_in:
        first = chunk * CHUNK
        for posting in array("I", held):
            yield first + (posting >> 8), posting & 0xFF
