"""The speaker prior: who is asked about mostly said it.

A question names somebody ("When did Ann move?"), or the assistant, and of the lines that words or
meaning have found those that they spoke or wrote come first. Nothing is found by a speaker alone.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from muniment.pipeline.recall.fuse import Fused, nudge
from muniment.pipeline.recall.resolve import ASSISTANT_ORIGINS
from muniment.store.ledger.lookup import Lookup
from muniment.store.text.fold import fold
from muniment.store.text.names import folded_name, is_name, stands_in
from muniment.store.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from muniment.pipeline.recall.query import Query
    from muniment.store.ledger import Ledger

SIGNAL = "speaker"
_ASSISTANT_ROLES = frozenset({"assistant", "agent", "model", "tool"})
_PLANE = "observation:"
# Further down nothing comes into a pack.
_MOST_HITS = 200
_HAN_NAME = re.compile("[\u3400-\u9fff]{3}")


def raise_speakers(
    ledger: "Ledger", query: "Query", hits: Sequence[Fused], weight: float
) -> list[Fused]:
    """Raise observation hits by whom the question names as their speaker; order them anew."""
    numbers = [hit.number for hit in hits[:_MOST_HITS]]
    voices = Lookup(ledger.database).voices(numbers) if numbers else []
    named = named_in(query.text, {author for _, author, _, _ in voices if author})
    meant = {
        _PLANE + identity
        for identity, author, role, origin in voices
        if (query.asks_assistant and (origin in ASSISTANT_ORIGINS or role in _ASSISTANT_ROLES))
        or (author in named)
    }
    if not meant:
        return list(hits)
    return nudge(hits, lambda key: {SIGNAL: weight} if key in meant else {})


def named_in(text: str, authors: Iterable[str]) -> set[str]:
    """Return the authors whom a text names, wholly or by one of their names.

    >>> sorted(named_in("What did Ann tell 王小明?", ["Ann Lee", "Bo Lee", "王小明"]))
    ['Ann Lee', '王小明']
    """
    folded = fold(text)
    return {
        author for author in authors if any(stands_in(folded, name) for name in _names_of(author))
    }


def _names_of(author: str) -> set[str]:
    """Return the whole name and the given one; a family's name names several."""
    whole = folded_name(author)
    given = whole[1:] if _HAN_NAME.fullmatch(whole) else whole.partition(" ")[0]
    return {name for name in (whole, given) if is_name(name) and name not in ENGLISH}
