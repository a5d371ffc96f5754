"""What was said and corrected since: it stays as it was said, marked, and answers no more."""

import re
from collections.abc import Iterable, Sequence

MARK = "corrected since"
# What the corrected words were set off by.
_START = re.compile(r"""^[^\w"'“‘«(\[「『《（【]+""")
_END = re.compile(r"[\s,;:，；：、]+$")


def left_of(text: str, spans: Iterable[tuple[int, int]]) -> tuple[str, ...]:
    """Return the parts of a text outside of what was corrected, those that say anything.

    >>> left_of("I live in Rome now, I moved.", [(0, 14)])
    ('now, I moved.',)
    """
    parts, at = [], 0
    for start, end in sorted(spans):
        parts.append(text[at : max(at, start)])
        at = max(at, end)
    return _telling([*parts, text[at:]])


def without(text: str, quotes: Sequence[str]) -> str:
    """Return a text without the words that were corrected."""
    spans = [(at, at + len(quote)) for quote in quotes if (at := text.find(quote)) >= 0]
    return " ".join(left_of(text, spans)) if spans else text


def _telling(parts: Sequence[str]) -> tuple[str, ...]:
    stripped = (_END.sub("", _START.sub("", part)) for part in parts)
    return tuple(part for part in stripped if any(map(str.isalnum, part)))
