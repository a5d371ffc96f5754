"""What the lengths of documents add to the scores: the longer one is, the less each word says."""

from array import array
from typing import TYPE_CHECKING, Any

import apsw

from muniment.store.index.match import K1, B
from muniment.store.index.postings import CHUNK

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    Array: TypeAlias = np.ndarray[Any, Any]


class Norms(dict[int, float]):
    """What the length of the document at each place adds, worked out when it is asked for.

    ``places`` is how many there are, ``average`` how many tokens a document has.
    """

    def __init__(self, database: apsw.Connection, places: int, average: float) -> None:
        self._database = database
        self._size = max(places, 1)
        self._average = average
        self._lengths: dict[int, array[int]] = {}
        self._all: Array | None = None

    def __missing__(self, place: int) -> float:
        chunk, offset = divmod(place, CHUNK)
        if chunk not in self._lengths:
            rows = self._database.execute("SELECT tokens FROM length WHERE chunk = ?", (chunk,))
            ((lengths,),) = rows
            self._lengths[chunk] = array("H", lengths)
        tokens = self._lengths[chunk][offset]
        norm = self[place] = K1 * (1 - B + B * tokens / self._average)
        return norm

    def all(self) -> "Array":
        """Return those of all places as an array."""
        import numpy as np

        if self._all is None:
            lengths = np.zeros(self._size, dtype=np.uint16)
            for chunk, tokens in self._database.execute("SELECT chunk, tokens FROM length"):
                own = np.frombuffer(tokens, dtype=np.uint16)
                lengths[chunk * CHUNK : chunk * CHUNK + len(own)] = own
            scale = np.float32(K1 * B / self._average)
            self._all = np.float32(K1 * (1 - B)) + scale * lengths.astype(np.float32)
        return self._all
