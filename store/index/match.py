"""Turn an analysed question into full-text expressions, and filters into SQL conditions."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from muniment.store.index.documents import Filters
    from muniment.store.text.query import Phrase, QueryAnalysis, Term

# What the engine reads grows with the occurrences of the words looked up, about 2 µs each and with
# no skipping, so the commonest words of a question are left out once the others cost this much, and
# where there are no others they are ranked among so many of their newest occurrences.
MOST_POSTINGS = 12_000
_LEAST_TERMS = 3
_MOST_TERMS = 64
_MOST_LOOKED_UP = 256

# Title and context are kept as one view each, of all kinds of tokens but cuts. A pair that is also
# a dictionary word of the text counts twice there, which measures better than one term for each.
_SCOPES = {
    "words": "{words title context}",
    "names": "{names title context}",
    "grams": "{grams cuts title context}",
    "cuts": "{cuts}",
}


def any_of(query: "QueryAnalysis", terms: "Iterable[Term]") -> str:
    """Return the expression of what holds one of the terms or phrases; empty finds nothing."""
    terms = list(terms)
    looked_up = {term.token for term in terms}
    parts = [_expression(term.view, (term.token,), term.prefix) for term in terms]
    # A phrase costs what its words cost, so it is looked for only where they all are.
    parts += [
        _of_phrase(phrase)
        for phrase in query.phrases
        if len(phrase.tokens) > 1
        and (phrase.view != "words" or looked_up.issuperset(phrase.tokens))
    ]
    return " OR ".join(parts)


def all_phrases(query: "QueryAnalysis") -> str:
    """Return the expression of what holds every phrase."""
    return " AND ".join(map(_of_phrase, query.phrases))


class Chosen(NamedTuple):
    """The terms to look up: ``rare`` everywhere, ``common`` ones beside them among the newest
    ``share`` of the documents only.
    """

    rare: "list[Term]"
    common: "list[Term]"
    share: float


def choose(terms: "Iterable[Term]", documents: int, frequency: "Callable[[Term], int]") -> "Chosen":
    """Keep the terms that tell most for what they cost: the rare ones, and where these are few the
    rarest of the common ones.
    """
    terms = list(terms)[:_MOST_LOOKED_UP]
    if documents * len(terms) <= MOST_POSTINGS:
        return Chosen(terms[:_MOST_TERMS], [], 1.0)
    counted = sorted((frequency(term), place) for place, term in enumerate(terms))
    counted = [(count, place) for count, place in counted if count]
    rare: list[int] = []
    cost = 0
    for count, place in counted:
        cost += count
        if cost > MOST_POSTINGS:
            break
        rare.append(place)
    common = counted[len(rare) : max(len(rare), _LEAST_TERMS)]
    total = sum(count for count, _ in counted[: len(rare) + len(common)])
    return Chosen(
        [terms[place] for place in sorted(rare[:_MOST_TERMS])],
        [terms[place] for place in sorted(place for _, place in common)],
        min(1.0, MOST_POSTINGS / max(total, 1)),
    )


def _of_phrase(phrase: "Phrase") -> str:
    return _expression(phrase.view, phrase.tokens, phrase.prefix)


def _expression(view: str, tokens: "tuple[str, ...]", prefix: bool) -> str:
    text = " ".join(tokens).replace('"', '""')
    return f'{_SCOPES[view]} : "{text}"' + (" *" if prefix else "")


def conditions(filters: "Filters | None") -> tuple[str, list[object]]:
    """Return SQL conditions on the document table, each led by AND, and their values."""
    if filters is None:
        return "", []
    parts: list[str] = []
    values: list[object] = []
    for column, wanted in _sets(filters):
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


def _sets(filters: "Filters") -> "list[tuple[str, tuple[str, ...]]]":
    return [
        ("kind", filters.kinds),
        ("family", filters.families),
        ("origin", filters.origins),
        ("role", filters.roles),
        ("source", filters.sources),
        ("session", filters.sessions),
        ("asset", filters.assets),
        ("grp", filters.groups),
        ("ref", filters.refs),
    ]


def _bounds(filters: "Filters") -> "list[tuple[str, object]]":
    return [
        ("doc.instant >= ?", filters.since),
        ("doc.instant < ?", filters.until),
        ("doc.confidence >= ?", filters.min_confidence),
        ("instr(doc.path, ?) > 0", filters.path),
        ("substr(doc.path, 1, length(?)) = ?", filters.path_prefix),
    ]
