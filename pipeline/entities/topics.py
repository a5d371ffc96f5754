"""Topics: entities that belong together, with the episodes that say so; worked out, not stored.

Two entities belong together where a claim in force relates them, or where they are named together
in several episodes and seldom apart. The label is made of their names and of words that titles of
these episodes share: no model is asked.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities.documents import name_of, reference
from muniment.pipeline.entities.merging import Groups
from muniment.store.ids import made

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

MOST_ENTITIES = 500
# Together at least so often, and at least in this share of the episodes that name either.
LEAST_TOGETHER, LEAST_SHARE = 2, 0.3
# A crowd says nothing of two of its members.
MOST_IN_AN_EPISODE = 12
_EPISODES, _LABELLED, _WORDS = 20, 3, 3
_LEAST_WORD = 3


def topics(ledger: "Ledger") -> list[dict[str, Any]]:
    """Return the topics of a scope, those of the most episodes first."""
    groups = Groups(ledger)
    weighed = ledger.entities.weighed(MOST_ENTITIES)
    kinds = ledger.entities.kinds(entity for entity, _ in weighed)
    chosen = {entity for entity, _ in weighed if not kinds[entity][2]}
    episodes: dict[int, set[str]] = {groups.first(entity): set() for entity in chosen}
    for entity, episode in ledger.relations.episodes_of(chosen):
        episodes[groups.first(entity)].add(episode)
    related = {
        (groups.first(row["entity"]), groups.first(row["other"]))
        for row in ledger.relations.all()
        if row["status"] == "active"
    }
    together = connected([*_together(episodes), *related], set(episodes))
    found = [_topic(ledger, groups, members, episodes) for members in together]
    return sorted(found, key=lambda one: (-one["count"], one["id"]))


def connected(pairs: Iterable[tuple[int, int]], nodes: set[int]) -> list[list[int]]:
    """Return the groups of two nodes or more that pairs of nodes connect, each sorted."""
    group: dict[int, set[int]] = {}
    for one, other in pairs:
        if one in nodes and other in nodes and one != other:
            joined = group.get(one, {one}) | group.get(other, {other})
            for member in joined:
                group[member] = joined
    return sorted({min(members): sorted(members) for members in group.values()}.values())


def _together(episodes: Mapping[int, set[str]]) -> list[tuple[int, int]]:
    present: dict[str, list[int]] = {}
    for entity, where in episodes.items():
        for episode in where:
            present.setdefault(episode, []).append(entity)
    counts: Counter[tuple[int, int]] = Counter()
    for members in present.values():
        if len(members) <= MOST_IN_AN_EPISODE:
            counts.update(combinations(sorted(members), 2))
    return [
        (one, other)
        for (one, other), times in counts.items()
        if times >= LEAST_TOGETHER and times >= LEAST_SHARE * len(episodes[one] | episodes[other])
    ]


def _topic(
    ledger: "Ledger", groups: Groups, members: list[int], episodes: Mapping[int, set[str]]
) -> dict[str, Any]:
    counts = Counter(episode for entity in members for episode in episodes[entity])
    told = sorted((one for one, times in counts.items() if times > 1), key=lambda one: one)
    weight = sorted(members, key=lambda one: (-len(episodes[one]), one))
    names = [name_of(ledger, groups.of(one)) for one in weight]
    words = _shared_words(ledger, told, names)
    refs = [reference(ledger, one) for one in weight]
    more = f" and {len(names) - _LABELLED} more" if len(names) > _LABELLED else ""
    label = ", ".join(names[:_LABELLED]) + more + (f": {', '.join(words)}" if words else "")
    return {
        "id": made("tpc", *sorted(refs)),
        "label": label,
        "label_basis": "extractive",
        "entities": [{"ref": ref, "name": name} for ref, name in zip(refs, names, strict=True)],
        "count": len(told),
        "episodes": [f"episode:{one}" for one in told[:_EPISODES]],
    }


def _shared_words(ledger: "Ledger", episodes: list[str], names: list[str]) -> list[str]:
    """Return the words that titles of several episodes share, names and small words left out."""
    from muniment.store.text.fold import fold
    from muniment.store.text.query import analyse_query

    counts: Counter[str] = Counter()
    own = set(" ".join(fold(name) for name in names).split())
    for identity in episodes[:_EPISODES]:
        found = ledger.episodes.get(identity)
        title = found["title"] if found else ""
        shown = {
            word for word in fold(title).split() if word.isalpha() and len(word) >= _LEAST_WORD
        }
        telling = {unit.text for unit in analyse_query(title).units}
        counts.update(word for word in shown - own if analyse_query(word).units and telling)
    shared = sorted(
        (word for word, times in counts.items() if times > 1), key=lambda w: (-counts[w], w)
    )
    return shared[:_WORDS]
