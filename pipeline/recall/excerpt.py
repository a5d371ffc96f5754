"""Cut a long observation to the sentences around those that answer; always an exact part of it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from muniment.store.text.holding import Yardstick, lines_of

if TYPE_CHECKING:
    from muniment.pipeline.recall.query import Query
    from muniment.pipeline.recall.tokens import Counter

_SENTENCE = re.compile(r"[^.!?…。！？\n]*(?:[.!?…](?=\s|$)|[.!?…。！？\n]|$)+\s*")


def excerpt(
    text: str, limit: int, query: "Query", weights: Mapping[str, float], count: "Counter"
) -> str:
    """Return a part of a text within ``limit`` tokens, around what covers the query best."""
    if count(text) <= limit:
        return text
    spans = [match.span() for match in _SENTENCE.finditer(text) if match.group()]
    yardstick = Yardstick(query.analysis, weights)
    shares = [yardstick.covered(lines_of(text[start:end])).share for start, end in spans]
    first = last = max(range(len(spans)), key=lambda at: (shares[at], -at))
    while True:
        grown = [
            (first - 1, last) if first > 0 else None,
            (first, last + 1) if last + 1 < len(spans) else None,
        ]
        fitting = [
            pair
            for pair in grown
            if pair and count(text[spans[pair[0]][0] : spans[pair[1]][1]]) <= limit
        ]
        if not fitting:
            break
        first, last = max(fitting, key=lambda pair: (shares[pair[0]] + shares[pair[1]], pair[1]))
    return _clipped(text[spans[first][0] : spans[last][1]].strip(), limit, query, count)


def _clipped(text: str, limit: int, query: "Query", count: "Counter") -> str:
    """Cut one sentence that is too long by itself, around the first word that was asked for."""
    if count(text) <= limit:
        return text
    lowered = text.casefold()
    places = [lowered.find(unit.text) for unit in query.analysis.units]
    first = min((place for place in places if place >= 0), default=0)
    start = min(max(0, first - limit // 2), len(text) - 1)
    while count(text[start:]) > limit:
        text = text[: start + max(1, (len(text) - start) * 3 // 4)]
    return text[start:].strip()
