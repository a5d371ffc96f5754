"""The entity signal: who and what a question names, what else they are called, who is near them.

A question that names nobody costs one look-up and changes nothing. What is named raises hits that
it said under another name, or that call it by one; what a relation leads to raises them by less.
The name that stands in the question is the words' own business. The signal orders hits that words
or meaning have found and finds none by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline.recall.fuse import Fused, nudge
from muniment.store.text.fold import fold
from muniment.store.text.names import folded_name, longest, possible_names, stands_in
from muniment.store.text.stopwords import CHINESE, ENGLISH

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

SIGNAL = "entity"
HOPS = 1
MOST_REACHED = 48
# Names that are words as well count only where they are written as names.
_WORDS_TOO = ENGLISH | {
    "april", "art", "august", "bill", "dawn", "drew", "faith", "frank", "grace", "hope", "ivy",
    "jack", "joy", "june", "mark", "may", "mercy", "miles", "olive", "pat", "penny", "ray", "rich",
    "rob", "rose", "ruby", "sky", "sue", "sunny", "victor", "wade", "will",
}  # fmt: skip
_QUERY_CHARACTERS = 400
_MOST_HITS = 400
_ALONE, _DISTANT = 1.0, 0.5


class Reached(NamedTuple):
    """An entity of the path: how far from a seed, and from which one by which relation."""

    entity: int
    hops: int
    before: int
    relation: int


@dataclass(slots=True)
class Path:
    """What a question names, and what lies around that; ``names`` are folded, by entity."""

    seeds: dict[int, str] = field(default_factory=dict)
    reached: list[Reached] = field(default_factory=list)
    names: dict[int, set[str]] = field(default_factory=dict)


def path_of(ledger: "Ledger", text: str, hops: int = HOPS) -> Path:
    """Return the entities that a question names and those around them; empty for none."""
    path = Path()
    if not ledger.entities.any():
        return path
    path.seeds = _seeds(ledger, text[:_QUERY_CHARACTERS])
    if not path.seeds:
        return path
    found = [Reached(*one) for one in ledger.relations.reach(path.seeds, hops, MOST_REACHED)]
    kinds = ledger.entities.kinds(one.entity for one in found)
    # The owner is near everything; only a question by name is about them.
    path.reached = [one for one in found if one.entity in path.seeds or not kinds[one.entity][2]]
    for entity, name in ledger.entities.folded(one.entity for one in path.reached):
        path.names.setdefault(entity, set()).add(name)
    return path


def raise_named(ledger: "Ledger", path: Path, hits: Sequence[Fused], weight: float) -> list[Fused]:
    """Raise hits by what they have to do with the entities of a path; order them anew."""
    strengths = _strengths(path)
    if not strengths or not hits:
        return list(hits)
    texts = _texts(ledger, [hit.key for hit in hits[:_MOST_HITS]])
    amounts = {key: _amount(strengths, author, text) for key, (author, text) in texts.items()}
    told = [amount for amount in amounts.values() if amount]
    # What nearly every hit has to do with tells none of them from the others.
    telling = 1.0 - len(told) / len(amounts) if amounts else 0.0
    if not told or not telling:
        return list(hits)
    return nudge(
        hits,
        lambda key: {SIGNAL: weight * telling * amounts[key]} if amounts.get(key) else {},
    )


def documents(ledger: "Ledger", path: Path) -> list[dict[str, Any]]:
    """Return a path as plain values, for ``explain``."""
    kinds = ledger.entities.kinds(one.entity for one in path.reached)
    relations = {row["seq"]: row for row in ledger.relations.all(kinds)}
    found = []
    for one in path.reached:
        relation = relations.get(one.relation)
        merged = one.entity != one.before and relation is None
        claim = relation and (
            f"record:{relation['record']}@{relation['version']}" if relation["record"]
            else f"candidate:{relation['candidate']}"
        )  # fmt: skip
        found.append({
            "entity": f"entity:{kinds[one.entity][0]}", "kind": kinds[one.entity][1],
            "named": path.seeds.get(one.entity), "hops": one.hops,
            "names": sorted(path.names.get(one.entity, ())),
            "from": f"entity:{kinds[one.before][0]}" if one.before in kinds
            and one.before != one.entity else None,
            "relation": "merged" if merged else relation and relation["relation"],
            "claim": claim,
        })  # fmt: skip
    return found


def _seeds(ledger: "Ledger", text: str) -> dict[int, str]:
    """Return the entities that a text names, each with the name; the longest name wins."""
    folded = fold(text)
    spans = list(possible_names(folded))
    called: dict[str, list[int]] = {}
    for name, entity, _ in ledger.entities.called(
        {span.name for span in spans}, ("name", "role", "email")
    ):
        if name not in CHINESE and (name not in _WORDS_TOO or _written_as_name(name, text)):
            called.setdefault(name, []).append(entity)
    return {entity: span.name for span in longest(spans, called) for entity in called[span.name]}


def _written_as_name(name: str, text: str) -> bool:
    """Tell whether a name that is a word, too, has a capital, and not for beginning a sentence."""
    words = text.split()
    return any(word[:1].isupper() and folded_name(word) == name for word in words[1:])


def _strengths(path: Path) -> dict[str, float]:
    """Return what each name is worth; a name that the question says is found by its words."""
    strengths: dict[str, float] = {}
    said = set(path.seeds.values())
    for one in path.reached:
        share = _ALONE if one.hops == 0 else _DISTANT**one.hops
        for name in path.names.get(one.entity, set()) - said:
            strengths[name] = max(share, strengths.get(name, 0.0))
    return strengths


def _amount(strengths: Mapping[str, float], author: str | None, text: str) -> float:
    """Return how much a hit has to do with what is named, 0 to 1."""
    said = strengths.get(folded_name(author), 0.0) if author else 0.0
    folded = fold(text)
    named = max(
        (share for name, share in strengths.items() if stands_in(folded, name)), default=0.0
    )
    return max(said, named)


def _texts(ledger: "Ledger", refs: Sequence[str]) -> dict[str, tuple[str | None, str]]:
    """Return (author, text) of hits by ref."""
    found: dict[str, tuple[str | None, str]] = {}
    kind, _, _ = refs[0].partition(":")
    ids = {ref.removeprefix(f"{kind}:").partition("@")[0]: ref for ref in refs}
    for identity, author, text in ledger.relations.texts(kind, ids):
        found[ids[identity]] = (author, text)
    return found
