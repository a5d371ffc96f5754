"""Invert many documents at once: every line becomes numbers once, and arrays are counted.

Taken one by one, every token of a document and of all that stands beside it is looked up several
times, which costs more than all the analysis. The result is the same, byte for byte.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.store.index.told import LONGEST_KEPT, MOST_COUNTED, parts_of
from muniment.store.text.words import analyse, cuts_of

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.index.documents import Document
    from muniment.store.text.words import Cutter

    Array: TypeAlias = np.ndarray[Any, Any]

# Room for the offset of a document in its chunk of postings.
_OFFSET_BITS = 16


class Side(NamedTuple):
    """The numbers of tokens of one document after the other, and how many each has."""

    numbers: "array[int]"
    sizes: "array[int]"


class Inverted(NamedTuple):
    """What documents say, before it is known where they will stand; it may cross process borders.

    ``names`` are the tokens, named by their numbers in what the documents say themselves (``own``)
    and what stands beside them (``context``).
    """

    views: list[tuple[str, ...]]
    names: list[str]
    own: Side
    context: Side


class _Line(NamedTuple):
    """A line's tokens of each view joined by spaces, and the numbers of all of them."""

    words: str
    names: str
    grams: str
    numbers: "array[int]"


def invert(documents: "Iterable[Document]", cutter: "Cutter | None") -> Inverted:
    """Return what documents say."""
    reader = _Reader(cutter)
    own, context = Side(array("I"), array("I")), Side(array("I"), array("I"))
    views: list[tuple[str, ...]] = []
    for document in documents:
        own_before, context_before = len(own.numbers), len(context.numbers)
        text = reader.text(document.text, own.numbers)
        title = reader.beside(document.title, own.numbers)
        beside = reader.beside(document.context, context.numbers)
        own.sizes.append(len(own.numbers) - own_before)
        context.sizes.append(len(context.numbers) - context_before)
        views.append((*text, title, beside))
    return Inverted(views, list(reader.numbers), own, context)


class _Reader:
    """Analyses texts, each line once; lines and tokens are known until it is dropped."""

    def __init__(self, cutter: "Cutter | None") -> None:
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._cutter = cutter
        self._lines: dict[str, _Line] = {}
        self._beside: dict[str, tuple[str, array[int]]] = {}

    def text(self, text: str, numbers: "array[int]") -> tuple[str, str, str, str]:
        """Add the numbers of the tokens of a document's text; return its views."""
        if len(text) > LONGEST_KEPT:
            return self._long(text, numbers)
        lines = [self._line(line) for line in text.split("\n")]
        words, names, grams, _ = lines[0]
        for line in lines:
            numbers += line.numbers
        if len(lines) > 1:
            words, names, grams = map(_joined, list(zip(*lines, strict=True))[:3])
        if not grams or self._cutter is None:
            return words, names, grams, ""
        cuts = cuts_of(text, self._cutter)
        numbers.extend(self._numbered(cuts))
        return words, names, grams, " ".join(cuts)

    def _long(self, text: str, numbers: "array[int]") -> tuple[str, str, str, str]:
        analysed = analyse(text, self._cutter)
        for view in analysed:
            numbers.extend(self._numbered(view))
        words, names, grams, cuts = map(" ".join, analysed)
        return words, names, grams, cuts

    def beside(self, text: str, numbers: "array[int]") -> str:
        """Add the numbers of the tokens of a title or context; return its view."""
        views = []
        known = self._beside
        for line in text.split("\n"):
            view, of_line = known.get(line) or self._line_beside(line)
            numbers += of_line
            views.append(view)
        return _joined(views)

    def _line_beside(self, line: str) -> "tuple[str, array[int]]":
        parts = [self._line(part) for part in parts_of(line)]
        numbers = array("I")
        for part in parts:
            numbers += part.numbers
        of_views = list(zip(*parts, strict=True))[:3]
        found = _joined(view for of_parts in of_views for view in of_parts), numbers
        if len(line) <= LONGEST_KEPT:
            self._beside[line] = found
        return found

    def _line(self, line: str) -> _Line:
        found = self._lines.get(line)
        if found is None:
            words, names, grams, _ = analyse(line)
            numbers = array("I", list(self._numbered([*words, *names, *grams])))
            found = _Line(" ".join(words), " ".join(names), " ".join(grams), numbers)
            if len(line) <= LONGEST_KEPT:
                self._lines[line] = found
        return found

    def _numbered(self, tokens: list[str]) -> Iterator[int]:
        return map(self.numbers.__getitem__, tokens)


class InvertedCollector:
    """Gives out inverted documents one by one, and their postings when they have their places."""

    def __init__(self, inverted: Inverted) -> None:
        self._inverted = inverted
        self._first_offset = 0
        self._given = self._drained = 0
        self._own_at = self._context_at = 0

    def take(self, offset: int) -> tuple[tuple[str, ...], int]:
        """Put the next document at an offset of its chunk; return its views and token count."""
        at = self._given
        if at == self._drained:
            self._first_offset = offset
        self._given += 1
        _, _, own, context = self._inverted
        return self._inverted.views[at], own.sizes[at] + context.sizes[at]

    def drain(self) -> Iterator[tuple[str, bytes]]:
        """Yield the tokens in their order, with the postings of what was given out since."""
        import numpy as np

        documents = slice(self._drained, self._given)
        self._drained = self._given
        own, self._own_at = self._occurrences(self._inverted.own, documents, self._own_at)
        context, self._context_at = self._occurrences(
            self._inverted.context, documents, self._context_at
        )
        tokens, postings = _counted(np.concatenate([own << 1, context << 1 | 1]))
        starts = np.flatnonzero(np.diff(tokens, prepend=-1))
        ends = np.append(starts, len(tokens))[1:]
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        names = map(self._inverted.names.__getitem__, tokens[starts].tolist())
        by_name = dict(zip(names, bounds, strict=True))
        held = postings.tobytes()
        for name in sorted(by_name):
            start, end = by_name[name]
            yield name, held[start * 4 : end * 4]

    def _occurrences(self, side: Side, documents: slice, start: int) -> "tuple[Array, int]":
        """Return a number for each token of each document, the token's above the document's offset;
        and where the numbers of the next documents begin.
        """
        import numpy as np

        sizes = np.frombuffer(side.sizes, dtype=np.uint32)[documents]
        end = start + int(sizes.sum())
        numbers = np.frombuffer(side.numbers, dtype=np.uint32)[start:end].astype(np.int64)
        offsets = np.arange(self._first_offset, self._first_offset + len(sizes), dtype=np.int64)
        return numbers << _OFFSET_BITS | np.repeat(offsets, sizes), end


def _counted(occurrences: "Array") -> "tuple[Array, Array]":
    """Return the tokens' numbers and the postings, sorted; in the last bit, 1 means beside."""
    import numpy as np

    occurrences.sort()
    once = np.flatnonzero(np.diff(occurrences, prepend=-1))
    times = np.minimum(np.diff(once, append=len(occurrences)), MOST_COUNTED)
    once = occurrences[once]
    times[once & 1 == 0] <<= 4
    once >>= 1
    pairs = np.flatnonzero(np.diff(once, prepend=-1))
    times = np.add.reduceat(times, pairs) if len(pairs) else times
    once = once[pairs]
    postings = (once & ((1 << _OFFSET_BITS) - 1)) << 8 | times
    return once >> _OFFSET_BITS, postings.astype(np.uint32)


def _joined(parts: Iterable[str]) -> str:
    return " ".join(filter(None, parts))
