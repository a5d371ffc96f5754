"""Analyse a text that is stored: its words, names, grams and cuts.

- *words*: in their order, English stems; numbers; Hangul between spaces.
- *names*: identifiers as written (``2026.4.10``, ``agentic-os``, ``c++``), symbols, emoji.
- *grams*: of scripts written without spaces, overlapping pairs and the last character by itself,
  so that a prefix of one character finds every occurrence of it.
- *cuts*: dictionary words of Han text, single characters included, for ranking.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

from muniment.store.text import classes as kinds
from muniment.store.text.fold import ascii_splitter, fold

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable

# Raised when the same gives other tokens than before: an index of the old ones is rebuilt.
ANALYSER_VERSION = "2"

# Prose punctuation around a word makes no name of it.
_OPENING = "([{\"'"
_CLOSING = ".,;:!?)]}\"'"
_STEMS_KEPT = 50_000

# Longer runs are cut into pieces of this many characters, on both sides alike.
_LONGEST = 64

_between_signs = ascii_splitter(str.isalnum)


class Cutter(Protocol):
    """Cut Han text as jieba's search mode does, without guessing unknown words."""

    def cut(self, run: str) -> list[str]:
        """Return the words of a run of Han characters, sub-words before the word itself."""
        ...


class Analysis(NamedTuple):
    """The tokens of one text, each list in the order of the text."""

    words: list[str]
    names: list[str]
    grams: list[str]
    cuts: list[str]


def analyse(text: str, cutter: Cutter | None = None) -> Analysis:
    """Return the tokens that a text is stored under; ``cuts`` stay empty without a cutter."""
    folded = fold(text)
    words = stems(raw_words(folded))
    names = raw_names(folded)
    if folded.isascii():
        return Analysis(words, names, [], [])
    grams: list[str] = []
    for run in unspaced_runs(folded):
        grams += grams_of(run)
    cuts = _cut(folded, cutter) if cutter is not None and grams else []
    return Analysis(words, names, grams, cuts)


def cuts_of(text: str, cutter: Cutter) -> list[str]:
    """Return the ``cuts`` of a text alone."""
    return _cut(fold(text), cutter)


def raw_words(folded: str) -> list[str]:
    """Return the words of a folded text, not stemmed."""
    return _short(_ascii_words(folded) if folded.isascii() else _found(kinds.WORD, folded))


def _ascii_words(folded: str) -> list[str]:
    if "'" in folded:
        words: list[str] = kinds.ASCII_WORD.findall(folded)
        return words
    return _between_signs(folded)


def raw_names(folded: str) -> list[str]:
    """Return identifiers as written, lone punctuation, and symbols."""
    names: list[str] = []
    for chunk in folded.split():
        if not chunk.isalnum() and not chunk.lstrip(_OPENING).rstrip(_CLOSING).isalnum():
            names += _names_of(chunk)
    return _short(names) if names else names


def _names_of(chunk: str) -> list[str]:
    shape = kinds.classes(chunk)
    if kinds.MARKS.fullmatch(shape):
        return [chunk]
    names = []
    for found in kinds.NAME.finditer(shape):
        name = chunk[found.start() : found.end()].rstrip(".:")
        word = kinds.WORD.match(shape, found.start())
        if word is None or word.end() < found.start() + len(name):
            names.append(name)
    return names + [chunk[found.start()] for found in kinds.SYMBOL.finditer(shape)]


def unspaced_runs(folded: str) -> list[str]:
    """Return the runs of scripts that grams are made of."""
    return _found(kinds.GRAMS, folded)


def han_runs(folded: str) -> list[str]:
    """Return the runs of Han text that a dictionary can cut."""
    return _found(kinds.CUTS, folded)


def grams_of(run: str) -> list[str]:
    """Return the overlapping pairs of a run, and its last character.

    >>> grams_of("虹桥站")
    ['虹桥', '桥站', '站']
    """
    return [run[at : at + 2] for at in range(len(run))]


def stems(words: "Iterable[str]") -> list[str]:
    """Return the English stems of folded words."""
    return list(map(_STEMS.__getitem__, words))


def stem(word: str) -> str:
    """Return the English stem of a folded word; what isn't English mostly stays as it is."""
    return _STEMS[word]


def _cut(folded: str, cutter: Cutter) -> list[str]:
    return [word for run in han_runs(folded) for word in cutter.cut(run)]


def _found(pattern: "re.Pattern[str]", folded: str) -> list[str]:
    shape = kinds.classes(folded)
    return [folded[found.start() : found.end()] for found in pattern.finditer(shape)]


def _short(tokens: list[str]) -> list[str]:
    if max(map(len, tokens), default=0) <= _LONGEST:
        return tokens
    return [token[at : at + _LONGEST] for token in tokens for at in range(0, len(token), _LONGEST)]


class _Stems(dict[str, str]):
    """The stems of words already met; the library is loaded at the first."""

    def __init__(self) -> None:
        self._stem: Callable[[str], str] | None = None

    def __missing__(self, word: str) -> str:
        if self._stem is None:
            import Stemmer  # type: ignore[import-not-found]  # an extension without types

            stemmer = Stemmer.Stemmer("english")
            stemmer.maxCacheSize = 0  # keeping what it said is our part, and costs it more
            self._stem = stemmer.stemWord
        if len(self) >= _STEMS_KEPT:
            self.clear()
        stemmed = self[word] = self._stem(word)
        return stemmed


_STEMS = _Stems()
