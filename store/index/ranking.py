"""Rank documents by their postings, as the full-text engine's own BM25 would.

Few postings are added up in plain Python, so that a single command needs no numpy; many as arrays.
What was read is kept while nothing is written, up to a bound of bytes, for the next question.
"""

import sys
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from muniment.store.database import number
from muniment.store.index.match import K1, PREFIX_END, B, idf
from muniment.store.index.postings import (
    CHUNK,
    DOCUMENTS,
    PLACES,
    PURGES,
    TOKENS,
    by_chunk,
    dead_places,
    unpacked,
    without,
)
from muniment.store.index.scores import BLOCK, ArrayScores, PlainScores, Scores

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.text.query import Term

    Array: TypeAlias = np.ndarray[Any, Any]

# Of a word that stands in more documents than this, the newest so many are ranked.
MOST_OF_TERM = 1_000_000
# From so many postings on, loading numpy costs less than adding up without it.
MOST_PLAIN = 25_000
_MOST_BYTES_KEPT = 96 * 1024 * 1024
# What one posting takes as arrays: its place, and its part of the term's weight.
_BYTES = 8


class _State(NamedTuple):
    """What the index says of itself; postings that were read hold while it stays the same."""

    documents: int
    places: int
    tokens: int
    purges: int
    dead: int

    @property
    def average(self) -> float:
        """How many tokens a document has."""
        return max(self.tokens, 1) / max(self.places - self.dead, 1)


class Held(NamedTuple):
    """The postings of one term as read: (chunk, postings) rows in their order.

    The rows go when they were made arrays of; how many ``postings`` there are stays.
    """

    rows: list[tuple[int, bytes]]
    documents: int
    is_prefix: bool
    postings: int


