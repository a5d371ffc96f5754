"""Invert many documents at once: every line becomes numbers once, and arrays are counted.

Taken one by one, every token of a document and of all that stands beside it is looked up several
times, which costs more than all the analysis. The result is the same, byte for byte.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, islice
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


class Lines(NamedTuple):
    """The lines that documents are made of: how each reads beside a document (a text as a whole is
    a line that reads empty), the numbers of the tokens of one after the other, how many each has.
    """

    views: list[str]
    numbers: "array[int]"
    sizes: "array[int]"

    def add(self, view: str, numbers: list[int]) -> int:
        """Add a line; return its place."""
        self.views.append(view)
        self.numbers.fromlist(numbers)
        self.sizes.append(len(numbers))
        return len(self.sizes) - 1


class Side(NamedTuple):
    """The places of the lines of one document after the other, and how many each has."""

    lines: "array[int]"
    sizes: "array[int]"

    def add(self, lines: list[int]) -> None:
        """Add the lines of the next document."""
        self.lines.fromlist(lines)
        self.sizes.append(len(lines))


class Inverted(NamedTuple):
    """What documents say, before it is known where they will stand; it may cross process borders.

    ``views`` are those of their texts, ``names`` the tokens in the order of their numbers, ``own``
    what the documents say themselves and ``context`` what stands beside them.
    """

    views: list[tuple[str, ...]]
    names: list[str]
    lines: Lines
    own: Side
    context: Side


class _Line(NamedTuple):
    """A line's tokens of each view joined by spaces, and the numbers of all of them."""

    words: str
    names: str
    grams: str
    numbers: list[int]


def invert(documents: "Iterable[Document]", cutter: "Cutter | None") -> Inverted:
    """Return what documents say."""
    reader = _Reader(cutter)
    own, context = Side(array("I"), array("I")), Side(array("I"), array("I"))
    views: list[tuple[str, ...]] = []
    for document in documents:
        of_text, line = reader.text(document.text)
        views.append(of_text)
        own.add([line, *reader.beside(document.title)])
        context.add(reader.beside(document.context))
    return Inverted(views, list(reader.numbers), reader.lines, own, context)


class _Reader:
    """Analyses texts, each line once; lines and tokens are known until it is dropped."""

    def __init__(self, cutter: "Cutter | None") -> None:
        self.numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self.lines = Lines([], array("I"), array("I"))
        self._cutter = cutter
        self._known: dict[str, _Line] = {}
        self._beside: dict[str, int] = {}

    def text(self, text: str) -> tuple[tuple[str, ...], int]:
        """Add a document's text; return its views, and its place among the lines."""
        if len(text) > LONGEST_KEPT:
            analysed = analyse(text, self._cutter)
            return tuple(map(" ".join, analysed)), self.lines.add("", self._numbered(*analysed))
        words, names, grams, numbers = _together([self._line(line) for line in text.split("\n")])
        cuts = cuts_of(text, self._cutter) if grams and self._cutter is not None else []
        place = self.lines.add("", numbers + self._numbered(cuts) if cuts else numbers)
        return (words, names, grams, " ".join(cuts)), place

    def beside(self, text: str) -> list[int]:
        """Add the lines of a title or context; return their places."""
        known = self._beside
        return [
            known[line] if line in known else self._line_beside(line) for line in text.split("\n")
        ]

    def _line_beside(self, line: str) -> int:
        *views, numbers = zip(*map(self._line, parts_of(line)), strict=True)
        place = self.lines.add(_joined(chain(*views)), list(chain(*numbers)))
        if len(line) <= LONGEST_KEPT:
            self._beside[line] = place
        return place

    def _line(self, line: str) -> _Line:
        found = self._known.get(line)
        if found is None:
            words, names, grams, _ = analyse(line)
            numbers = self._numbered(words, names, grams)
            found = _Line(" ".join(words), " ".join(names), " ".join(grams), numbers)
            if len(line) <= LONGEST_KEPT:
                self._known[line] = found
        return found

    def _numbered(self, *views: list[str]) -> list[int]:
        return list(map(self.numbers.__getitem__, chain(*views)))


