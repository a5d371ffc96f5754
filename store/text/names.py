"""Names in text: one folded form, and where a name stands in a text by itself.

Scripts with spaces are matched at word borders: "may" is not in "maybe". Han and other scripts
without spaces have no borders; there the longest known name wins, and one character is no name.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from muniment.store.text.classes import classes
from muniment.store.text.fold import fold

LEAST_CHARACTERS = 2
MOST_CHARACTERS = 80
_MOST_CUTS = 16
_EDGES = re.compile(r"^[\W_]+|[\W_]+$")
# A letter beside one of these is in the middle of a word, an address or an identifier.
_JOINING = frozenset("_@'")
_WORD, _HANGUL = "w", "k"
_LETTERS = frozenset("whgk")


class Standing(NamedTuple):
    """A name where it stands: half-open, in code points of the folded text."""

    start: int
    end: int
    name: str


def folded_name(name: str) -> str:
    """Return the form that equal names share, empty when nothing of a name is left."""
    folded = _EDGES.sub("", " ".join(fold(name).split()))
    return folded if len(folded) <= MOST_CHARACTERS else ""


def is_name(folded: str) -> bool:
    """Tell whether a folded name is long enough to be looked for in text."""
    return len(folded) >= LEAST_CHARACTERS and any(char.isalpha() for char in folded)


def stands_in(folded_text: str, folded: str) -> bool:
    """Tell whether a name stands in a folded text by itself."""
    at = folded_text.find(folded) if is_name(folded) else -1
    while at >= 0:
        if _free(folded_text, at) and _free(folded_text, at + len(folded)):
            return True
        at = folded_text.find(folded, at + 1)
    return False


def possible_names(folded_text: str) -> Iterator[Standing]:
    """Yield every span that a name could be: from border to border, over a few words."""
    kinds = classes(folded_text)
    cuts = [at for at in range(len(folded_text) + 1) if _free(folded_text, at, kinds)]
    for place, start in enumerate(cuts[:-1]):
        if kinds[start] not in _LETTERS:
            continue
        for end in cuts[place + 1 : place + 1 + _MOST_CUTS]:
            span = folded_text[start:end]
            if kinds[end - 1] in _LETTERS and len(span) <= MOST_CHARACTERS and is_name(span):
                yield Standing(start, end, span)


def longest(spans: Collection[Standing], known: Collection[str]) -> list[Standing]:
    """Return the known names among spans, the longest where they overlap, in order."""
    chosen: list[Standing] = []
    named = [span for span in spans if span.name in known]
    for span in sorted(named, key=lambda one: (one.start - one.end, one.start)):
        if all(span.end <= other.start or other.end <= span.start for other in chosen):
            chosen.append(span)
    return sorted(chosen)


def _free(text: str, at: int, kinds: str | None = None) -> bool:
    """Tell whether a name may begin or end at an offset; ``kinds`` are the text's classes."""
    if at in (0, len(text)):
        return True
    pair = classes(text[at - 1 : at + 1]) if kinds is None else kinds[at - 1 : at + 1]
    before, after = pair[0], pair[1]
    if before == after and after in (_WORD, _HANGUL):
        return False
    if after == _WORD and text[at - 1] in _JOINING:
        return False
    return not (before == _WORD and text[at] in _JOINING and _goes_on(text, at))


def _goes_on(text: str, at: int) -> bool:
    """Tell whether a joining sign has a letter behind it that makes one word of both.

    The ending of a possessive makes none: "Ann's" names Ann.
    """
    if at + 1 >= len(text) or classes(text[at + 1]) != _WORD:
        return False
    tail = re.match(r"'s(?![^\W_])", text[at:])
    return tail is None
