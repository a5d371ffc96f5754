"""The scores of one question's documents, and the best of them."""

from collections.abc import Iterable, Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

# Scores in an array are padded to whole blocks of so many.
BLOCK = 1_024
# Where fewer than one place in so many has a score, they are looked at one by one.
_SPARSE = 8


class Scores:
    """The scores of the documents of one question, by place."""

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        raise NotImplementedError

    def among(self, places: Iterable[int], count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone."""
        raise NotImplementedError

    def of(self, place: int) -> float:
        """Return the score at a place, 0 for a document that holds no term."""
        raise NotImplementedError


class PlainScores(Scores):
    """Scores in a dictionary."""

    def __init__(self, scores: Mapping[int, float]) -> None:
        self._scores = scores

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        return nlargest(count, self._scores.items(), key=lambda pair: (pair[1], -pair[0]))

    def among(self, places: Iterable[int], count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone."""
        held = self._scores
        return PlainScores({place: held[place] for place in places if place in held}).top(count)

    def of(self, place: int) -> float:
        """Return the score at a place, 0 for a document that holds no term."""
        return self._scores.get(place, 0.0)


class ArrayScores(Scores):
    """Scores in an array over all places, padded to whole blocks.

    ``touched`` are the places that have one, by term.
    """

    def __init__(self, scores: "Array", touched: "Sequence[Array]") -> None:
        self._scores = scores
        self._touched = touched

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        import numpy as np

        if sum(map(len, self._touched)) * _SPARSE < len(self._scores):
            return self._top_touched(count)
        # As many blocks as are wanted have their best at this or above, so no less is among them.
        blocks = self._scores.reshape(-1, BLOCK).max(axis=1)
        least = 0.0
        if len(blocks) > count:
            least = float(np.partition(blocks, len(blocks) - count)[len(blocks) - count])
        over = self._scores >= least if least > 0 else self._scores > 0
        return self._best(np.flatnonzero(over), count)

    def _top_touched(self, count: int) -> list[tuple[int, float]]:
        """Do it by the places of the terms, which name one as often as it holds terms."""
        import numpy as np

        if not self._touched:
            return []
        places = np.concatenate(self._touched)
        most = count * len(self._touched)
        if len(places) > most:
            scores = self._scores[places]
            places = places[scores >= np.partition(scores, len(scores) - most)[-most]]
        return self._best(np.unique(places), count)

    def among(self, places: Iterable[int], count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone."""
        import numpy as np

        asked = np.unique(np.fromiter(places, dtype=np.int64))
        return self._best(asked[self._scores[asked] > 0], count)

    def of(self, place: int) -> float:
        """Return the score at a place, 0 for a document that holds no term."""
        return float(self._scores[place])

    def _best(self, places: "Array", count: int) -> list[tuple[int, float]]:
        import numpy as np

        scores = self._scores[places]
        if len(places) > count:
            least = np.partition(scores, len(scores) - count)[len(scores) - count]
            above, level = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
            kept = np.concatenate([above, level[: count - len(above)]])
            places, scores = places[kept], scores[kept]
        order = np.lexsort((places, -scores))
        return list(zip(places[order].tolist(), scores[order].tolist(), strict=True))
