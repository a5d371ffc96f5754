"""Postings as they were read, kept for the next question up to a bound of bytes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from muniment.store.index.match import PREFIX_END
from muniment.store.index.norms import Norms
from muniment.store.index.postings import CHUNK, unpacked, without

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.text.query import Term

    Array: TypeAlias = np.ndarray[Any, Any]

# Of a word that stands in more documents than this, the newest so many are ranked.
MOST_OF_TERM = 1_000_000
# From so many postings on, loading numpy costs less than going through them without it.
MOST_PLAIN = 25_000
_MOST_BYTES_KEPT = 96 * 1024 * 1024
# What one posting takes as arrays: its place, and its part of the term's weight.
_BYTES = 8


class Shares(NamedTuple):
    """The places that hold a term, each once and in their order, what part of its whole weight it
    has at each, by how often it stands there and how long the document is, and the greatest part.
    """

    places: "Array"
    parts: "Array"
    most: float


class Held:
    """The postings of one term: (chunk, postings) rows in their order, later arrays instead.

    ``documents`` is how many hold it; where only the newest were read, that is scaled up.
    """

    __slots__ = ("documents", "places", "postings", "rows", "shares")

    def __init__(self, rows: list[tuple[int, bytes]], documents: int) -> None:
        self.rows = rows
        self.documents = documents
        self.postings = sum(len(data) for _, data in rows) // 4
        # Of a prefix they come token by token.
        self.places: Array | None = None
        self.shares: dict[tuple[float, float], Shares] = {}


class HeldPostings:
    """Reads postings through a connection; what was asked for longest ago goes first.

    They hold while nothing is written: what stands at ``dead`` places, by chunk, counts nowhere.
    """

    def __init__(
        self, database: apsw.Connection, norms: Norms, places: int, dead: Mapping[int, set[int]]
    ) -> None:
        self._database = database
        self._norms = norms
        self._places = places
        self._dead = dead
        self._held: dict[tuple[str, bool], Held] = {}
        # What each stored byte counts for, as arrays.
        self._counts: dict[tuple[float, float], Array] = {}
        self._bytes = 0

    def of(self, term: "Term") -> Held:
        """Return the postings of a term."""
        key = (term.token, term.prefix)
        held = self._held.pop(key, None)
        if held is None:
            held = self._read(term)
            self._bytes += _BYTES * held.postings
            while self._bytes > _MOST_BYTES_KEPT and self._held:
                oldest = self._held.pop(next(iter(self._held)))
                self._bytes -= _BYTES * oldest.postings
        self._held[key] = held  # the last now
        return held

    def places_of(self, term: "Term") -> "Array":
        """Return the places that hold a term; those of a prefix come token by token."""
        places = self.of(term).places
        return self._decoded(term)[0] if places is None else places

    def shares_of(self, term: "Term", times: Sequence[float]) -> Shares:
        """Return what the documents have of a term, given what each stored byte counts for."""
        import numpy as np

        held = self.of(term)
        key = (times[0x10], times[0x01])  # all the others follow from two
        found = held.shares.get(key)
        if found is None:
            places, stored = self._decoded(term)
            if key not in self._counts:
                self._counts[key] = np.asarray(times, dtype=np.float32)
            often = self._counts[key][stored]
            if term.prefix:
                places, inverse = np.unique(places, return_inverse=True)
                often = np.bincount(inverse, weights=often).astype(np.float32)
            parts = often / (often + self._norms.all()[places])
            found = held.shares[key] = Shares(places, parts, float(parts.max()))
        return found

    def _read(self, term: "Term") -> Held:
        condition, values = "p.token = ?", [term.token]
        if term.prefix:
            condition = "p.token >= ? AND p.token < ?"
            values.append(term.token + PREFIX_END)
        found = self._database.execute(
            "SELECT l.chunk, p.held FROM length l CROSS JOIN posting p ON p.chunk = l.chunk"
            f" AND {condition} ORDER BY l.chunk DESC",
            values,
        )
        rows: list[tuple[int, bytes]] = []
        count = 0
        for chunk, held in found:
            if count >= MOST_OF_TERM and chunk != rows[-1][0]:
                covered = self._places - rows[-1][0] * CHUNK
                count = round(count * self._places / max(covered, 1))
                break
            alive = without(held, self._dead[chunk]) if chunk in self._dead else held
            rows.append((chunk, alive))
            count += len(alive) // 4
        rows.reverse()
        if term.prefix and count <= MOST_PLAIN:
            count = len({place for place, _ in unpacked(rows)})
        return Held(rows, count)

    def _decoded(self, term: "Term") -> "tuple[Array, Array]":
        """Return the places that hold a term and what is stored at each, as arrays."""
        import numpy as np

        held = self.of(term)
        rows = held.rows or self._read(term).rows
        chunks = np.asarray([chunk for chunk, _ in rows], dtype=np.int32)
        counts = np.asarray([len(data) // 4 for _, data in rows], dtype=np.int64)
        postings = np.frombuffer(b"".join(data for _, data in rows), dtype=np.uint32)
        offsets = (postings >> 8).astype(np.int32)
        held.places = np.repeat(chunks * CHUNK, counts) + offsets
        held.rows = []
        return held.places, (postings & 0xFF).astype(np.uint8)
