"""What a document says, as every engine keeps it: tokens, their counts, vectors of length one."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.store.text.words import Analysis, analyse, cuts_of

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.index.documents import Document
    from muniment.store.text.words import Cutter

    Array: TypeAlias = np.ndarray[Any, Any]

# The views that text is searched through, and what each counts for: measured on paragraph
# retrieval in both languages.
WEIGHTS: Mapping[str, float] = {
    "words": 1.0,
    "names": 1.0,
    "grams": 1.0,
    "cuts": 1.0,
    "title": 1.0,
    "context": 0.3,
}

# A token in the document itself is counted by so much, one beside it by one.
_OWN = 1 << 16

MOST_COUNTED = 15

# A message stands beside several others: lines up to this length are analysed once.
LONGEST_KEPT = 400
_LINES_KEPT = 4_096


class Told(NamedTuple):
    """What a document says: the tokens of every view, joined by spaces; how often each token
    stands in it, as postings keep it; the number of tokens.
    """

    views: tuple[str, ...]
    held: dict[str, int]
    tokens: int


def told_by(document: "Document", cutter: "Cutter | None") -> Told:
    """Return what a document says."""
    text = _own(document.text, cutter)
    title, context = _tokens(document.title), _tokens(document.context)
    own = [*text.words, *text.names, *text.grams, *text.cuts, *title]
    views = (*map(" ".join, text), " ".join(title), " ".join(context))
    return Told(views, times_in(own, context), len(own) + len(context))


def times_in(own: Iterable[str], context: Iterable[str]) -> dict[str, int]:
    """Return a byte for every token: how often it stands in a document (high half) and beside it
    (low half), each at most 15.

    >>> times_in("aab", "ac") == {"a": 0x21, "b": 0x10, "c": 0x01}
    True
    """
    times: dict[str, int] = {}
    seen = times.get
    for token in own:
        times[token] = seen(token, 0) + _OWN
    for token in context:
        times[token] = seen(token, 0) + 1
    return {token: _BYTES[count] for token, count in times.items()}


class _Bytes(dict[int, int]):
    """What a count becomes, worked out when it is first met."""

    def __missing__(self, count: int) -> int:
        own, context = divmod(count, _OWN)
        stored = self[count] = min(own, MOST_COUNTED) << 4 | min(context, MOST_COUNTED)
        return stored


_BYTES = _Bytes()


def unit_rows(pairs: "Sequence[tuple[int, Sequence[float] | Array]]", dimensions: int) -> "Array":
    """Return the vectors of (document number, vector) pairs as float32 rows of length one.

    Raises ``ValueError`` for what is not so many finite numbers.
    """
    import numpy as np

    matrix = np.asarray([vector for _, vector in pairs], dtype=np.float32)
    if matrix.shape != (len(pairs), dimensions) or not np.isfinite(matrix).all():
        raise ValueError(f"vectors must be {dimensions} finite numbers each")
    matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-12)
    return matrix


def parts_of(line: str) -> list[str]:
    """Return who said a line and what was said, or the line: the parts give the line's tokens.

    What was said is another document's text, so its tokens are at hand.
    """
    author, colon, said = line.partition(": ")
    return [author + ":", said] if colon else [line]


def _own(text: str, cutter: "Cutter | None") -> Analysis:
    if len(text) > LONGEST_KEPT or "\n" in text:
        return analyse(text, cutter)
    found = _line(text)
    if cutter is None or not found.grams:
        return found
    return found._replace(cuts=cuts_of(text, cutter))


def _tokens(text: str) -> list[str]:
    return [token for line in text.split("\n") if line for token in _tokens_of_line(line)]


@lru_cache(maxsize=_LINES_KEPT)
def _tokens_of_line(line: str) -> tuple[str, ...]:
    words, names, grams, _ = zip(*map(_line, parts_of(line)), strict=True)
    return tuple(chain(*words, *names, *grams))


_line = lru_cache(maxsize=_LINES_KEPT)(analyse)
