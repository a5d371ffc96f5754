"""The speaker prior: who is asked about mostly said it.

A question names somebody ("When did Ann move?"), or the assistant, and of the lines that words or
meaning have found those that they spoke or wrote come first. Nothing is found by a speaker alone.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from muniment.pipeline.recall.resolve import ASSISTANT_ORIGINS
from muniment.store.text.fold import fold
from muniment.store.text.names import folded_name, is_name, stands_in
from muniment.store.text.stopwords import ENGLISH

if TYPE_CHECKING:
    from muniment.pipeline.recall.query import Query
    from muniment.store.index.documents import Row

_ASSISTANT_ROLES = frozenset({"assistant", "agent", "model", "tool"})
_HAN_NAME = re.compile("[\u3400-\u9fff]{3}")


class Speakers:
    """Those whom a question asks about, of all who spoke in what was found."""

    def __init__(self, query: "Query", rows: "Sequence[Row]") -> None:
        self._named = named_in(query.text, {row.author for row in rows if row.author})
        self._asks_assistant = query.asks_assistant

    def __bool__(self) -> bool:
        """Tell whether a question asks about anybody."""
        return bool(self._named) or self._asks_assistant

    def mean(self, row: "Row") -> bool:
        """Tell whether one of them spoke or wrote this."""
        if self._asks_assistant and (
            row.origin in ASSISTANT_ORIGINS or row.role in _ASSISTANT_ROLES
        ):
            return True
        return row.author in self._named


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
