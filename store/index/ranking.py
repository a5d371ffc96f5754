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
from muniment.store.index.held import MOST_PLAIN, Held, HeldPostings
from muniment.store.index.match import K1, idf
from muniment.store.index.norms import Norms
from muniment.store.index.postings import (
    DOCUMENTS,
    PLACES,
    PURGES,
    TOKENS,
    by_chunk,
    dead_places,
    unpacked,
)
from muniment.store.index.scores import (
    BLOCK,
    ArrayScores,
    Part,
    PlainScores,
    Scores,
    looked_up,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.text.query import Term

    Array: TypeAlias = np.ndarray[Any, Any]

# Of more common words it is likelier that some document holds all than worth a look.
_MOST_INTERSECTED = 25_000


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


class Ranking:
    """Scores documents by the terms that they hold; places name them."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._seen = (-1, -1)
        self._state = _State(0, 0, 0, 0, 0)
        self._norms = Norms(database, 0, 1.0)
        self._held = HeldPostings(database, self._norms, 0, {})
        # The scores of the last question.
        self._scores: ArrayScores | None = None

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
            buried = by_chunk(dead_places(self._database))
            self._norms = Norms(self._database, state.places, state.average)
            self._held = HeldPostings(self._database, self._norms, state.places, buried)
            self._scores = None
        # Only now: after a failure on the way all is looked at again.
        self._state, self._seen = state, seen

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self._state.documents

    def documents_with(self, term: "Term") -> int:
        """Return how many documents hold a term; a bounded reading is scaled up."""
        return self._held.of(term).documents

    def score(
        self, terms: "Sequence[Term]", times: Sequence[float], barred: "array[int] | None" = None
    ) -> "Scores":
        """Return the scores of the documents that hold any of the terms, good until the next call.

        ``times`` are what the stored bytes count for, 256 of them. What stands at ``barred`` places
        is not wanted.
        """
        read = [(term, held) for term in terms if (held := self._held.of(term)).postings]
        weighed = [(term, held, idf(held.documents, self.documents)) for term, held in read]
        postings = sum(held.postings for _, held in read)
        if postings <= MOST_PLAIN and "numpy" not in sys.modules:
            return PlainScores(self._plain(weighed, times), barred or ())
        parts = []
        for term, _, weight in weighed:
            places, shares, most = self._held.shares_of(term, times)
            factor = weight * (K1 + 1)
            parts.append(Part(places, shares, factor, factor * most))
        self._scores = ArrayScores(self._cleared(), parts, barred)
        return self._scores

    def once(self, place: int) -> float:
        """Return what something that stands once in the document at a place counts for."""
        return (K1 + 1) / (1 + self._norms[place])

    def may_stand_together(self, terms: "Sequence[Term]") -> bool:
        """Tell whether some document may hold all of the terms; looked up where arrays are used."""
        rare = [term for term in terms if self._held.of(term).documents <= _MOST_INTERSECTED]
        if "numpy" not in sys.modules or len(rare) < 2:  # noqa: PLR2004 (nothing to intersect)
            return True
        import numpy as np

        found = [(self._held.places_of(term), term.prefix) for term in rare]
        # Those of a prefix come token by token; the others are in their order.
        inside = [np.unique(places) if is_prefix else places for places, is_prefix in found]
        together, *others = sorted(inside, key=len)
        for places in others:
            together = together[looked_up(places, together)[1]]
        return len(together) > 0

    def newest(self, share: float) -> int:
        """Return the place from which this share of all documents, or all of them, is newer."""
        return int(self._state.places * (1 - min(share, 1.0)))

    def _plain(
        self, weighed: "Iterable[tuple[Term, Held, float]]", times: Sequence[float]
    ) -> dict[int, float]:
        norms = self._norms
        scores: defaultdict[int, float] = defaultdict(float)
        for term, held, weight in weighed:
            often: Iterable[tuple[int, float]] = (
                (place, times[byte]) for place, byte in unpacked(held.rows)
            )
            if term.prefix:
                summed: defaultdict[int, float] = defaultdict(float)
                for place, count in often:
                    summed[place] += count
                often = summed.items()
            for place, count in often:
                scores[place] += weight * count * (K1 + 1) / (count + norms[place])
        return scores

    def _cleared(self) -> "Array":
        """Return an array of no scores for all places: the last question's, made empty again."""
        import numpy as np

        if self._scores is not None:
            return self._scores.cleared()
        return np.zeros(-(-max(self._state.places, 1) // BLOCK) * BLOCK, dtype=np.float32)