class Ranking:
    """Scores documents by the terms that they hold; places name them."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._state = _State(0, 0, 0, 0, 0)
        self._seen = (-1, -1)
        self._dead: dict[int, set[int]] = {}
        self._held: dict[tuple[str, bool], Held] = {}
        self._places: dict[tuple[str, bool], Array] = {}
        self._weighed: dict[tuple[str, bool, float, float], tuple[Array, Array]] = {}
        self._kept = 0
        self._norms: Array | None = None
        # The scores of the last question, and the places that have one.
        self._scores: Array | None = None
        self._touched: list[Array] = []
        self._norm_of = _PlainNorms(database, 1.0)

    def refresh(self) -> None:
        """Forget what was read before the last write; call it once a question."""
        # What others committed shows in the one number, what this connection wrote in the other.
        seen = number(self._database, "PRAGMA data_version"), self._database.total_changes()
        if seen == self._seen:
            return
        names = (DOCUMENTS, PLACES, TOKENS, PURGES)
        marks = dict(
            self._database.execute("SELECT name, value FROM mark WHERE name IN (?, ?, ?, ?)", names)
        )
        # Between two purges the dead only grow in number.
        dead = number(self._database, "SELECT count(*) FROM dead")
        state = _State._make((*(int(marks[name]) for name in names), dead))
        if state != self._state:
            self._dead = by_chunk(dead_places(self._database))
            self._norms = None
            self._norm_of = _PlainNorms(self._database, state.average)
            self._scores, self._touched = None, []
            self._forget()
        # Only now: after a failure on the way all is looked at again.
        self._state, self._seen = state, seen

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self._state.documents

    def documents_with(self, term: "Term") -> int:
        """Return how many documents hold a term; a bounded reading is scaled up."""
        return self._read(term).documents

    def score(self, terms: "Sequence[Term]", times: Sequence[float]) -> "Scores":
        """Return the scores of the documents that hold any of the terms, good until the next call.

        ``times`` are what the stored bytes count for, 256 of them.
        """
        read = [(term, held) for term in terms if (held := self._read(term)).postings]
        postings = sum(held.postings for _, held in read)
        weighed = [(term, held, idf(held.documents, self.documents)) for term, held in read]
        if postings <= MOST_PLAIN and "numpy" not in sys.modules:
            return self._plain(weighed, times)
        return self._by_arrays(weighed, times)

    def once(self, place: int) -> float:
        """Return what something that stands once in the document at a place counts for."""
        return (K1 + 1) / (1 + self._norm_of[place])

    def may_stand_together(self, terms: "Sequence[Term]") -> bool:
        """Tell whether some document may hold all of the terms; looked up where arrays are used."""
        read = [(term, self._read(term)) for term in terms]
        rare = [(term, held) for term, held in read if held.documents <= MOST_PLAIN]
        if "numpy" not in sys.modules or len(rare) < 2:  # noqa: PLR2004 (nothing to intersect)
            return True
        import numpy as np

        found = [(self._places_of(term), held.is_prefix) for term, held in rare]
        # Those of a prefix come token by token; the others are in their order.
        inside = [np.unique(places) if is_prefix else places for places, is_prefix in found]
        together, *others = sorted(inside, key=len)
        for places in others:
            at = np.searchsorted(places[:-1], together)
            together = together[places[at] == together]
        return len(together) > 0

    def newest(self, share: float) -> int:
        """Return the place from which this share of all documents, or all of them, is newer."""
        return int(self._state.places * (1 - min(share, 1.0)))

    # --- reading ---------------------------------------------------------------------------------

    def _read(self, term: "Term") -> Held:
        key = (term.token, term.prefix)
        held = self._held.get(key)
        if held is None:
            held = self._from_database(term)
            if self._kept + _BYTES * held.postings > _MOST_BYTES_KEPT:
                self._forget()
            self._kept += _BYTES * held.postings
            self._held[key] = held
        return held

    def _forget(self) -> None:
        self._held.clear()
        self._places.clear()
        self._weighed.clear()
        self._kept = 0

    def _from_database(self, term: "Term") -> Held:
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
                covered = self._state.places - rows[-1][0] * CHUNK
                count = round(count * self._state.places / max(covered, 1))
                break
            alive = without(held, self._dead[chunk]) if chunk in self._dead else held
            rows.append((chunk, alive))
            count += len(alive) // 4
        rows.reverse()
        postings = sum(len(data) for _, data in rows) // 4
        if term.prefix:
            count = len({place for place, _ in unpacked(rows)}) if count <= MOST_PLAIN else count
        return Held(rows, count, term.prefix, postings)

    # --- without numpy ---------------------------------------------------------------------------

    def _plain(
        self, weighed: "Iterable[tuple[Term, Held, float]]", times: Sequence[float]
    ) -> "Scores":
        norms = self._norm_of
        scores: defaultdict[int, float] = defaultdict(float)
        for _, held, weight in weighed:
            often: Iterable[tuple[int, float]] = (
                (place, times[byte]) for place, byte in unpacked(held.rows)
            )
            if held.is_prefix:
                summed: defaultdict[int, float] = defaultdict(float)
                for place, count in often:
                    summed[place] += count
                often = summed.items()
            for place, count in often:
                scores[place] += weight * count * (K1 + 1) / (count + norms[place])
        return PlainScores(scores)

    # --- with numpy ------------------------------------------------------------------------------

    def _by_arrays(
        self,
        weighed: "Iterable[tuple[Term, Held, float]]",
        times: Sequence[float],
    ) -> "Scores":
        scores = self._cleared()
        for term, held, weight in weighed:
            places, shares = self._shares(term, held, times)
            self._touched.append(places)
            scores[places] += (weight * (K1 + 1)) * shares
        return ArrayScores(scores, self._touched)

    def _cleared(self) -> "Array":
        """Return an array of no scores for all places: the last question's, made empty again."""
        import numpy as np

        size = -(-max(self._state.places, 1) // BLOCK) * BLOCK
        if self._scores is None or len(self._scores) != size:
            self._scores = np.zeros(size, dtype=np.float32)
        for places in self._touched:
            self._scores[places] = 0.0
        self._touched = []
        return self._scores

    def _shares(self, term: "Term", held: Held, times: Sequence[float]) -> "tuple[Array, Array]":
        """Return the places that hold a term, each once, and what part of its whole weight it has
        at each: by how often it stands there and how long the document is.
        """
        import numpy as np

        key = (term.token, term.prefix, times[0x10], times[0x01])  # all the others follow from two
        found = self._weighed.get(key)
        if found is None:
            places, stored = self._decoded(term)
            often = np.asarray(times, dtype=np.float32)[stored]
            if held.is_prefix:
                places, inverse = np.unique(places, return_inverse=True)
                often = np.bincount(inverse, weights=often).astype(np.float32)
            found = self._weighed[key] = places, often / (often + self._all_norms()[places])
        return found

    def _places_of(self, term: "Term") -> "Array":
        """Return the places that hold a term; those of a prefix come token by token."""
        found = self._places.get((term.token, term.prefix))
        return self._decoded(term)[0] if found is None else found

    def _decoded(self, term: "Term") -> "tuple[Array, Array]":
        """Return the places that hold a term and what is stored at each, as arrays."""
        import numpy as np

        key = (term.token, term.prefix)
        held = self._read(term)
        rows = held.rows or self._from_database(term).rows
        chunks = np.asarray([chunk for chunk, _ in rows], dtype=np.int32)
        counts = np.asarray([len(data) // 4 for _, data in rows], dtype=np.int64)
        postings = np.frombuffer(b"".join(data for _, data in rows), dtype=np.uint32)
        offsets = (postings >> 8).astype(np.int32)
        places = self._places[key] = np.repeat(chunks * CHUNK, counts) + offsets
        self._held[key] = held._replace(rows=[])
        return places, (postings & 0xFF).astype(np.uint8)

    def _all_norms(self) -> "Array":
        import numpy as np

        if self._norms is None:
            lengths = np.zeros(max(self._state.places, 1), dtype=np.uint16)
            for chunk, tokens in self._database.execute("SELECT chunk, tokens FROM length"):
                own = np.frombuffer(tokens, dtype=np.uint16)
                lengths[chunk * CHUNK : chunk * CHUNK + len(own)] = own
            scale = np.float32(K1 * B / self._state.average)
            self._norms = np.float32(K1 * (1 - B)) + scale * lengths.astype(np.float32)
        return self._norms


class _PlainNorms(dict[int, float]):
    """What the length of each document adds, worked out when it is asked for."""

    def __init__(self, database: apsw.Connection, average: float) -> None:
        self._database = database
        self._average = average
        self._lengths: dict[int, array[int]] = {}

    def __missing__(self, place: int) -> float:
        chunk, offset = divmod(place, CHUNK)
        if chunk not in self._lengths:
            rows = self._database.execute("SELECT tokens FROM length WHERE chunk = ?", (chunk,))
            ((lengths,),) = rows
            self._lengths[chunk] = array("H", lengths)
        tokens = self._lengths[chunk][offset]
        norm = self[place] = K1 * (1 - B + B * tokens / self._average)
        return norm
