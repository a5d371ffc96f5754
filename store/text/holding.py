"""Tell how much of a question a text holds, and which of its units."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from muniment.store.text.fold import fold
from muniment.store.text.words import raw_words, stems

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muniment.store.text.query import QueryAnalysis, Unit

# What a word of the same root (painter, painting) counts for; search looks up stems.
_OF_RELATIVE = 0.8
_LEAST_ROOT = 4
_SUFFIX = re.compile(r"(?:er|or|ist|ment|ion|ation|al|i|ic|ance|enc|ur)$")
# In these words a character that is asked about by itself says something else: 记住 is to remember,
# 住 to live.
_ELSE = {
    "住": re.compile("(?:(?<![书笔日登标])记|[抓忍挡留拦捂困憋粘握捉咬])住"),
    "吃": re.compile("吃(?:一?惊|力|亏|醋|紧)"),
    "叫": re.compile("叫(?:醒|停)"),
}
# Parts of a name still tell something, but never as much as half of it.
_OF_PARTS = 0.5


class Covered(NamedTuple):
    """How much of a question's weight a text holds, and which of its units."""

    weight: float
    total: float
    units: tuple[str, ...]

    @property
    def share(self) -> float:
        """The part of the weight, from 0 to 1."""
        return self.weight / self.total if self.total else 0.0


class Line:
    """A line of text, folded, and the stems of its words."""

    __slots__ = ("_begun", "folded", "words")

    def __init__(self, text: str) -> None:
        self.folded = fold(text)
        self.words = frozenset(stems(raw_words(self.folded)))
        self._begun = ""

    @property
    def begun(self) -> str:
        """Its words, each after a space: what they begin with is soon found."""
        if not self._begun:
            self._begun = " ".join(["", *self.words])
        return self._begun

    def has_relative(self, root: str) -> bool:
        """Tell whether a word of this root is there: a plumber does plumbing."""
        return any(_root(word) == root for word in self.words if word.startswith(root))


# Names and days come back from text to text, and so does what stands around several hits.
_line = lru_cache(maxsize=2_048)(Line)


def lines_of(text: str) -> list[Line]:
    """Read a text line by line."""
    return list(map(_line, text.split("\n"))) if "\n" in text else [_line(text)]


class Yardstick:
    """Holds texts against one question; a unit without a weight weighs 1.

    What a line holds is kept as bits: whether it has each unit, a relative of it, parts of it. A
    text holds what its lines do together, so a line that comes back is not looked through again.
    """

    def __init__(self, query: "QueryAnalysis", weights: "Mapping[str, float]") -> None:
        self._marked: list[_Marked] = []
        first = 1
        for unit in query.units:
            marked = _Marked(unit, weights.get(unit.text, 1.0), first)
            self._marked.append(marked)
            first = marked.after
        words = [marked for marked in self._marked if marked.is_word]
        self._words = {marked.text: marked.whole for marked in words}
        self._roots = [(f" {marked.root}", marked) for marked in words if marked.root]
        self._others = [marked for marked in self._marked if not marked.is_word]
        self._held: dict[Line, int] = {}
        self._weighed: dict[int, Covered] = {}

    def covered(self, lines: Iterable[Line]) -> Covered:
        """Weigh what a text of these lines holds."""
        bits = 0
        held = self._held
        for line in lines:
            own = held.get(line)
            if own is None:
                own = held[line] = self._bits_of(line)
            bits |= own
        found = self._weighed.get(bits)
        if found is None:
            found = self._weighed[bits] = self._weigh(bits)
        return found

    def _bits_of(self, line: Line) -> int:
        bits = 0
        if not line.words.isdisjoint(self._words):
            for word in self._words.keys() & line.words:
                bits |= self._words[word]
        begun = line.begun if self._roots else ""
        for start, marked in self._roots:
            if start in begun and not bits & marked.whole and line.has_relative(marked.root):
                bits |= marked.relative
        for marked in self._others:
            bits |= marked.bits_of(line.folded)
        return bits

    def _weigh(self, bits: int) -> Covered:
        weight = total = 0.0
        units: list[str] = []
        for marked in self._marked:
            total += marked.weight
            if bits & marked.whole:
                weight += marked.weight
                units.append(marked.text)
            else:
                weight += marked.weight * marked.share_of(bits)
        return Covered(weight, total, tuple(units))


class _Marked:
    """A unit of a question and its bits: for the whole of it, and for what resembles it."""

    __slots__ = (
        "_parts", "after", "is_word", "other", "relative", "root", "text", "weight", "whole",
    )  # fmt: skip

    def __init__(self, unit: "Unit", weight: float, whole: int) -> None:
        self.text = unit.text
        self.weight = weight
        self.is_word = unit.view == "words"
        self.whole = whole
        self.relative = whole << 1
        root = _root(unit.text) if self.is_word else ""
        self.root = root if len(root) >= _LEAST_ROOT else ""
        self._parts = [(gram, whole << at) for at, gram in enumerate(unit.grams, 1)]
        self.after = whole << (2 + len(unit.grams))
        self.other = _ELSE.get(unit.text)

    def bits_of(self, folded: str) -> int:
        """Return what a line holds of a unit that is no word."""
        if self.other is not None:
            folded = self.other.sub("", folded)
        if self.text in folded:
            return self.whole
        return sum([bit for gram, bit in self._parts if gram in folded])

    def share_of(self, bits: int) -> float:
        """Return what the unit counts for where it is not there as a whole."""
        if self.is_word:
            return _OF_RELATIVE if bits & self.relative else 0.0
        return _OF_PARTS * sum(bits & bit > 0 for _, bit in self._parts) / (len(self._parts) or 1)


def covered(query: "QueryAnalysis", text: str, weights: "Mapping[str, float]") -> Covered:
    """Weigh what one text holds of a question; a unit without a weight weighs 1."""
    return Yardstick(query, weights).covered(lines_of(text))


@lru_cache(maxsize=4_096)
def _root(word: str) -> str:
    """Cut off what makes a doer, a deed or a quality of an English stem."""
    found = _SUFFIX.search(word)
    return word[: found.start()] if found else word
