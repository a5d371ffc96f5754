"""What every engine makes of a question: the terms it ranks by, what they weigh; and for SQLite
the full-text expressions of phrases and the SQL conditions of filters.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import log
from typing import TYPE_CHECKING

from muniment.store.index.documents import FILTER_COLUMNS
from muniment.store.text.query import Term

if TYPE_CHECKING:
    from muniment.store.index.documents import Filters
    from muniment.store.text.query import Phrase, Unit

# BM25 as SQLite's full-text engine has it.
K1, B = 1.2, 0.75
_LEAST_IDF = 1e-6
# Equal scores are put in a fixed order after the cut, so some more are asked for.
TIES = 32
# Up to this many vectors all are scored exactly; above it candidates are chosen first.
EXACT_ROWS = 20_000
# Cosines are told in steps of one in so many, about what float16 rows know of them: engines add up
# in another order, and two texts that are equally near have to be so in each.
COSINE_STEPS = 10_000
# Tokens that begin with a prefix are those from it up to it and this.
PREFIX_END = "\U0010ffff"

# Of a question's many terms the rarest are ranked by.
MOST_TERMS = 64
MOST_LOOKED_UP = 256
# How often the rarest word of a phrase is read to find it, about: of a more common one, the newest
# documents are looked at. Its bonus is small then, and its words count wherever they stand.
MOST_READ_FOR_PHRASE = 5_000
# Of the documents that hold a phrase, the newest so many are told.
MOST_WITH_PHRASE = 500

# What is no observation, and the condition of the partial index of these.
PLANES = {"record", "episode"}
OF_PLANES = "kind IN ('record', 'episode')"

# Title and context are kept as one view each, of all kinds of tokens but cuts.
_SCOPES = {
    "words": "{words title context}",
    "names": "{names title context}",
    "grams": "{grams cuts title context}",
    "cuts": "{cuts}",
}


def idf(held: int, documents: int) -> float:
    """Return the full-text engine's own inverse document frequency."""
    held = min(held, documents)
    return max(log((documents - held + 0.5) / (held + 0.5)), _LEAST_IDF)


def rarity(held: int, documents: int) -> float:
    """Return an inverse document frequency that is positive for every word."""
    return log(1 + (max(documents - held, 0) + 0.5) / (held + 0.5))


def terms_of(unit: "Unit") -> list[Term]:
    """Return the terms that a document with a unit of a question holds, every one."""
    if len(unit.text) == 1 and unit.view == "grams":
        return [Term("grams", unit.text, prefix=True)]
    return [Term(unit.view, token) for token in unit.grams or (unit.text,)]


def rarest(terms: Sequence[Term], counts: Sequence[int]) -> list[Term]:
    """Return the terms that some document holds, of many the rarest, in their order."""
    held = sorted((count, place) for place, count in enumerate(counts) if count)
    return [terms[place] for place in sorted(at for _, at in held[:MOST_TERMS])]


def counts_whole(phrase: "Phrase", ranked: AbstractSet[str]) -> bool:
    """Tell whether a phrase adds to a score, given the tokens that are ranked by.

    The stop words of a phrase are not looked up; then it must not count as a whole.
    """
    tokens = phrase.tokens
    return len(tokens) > 1 and (phrase.view != "words" or ranked >= set(tokens))


def of_phrase(phrase: "Phrase") -> str:
    """Return the expression of what holds a phrase."""
    return _expression(phrase.view, phrase.tokens, phrase.prefix)


def _expression(view: str, tokens: "tuple[str, ...]", prefix: bool) -> str:
    text = " ".join(tokens).replace('"', '""')
    return f'{_SCOPES[view]} : "{text}"' + (" *" if prefix else "")


def is_narrow(filters: "Filters | None") -> bool:
    """Tell whether few documents can meet the filters, and an index finds them."""
    if filters is None:
        return False
    return are_planes(filters.kinds) or bool(filters.assets or filters.refs)


def leaves_out_planes(filters: "Filters | None") -> bool:
    """Tell whether only observations can meet the filters: nothing else has an origin."""
    if filters is None:
        return False
    return bool(filters.origins) or (bool(filters.kinds) and PLANES.isdisjoint(filters.kinds))


def are_planes(kinds: Sequence[str]) -> bool:
    """Tell whether all kinds that are asked for are of what is no observation."""
    return bool(kinds) and PLANES.issuperset(kinds)


def conditions(filters: "Filters | None") -> tuple[str, list[object]]:
    """Return SQL conditions on the document table, each led by AND, and their values."""
    if filters is None:
        return "", []
    parts: list[str] = []
    values: list[object] = []
    for name, column in FILTER_COLUMNS.items():
        wanted = getattr(filters, name)
        if wanted:
            parts.append(f"doc.{column} IN ({', '.join('?' * len(wanted))})")
            values += wanted
    for condition, value in _bounds(filters):
        if value is not None:
            parts.append(condition)
            values += [value] * condition.count("?")
    return "".join(f" AND {part}" for part in parts), list(map(storable, values))


def storable(value: object) -> object:
    """Return a value as the database takes it: a name that is no UTF-8 loses what is not."""
    if isinstance(value, str) and not value.isascii():
        return value.encode("utf-8", "replace").decode()
    return value


def _bounds(filters: "Filters") -> "list[tuple[str, object]]":
    return [
        ("doc.instant >= ?", filters.since),
        ("doc.instant < ?", filters.until),
        ("doc.confidence >= ?", filters.min_confidence),
        ("instr(doc.path, ?) > 0", filters.path),
        ("substr(doc.path, 1, length(?)) = ?", filters.path_prefix),
    ]
