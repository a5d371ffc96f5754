"""Analyse a question: what to look up, what to look for in a row, what must be covered.

User text is literal: no character of it is search syntax, except that text inside quotation marks
is also looked for as it stands.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

from muniment.store.text.fold import fold
from muniment.store.text.stopwords import CHINESE, ENGLISH, LONGEST_CHINESE
from muniment.store.text.words import (
    grams_of,
    han_runs,
    raw_names,
    raw_words,
    stem,
    unspaced_runs,
)

if TYPE_CHECKING:
    from muniment.store.text.segment import CompiledDictionary

# Every pair of quotation marks is read as the plain one.
_MARKS = dict.fromkeys(map(ord, "“”„「」『』«»《》"), '"')
_QUOTED = re.compile(r'"([^"]+)"')
# Longer questions are not looked for as they stand.
_PHRASE_WORDS = 6
_PHRASE_GRAMS = 64
_LEAST_PHRASE = 2
# A question of ten thousand words is cut off; its first words say what it is about.
_MOST_TERMS = 256


class Term(NamedTuple):
    """One token to look up in one view; ``prefix`` finds every token that begins with it."""

    view: str
    token: str
    prefix: bool = False


class Phrase(NamedTuple):
    """Tokens of one view that must follow each other."""

    view: str
    tokens: tuple[str, ...]
    prefix: bool = False


class Unit(NamedTuple):
    """A part of the question that tells something; ``grams`` are empty for a spaced word."""

    text: str
    view: str
    grams: tuple[str, ...] = ()


class QueryAnalysis(NamedTuple):
    """A question taken apart; ``exact`` says that it is short or quoted: whole matches lead."""

    terms: tuple[Term, ...]
    phrases: tuple[Phrase, ...]
    units: tuple[Unit, ...]
    exact: bool


def analyse_query(text: str, dictionary: "CompiledDictionary | None" = None) -> QueryAnalysis:
    """Take a question apart; without a dictionary Han text is looked up by pairs alone."""
    folded = fold(text)
    words, runs, names = raw_words(folded), unspaced_runs(folded), raw_names(folded)
    telling = [word for word in words if word not in ENGLISH]
    parts = [_content(run, dictionary) for run in runs]
    if not telling and not names and not any(parts):
        telling, parts = words, [[run] for run in runs]
    units = [Unit(stem(word), "words") for word in telling if word not in runs]
    units += [Unit(part, "grams", pairs(part)) for found in parts for part in found]
    terms = [Term("words", stem(word)) for word in telling]
    terms += [Term("names", name) for name in names]
    for run, found in zip(runs, parts, strict=True):
        terms += _gram_terms(run, found)
        terms += _cut_terms(run, dictionary)
    if not units:
        units = [Unit(name, "names") for name in names]
    phrases, exact = _phrases(text, words, runs)
    unique = tuple(dict.fromkeys(terms))[:_MOST_TERMS]
    return QueryAnalysis(unique, phrases, tuple(dict.fromkeys(units)), exact)


def pairs(run: str) -> tuple[str, ...]:
    """Return the overlapping pairs of a run, or the run itself when it is one character."""
    return tuple(grams_of(run)[:-1]) or (run,)


def _gram_terms(run: str, content: list[str]) -> list[Term]:
    """Look up every pair but those of question words, and single telling characters."""
    kept = _telling_places(run, content)
    terms = [Term("grams", part, prefix=True) for part in content if len(part) == 1]
    for at in range(len(run) - 1):
        if kept[at] or kept[at + 1]:
            terms.append(Term("grams", run[at : at + 2]))
    return terms


def _telling_places(run: str, content: list[str]) -> list[bool]:
    kept = [False] * len(run)
    at = 0
    for part in content:
        at = run.index(part, at)
        kept[at : at + len(part)] = [True] * len(part)
        at += len(part)
    return kept


def _cut_terms(run: str, dictionary: "CompiledDictionary | None") -> list[Term]:
    """Look up dictionary words; those of two characters are among the pairs already."""
    if dictionary is None:
        return []
    words = [word for found in han_runs(run) for word in dictionary.cut(found)]
    return [Term("cuts", word) for word in words if len(word) != 2 and word not in CHINESE]


def _content(run: str, dictionary: "CompiledDictionary | None") -> list[str]:
    """Return the parts of a run that are no question or function words, in order."""
    pieces: list[str] = []
    at = 0
    for han in han_runs(run):
        start = run.index(han, at)
        pieces += _split(run[at:start])
        pieces += _split(han) if dictionary is None else _known(dictionary.words(han))
        at = start + len(han)
    return pieces + _split(run[at:])


def _known(words: list[str]) -> list[str]:
    """Drop function words; single characters side by side are a name that no dictionary knows."""
    pieces: list[str] = []
    single = False
    for word in words:
        if word in CHINESE:
            single = False
        elif len(word) == 1 and single:
            pieces[-1] += word
        else:
            pieces.append(word)
            single = len(word) == 1
    return pieces


def _split(run: str) -> list[str]:
    """Split a run at the longest stop words, for want of a dictionary."""
    pieces = [""]
    at = 0
    while at < len(run):
        for size in range(min(LONGEST_CHINESE, len(run) - at), 0, -1):
            if run[at : at + size] in CHINESE:
                pieces.append("")
                break
        else:
            size = 1
            pieces[-1] += run[at]
        at += size
    return [piece for piece in pieces if piece]


def _phrases(text: str, words: list[str], runs: list[str]) -> tuple[tuple[Phrase, ...], bool]:
    quoted = _QUOTED.findall(text.translate(_MARKS))
    if quoted:
        phrases = []
        for quote in quoted:
            folded = fold(quote)
            phrases += _phrases_of(raw_words(folded), unspaced_runs(folded))
        return tuple(dict.fromkeys(phrases)), bool(phrases)
    if len(words) > _PHRASE_WORDS or sum(map(len, runs)) > _PHRASE_GRAMS:
        return (), False
    phrases = _phrases_of(words, runs)
    if sum(len(phrase.tokens) for phrase in phrases) < _LEAST_PHRASE:
        return (), False
    return tuple(dict.fromkeys(phrases)), True


def _phrases_of(words: list[str], runs: list[str]) -> list[Phrase]:
    phrases = [Phrase("words", tuple(map(stem, words)))] if words else []
    return phrases + [Phrase("grams", pairs(run), prefix=len(run) == 1) for run in runs]
