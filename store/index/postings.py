"""Postings: for each token, which documents hold it and how often, in chunks of documents.

The full-text table knows all of that, but ranking with it costs about two microseconds an
occurrence; these are read as arrays. A document stands at a *place*, a number that grows with every
write and is never used twice. A document that is written anew or removed leaves its postings
behind: its place is among the *dead* ones, which count nowhere, until ``purge`` takes them out.

A posting is one unsigned 32-bit number: the place in its chunk, shifted by 8, and a byte of how
often the token stands in the document (high half) and in its context (low half), each at most 15.
"""

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Protocol

import apsw

from muniment.store.database import rows
from muniment.store.index.told import told_by

if TYPE_CHECKING:
    from muniment.store.index.documents import Document
    from muniment.store.text.words import Cutter

CHUNK = 32_768
_TOKENS_KEPT = 65_535
# With more dead places than this, taking them out costs less than looking past them.
_MOST_DEAD = 1_024
# To search among postings takes as long as to look at about so many of them.
_LOOKS_OF_SEARCH = 8
DOCUMENTS, PLACES, TOKENS, PURGES = "documents", "places", "tokens", "purges"

TABLES = """
CREATE TABLE posting (
    chunk INTEGER NOT NULL, token TEXT NOT NULL, held BLOB NOT NULL, PRIMARY KEY (chunk, token)
) STRICT, WITHOUT ROWID;
CREATE TABLE length (chunk INTEGER PRIMARY KEY, tokens BLOB NOT NULL) STRICT;
CREATE TABLE dead (place INTEGER PRIMARY KEY) STRICT;
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


class Collector(Protocol):
    """Collects the postings of documents, one chunk after the other."""

    def take(self, offset: int) -> tuple[tuple[str, ...], int]:
        """Put the next document at an offset of its chunk; return its views and token count."""
        ...

    def drain(self) -> Iterable[tuple[str, bytes]]:
        """Yield the tokens in their order, with the postings of what was taken since."""
        ...


class PlainCollector:
    """Collects the postings of few documents, in plain Python."""

    def __init__(self, documents: "Iterable[Document]", cutter: "Cutter | None") -> None:
        self._documents = iter(documents)
        self._cutter = cutter
        self._held: defaultdict[str, list[int]] = defaultdict(list)

    def take(self, offset: int) -> tuple[tuple[str, ...], int]:
        """Put the next document at an offset of its chunk; return its views and token count."""
        told = told_by(next(self._documents), self._cutter)
        shifted = offset << 8
        collected = self._held
        for token, times in told.held.items():
            collected[token].append(shifted | times)
        return told.views, told.tokens

    def drain(self) -> Iterator[tuple[str, bytes]]:
        """Yield the tokens in their order, with the postings of what was taken since."""
        held = self._held
        for token in sorted(held):
            yield token, array("I", held[token]).tobytes()
        held.clear()


class PostingWriter:
    """Writes the postings of documents chunk by chunk."""

    def __init__(self, database: apsw.Connection, collector: Collector | None = None) -> None:
        self._database = database
        marks = dict(database.execute("SELECT name, value FROM mark WHERE name IN (?, ?)",
                                      (PLACES, TOKENS)))  # fmt: skip
        self._next, self._tokens = int(marks[PLACES]), int(marks[TOKENS])
        self._collector = collector or PlainCollector((), None)
        self._lengths = array("H")

    def add(self) -> tuple[int, tuple[str, ...]]:
        """Take the collector's next document; return its place and its views."""
        place = self._next
        views, tokens = self._collector.take(place % CHUNK)
        self._next += 1
        self._tokens += tokens
        self._lengths.append(min(tokens, _TOKENS_KEPT))
        if self._next % CHUNK == 0:
            self.flush()
        return place, views

    def bury(self, place: int) -> None:
        """Let a place count nowhere any more."""
        self._database.execute("INSERT INTO dead VALUES (?)", (place,))
        self._tokens -= self._length_at(place)

    def _length_at(self, place: int) -> int:
        unwritten = place - (self._next - len(self._lengths))
        if unwritten >= 0:
            return self._lengths[unwritten]
        chunk, offset = divmod(place, CHUNK)
        found = rows(self._database, "SELECT tokens FROM length WHERE chunk = ?", (chunk,))
        ((tokens,),) = found
        return int(array("H", tokens)[offset])

    def finish(self) -> None:
        """Write what is left, in the transaction that wrote the documents."""
        self.flush()
        self._mark()
        ((dead,),) = rows(self._database, "SELECT count(*) FROM dead")
        if dead > _MOST_DEAD:
            purge(self._database)

    def flush(self) -> None:
        """Write what was collected for the chunk."""
        if not self._lengths:
            return
        chunk = (self._next - 1) // CHUNK
        self._database.executemany(
            _APPEND, ((chunk, token, held) for token, held in self._collector.drain())
        )
        self._database.execute(_APPEND_LENGTHS, (chunk, self._lengths.tobytes()))
        self._lengths = array("H")

    def _mark(self) -> None:
        self._database.executemany(
            "INSERT OR REPLACE INTO mark VALUES (?, ?)",
            [(PLACES, self._next), (TOKENS, self._tokens)],
        )


def purge(database: apsw.Connection) -> None:
    """Take out what leads to no document any more."""
    for chunk, offsets in by_chunk(dead_places(database)).items():
        _purge_chunk(database, chunk, offsets)
    database.execute("DELETE FROM dead")
    database.execute("UPDATE mark SET value = value + 1 WHERE name = ?", (PURGES,))


def _purge_chunk(database: apsw.Connection, chunk: int, dead: set[int]) -> None:
    statement = "SELECT token, held FROM posting WHERE chunk = ?"
    for token, held in rows(database, statement, (chunk,)):
        kept = without(held, dead)
        if not kept:
            database.execute("DELETE FROM posting WHERE chunk = ? AND token = ?", (chunk, token))
        elif len(kept) < len(held):
            database.execute(
                "UPDATE posting SET held = ? WHERE chunk = ? AND token = ?", (kept, chunk, token)
            )


def dead_places(database: apsw.Connection) -> list[int]:
    """Return the places that count nowhere, in their order."""
    return [place for (place,) in rows(database, "SELECT place FROM dead ORDER BY place")]


def by_chunk(places: Iterable[int]) -> dict[int, set[int]]:
    """Return the offsets of places by chunk."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for place in places:
        found[place // CHUNK].add(place % CHUNK)
    return dict(found)


def without(held: bytes, dead: AbstractSet[int]) -> bytes:
    """Return the postings of a chunk but for those at some offsets."""
    postings = array("I", held)
    if len(postings) < len(dead) * _LOOKS_OF_SEARCH:
        alive = array("I", [posting for posting in postings if posting >> 8 not in dead])
        return held if len(alive) == len(postings) else alive.tobytes()
    for offset in dead:
        # What stands at a place is at least its offset with nothing beside it.
        at = bisect_left(postings, offset << 8)
        if at < len(postings) and postings[at] >> 8 == offset:
            del postings[at]
    return held if len(postings) * 4 == len(held) else postings.tobytes()


def unpacked(held_in: Iterable[tuple[int, bytes]]) -> Iterable[tuple[int, int]]:
    """Yield (place, stored byte) of the postings of (chunk, postings) rows."""
    for chunk, held in held_in:
        first = chunk * CHUNK
        for posting in array("I", held):
            yield first + (posting >> 8), posting & 0xFF