class InvertedCollector:
    """Gives out inverted documents one by one, and their postings when they have their places."""

    def __init__(self, inverted: Inverted) -> None:
        self._inverted = inverted
        self._told = _told(inverted)
        self._first_offset = 0
        self._given = self._drained = 0
        self._own_at = self._context_at = 0

    def take(self, offset: int) -> tuple[tuple[str, ...], int]:
        """Put the next document at an offset of its chunk; return its views and token count."""
        if self._given == self._drained:
            self._first_offset = offset
        self._given += 1
        return next(self._told)

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
        starts = _firsts(tokens)
        names = list(map(self._inverted.names.__getitem__, tokens[starts].tolist()))
        bounds = (np.append(starts, len(tokens)) * postings.itemsize).tolist()
        held = postings.tobytes()
        by_name = {name: held[bounds[at] : bounds[at + 1]] for at, name in enumerate(names)}
        for name in sorted(names):
            yield name, by_name[name]

    def _occurrences(self, side: Side, documents: slice, start: int) -> "tuple[Array, int]":
        """Return a number for each token of each document, the token's above the document's offset;
        and where the lines of the next documents begin.
        """
        import numpy as np

        of_documents = _numbers(side.sizes)[documents]
        end = start + int(of_documents.sum())
        lines = _numbers(side.lines)[start:end]
        offsets = np.repeat(np.arange(len(of_documents)) + self._first_offset, of_documents)
        sizes = _numbers(self._inverted.lines.sizes)
        first_of_line = (np.cumsum(sizes) - sizes)[lines]
        of_lines = sizes[lines]
        first = np.cumsum(of_lines) - of_lines
        at = np.arange(int(of_lines.sum())) + np.repeat(first_of_line - first, of_lines)
        tokens = _numbers(self._inverted.lines.numbers)[at]
        return tokens << _OFFSET_BITS | np.repeat(offsets, of_lines), end


def _told(inverted: Inverted) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the views of every document, and how many tokens it has."""
    (views, _, sizes), own, context = inverted.lines, inverted.own, inverted.context
    own_lines, context_lines = iter(own.lines), iter(context.lines)
    for of_text, own_size, context_size in zip(
        inverted.views, own.sizes, context.sizes, strict=True
    ):
        title = list(islice(own_lines, own_size))
        beside = list(islice(context_lines, context_size))
        tokens = sum(map(sizes.__getitem__, chain(title, beside)))
        read = (_joined(map(views.__getitem__, lines)) for lines in (title, beside))
        yield (*of_text, *read), tokens


def _numbers(values: "array[int]") -> "Array":
    import numpy as np

    return np.frombuffer(values, dtype=np.uint32).astype(np.int64)


def _counted(occurrences: "Array") -> "tuple[Array, Array]":
    """Return the tokens' numbers and the postings, sorted; in the last bit, 1 means beside."""
    import numpy as np

    occurrences.sort()
    firsts = _firsts(occurrences)
    times = np.minimum(np.diff(firsts, append=len(occurrences)), MOST_COUNTED)
    once = occurrences[firsts]
    times <<= (once & 1 ^ 1) << 2
    once >>= 1
    pairs = _firsts(once)
    times = np.add.reduceat(times, pairs) if len(pairs) else times
    once = once[pairs]
    postings = (once & ((1 << _OFFSET_BITS) - 1)) << 8 | times
    return once >> _OFFSET_BITS, postings.astype(np.uint32)


def _firsts(ordered: "Array") -> "Array":
    """Return where each of the numbers in an ordered array stands first."""
    import numpy as np

    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])


def _together(lines: Sequence[_Line]) -> _Line:
    if len(lines) == 1:
        return lines[0]
    words, names, grams, numbers = zip(*lines, strict=True)
    return _Line(_joined(words), _joined(names), _joined(grams), list(chain(*numbers)))


def _joined(parts: Iterable[str]) -> str:
    return " ".join(filter(None, parts))
