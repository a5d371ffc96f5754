"""The scores of one question's documents, and the best of them."""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]

# Scores in an array are padded to whole blocks of so many.
BLOCK = 1_024
# Where fewer than one place in so many has a score, they are looked at one by one.
_SPARSE = 64
# Terms of fewer postings are added up without a look at whether that is needed.
_WORTH_A_LOOK = 8_192
# To look a term up at a place takes as long as to add so many of its postings.
_ADDS_OF_LOOK = 8
# Sums of some numbers are this exact in four bytes.
_EXACT = 1 - 1e-5


class Scores:
    """The scores of the documents of one question, by place."""

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        raise NotImplementedError

    def among(self, places: "array[int]", count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone, each named once."""
        raise NotImplementedError

    def of(self, places: Sequence[int]) -> list[float]:
        """Return the scores at places, 0 for a document that holds no term."""
        raise NotImplementedError


class PlainScores(Scores):
    """Scores in a dictionary, of all places but those that are ``barred``."""

    def __init__(self, scores: Mapping[int, float], barred: Iterable[int] = ()) -> None:
        out = scores.keys() & barred
        self._scores = {place: scores[place] for place in scores.keys() - out} if out else scores

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        scored = (pair for pair in self._scores.items() if pair[1] > 0)
        return nlargest(count, scored, key=lambda pair: (pair[1], -pair[0]))

    def among(self, places: "array[int]", count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone, each named once."""
        held = self._scores
        return PlainScores({place: held[place] for place in places if place in held}).top(count)

    def of(self, places: Sequence[int]) -> list[float]:
        """Return the scores at places, 0 for a document that holds no term."""
        return [self._scores.get(place, 0.0) for place in places]


class Part(NamedTuple):
    """What a term adds: to each of its places, in their order, a share of its weight; at most
    ``most`` to any.
    """

    places: "Array"
    shares: "Array"
    weight: float
    most: float

    def at(self, places: "Array") -> "Array":
        """Return what it adds at some places."""
        import numpy as np

        at, is_there = looked_up(self.places, places)
        return np.where(is_there, self.weight * self.shares[at], np.float32(0))


class ArrayScores(Scores):
    """Scores in an array over all places, padded to whole blocks; to begin with it has none.

    What stands at ``barred`` places is never among the best.

    The terms that can add most are added up first, everywhere. As soon as so many places are ahead
    of all others by more than the further terms can add, these are only looked up where they may
    still matter: of a question with a rare word, common ones cost next to nothing (Turtle and
    Flood 1995, "Query evaluation: strategies and optimizations").
    """

    def __init__(
        self, scores: "Array", parts: Iterable[Part], barred: "array[int] | None" = None
    ) -> None:
        self._scores = scores
        self._barred = barred or array("i")
        self._bar(float("-inf"))
        self._parts = sorted(parts, key=lambda part: -part.most)
        self._added = 0
        # What those from each one on can add at most.
        most = (part.most for part in reversed(self._parts))
        self._rest = [*accumulate(most, initial=0.0)][::-1]

    def cleared(self) -> "Array":
        """Give the array back, empty again."""
        if self._is_sparse():
            for places in self._touched():
                self._scores[places] = 0.0
            self._bar(0.0)
        else:
            self._scores.fill(0.0)
        return self._scores

    def _bar(self, score: float) -> None:
        import numpy as np

        if self._barred:
            self._scores[np.asarray(self._barred)] = score

    def top(self, count: int) -> list[tuple[int, float]]:
        """Return the best (place, score) pairs, best first; of equal scores the earliest."""
        places, scores, added = self._by_first(count) or self._by_several(count)
        for part, rest in zip(self._parts[added:], self._rest[added:], strict=False):
            near = scores >= _least_of(scores, count) * _EXACT - rest
            places = places[near]
            scores = scores[near] + part.at(places)
        return _best(places, scores, count)

    def among(self, places: "array[int]", count: int) -> list[tuple[int, float]]:
        """Return the best of these places alone, each named once."""
        import numpy as np

        asked = np.sort(np.asarray(places, dtype=np.int32))
        while self._added < len(self._parts) and not self._is_sooner_looked_up(asked, self._added):
            self._add_next()
        return _best(asked, self._at(asked), count)

    def of(self, places: Sequence[int]) -> list[float]:
        """Return the scores at places, 0 for a document that holds no term."""
        import numpy as np

        found: list[float] = self._at(np.asarray(places, dtype=np.int32)).tolist()
        return found

    def _at(self, places: "Array") -> "Array":
        scores = self._scores[places]
        for part in self._parts[self._added :]:
            scores += part.at(places)
        return scores

    def _by_first(self, count: int) -> "tuple[Array, Array, int] | None":
        """Return the places that can be among the best if all of these hold the first term, their
        scores so far, and of how many terms these are.
        """
        if self._added or not self._parts:
            return None
        first = self._parts[0]
        scores = first.weight * first.shares
        if self._barred:
            scores += self._scores[first.places]
        # A place without the term has at most the rest.
        least = _least_of(scores, count) * _EXACT - self._rest[1]
        near = scores >= least
        places = first.places[near]
        is_sure = len(self._parts) == 1 or (least > 0 and self._is_sooner_looked_up(places, 1))
        return (places, scores[near], 1) if is_sure else None

    def _by_several(self, count: int) -> "tuple[Array, Array, int]":
        """Return the same of as many terms as have to be added up until such places are few."""
        while self._added < len(self._parts):
            if self._added and len(self._parts[self._added].places) >= _WORTH_A_LOOK:
                least = self._reached(count) * _EXACT - self._rest[self._added]
                near = self._from(least) if least > 0 else None
                if near is not None and self._is_sooner_looked_up(near, self._added):
                    return near, self._scores[near], self._added
            self._add_next()
        near = self._from(self._reached(count))
        return near, self._scores[near], self._added

    def _is_sooner_looked_up(self, places: "Array", part: int) -> bool:
        """Tell whether to look a term up at places costs less than to add it up."""
        return len(places) * _ADDS_OF_LOOK <= len(self._parts[part].places)

    def _add_next(self) -> None:
        import numpy as np

        part = self._parts[self._added]
        np.add.at(self._scores, part.places, part.weight * part.shares)
        self._added += 1

    def _reached(self, count: int) -> float:
        """Return what so many places have so far at the least, 0 where it is not known."""
        if self._is_sparse():
            # A place is named once for each of its terms.
            scores = [self._scores[places] for places in self._touched()]
            return _least_of(_joined(scores), count * self._added)
        return _least_of(self._scores.reshape(-1, BLOCK).max(axis=1), count)

    def _from(self, least: float) -> "Array":
        """Return the places that have at least so much so far, and more than nothing."""
        import numpy as np

        if not self._is_sparse():
            over = self._scores >= least if least > 0 else self._scores > 0
            return np.flatnonzero(over).astype(np.int32)
        near = (places[self._scores[places] >= least] for places in self._touched())
        return np.unique(_joined(list(near)))

    def _touched(self) -> "Iterator[Array]":
        return (part.places for part in self._parts[: self._added])

    def _is_sparse(self) -> bool:
        return sum(map(len, self._touched())) * _SPARSE < len(self._scores)


def looked_up(places: "Array", wanted: "Array") -> "tuple[Array, Array]":
    """Return where places stand, or would, among others that are in their order, and which do."""
    import numpy as np

    at = np.searchsorted(places[:-1], wanted)
    return at, places[at] == wanted


def _joined(arrays: "Sequence[Array]") -> "Array":
    import numpy as np

    return np.concatenate(arrays) if arrays else np.zeros(0, dtype=np.int32)


def _least_of(scores: "Array", count: int) -> float:
    """Return the least of the best so many, 0 where there are fewer."""
    import numpy as np

    if not 0 < count <= len(scores):
        return 0.0
    return float(np.partition(scores, len(scores) - count)[len(scores) - count])


def _best(places: "Array", scores: "Array", count: int) -> list[tuple[int, float]]:
    import numpy as np

    places, scores = places[scores > 0], scores[scores > 0]
    if len(places) > count:
        least = _least_of(scores, count)
        above, level = np.flatnonzero(scores > least), np.flatnonzero(scores == least)
        kept = np.concatenate([above, level[: count - len(above)]])
        places, scores = places[kept], scores[kept]
    order = np.lexsort((places, -scores))
    return list(zip(places[order].tolist(), scores[order].tolist(), strict=True))
