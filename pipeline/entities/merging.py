"""Entities that are one: proposals, what the user decides on them, and the way back.

A merge joins nothing in the ledger. It is a decision on two entities, and the newest decision on
a pair is in force; so it can be undone, and what each was called by which evidence stays known.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

ACTOR, FINDER = "user", "entities"
# An address that so many names write from belongs to a service, not to a person.
MOST_NAMES_OF_AN_ADDRESS = 5
_ADDRESSES = frozenset({"email", "phone"})


class Groups:
    """Which entities count as one: by the merges in force when it was made."""

    def __init__(self, ledger: "Ledger") -> None:
        self._of: dict[int, set[int]] = {}
        for pair in ledger.entities.pairs("merge"):
            self._join(pair.entity, pair.other)

    def of(self, entity: int) -> frozenset[int]:
        """Return everything that an entity is merged with, itself too."""
        return frozenset(self._of.get(entity, {entity}))

    def first(self, entity: int) -> int:
        """Return the entity that stands for a group: the oldest."""
        return min(self.of(entity))

    def _join(self, one: int, other: int) -> None:
        joined = self._of.get(one, {one}) | self._of.get(other, {other})
        for member in joined:
            self._of[member] = joined


def merge(ledger: "Ledger", entities: Iterable[int]) -> bool:
    """Take entities for one, inside the caller's unit; return whether that is new."""
    one, *others = entities
    changed = False
    for other in others:
        groups = Groups(ledger)
        if other not in groups.of(one):
            first, second = groups.first(one), groups.first(other)
            changed |= ledger.entities.decide(first, second, "merge", "by_the_user", ACTOR)
            # The pair that was named is answered, too.
            if ledger.entities.pair(one, other) is not None:
                ledger.entities.decide(one, other, "merge", "by_the_user", ACTOR)
    return changed


def split(ledger: "Ledger", entity: int) -> bool:
    """Take an entity out of what it is merged with; the others stay one. Return whether it was."""
    rest = sorted(Groups(ledger).of(entity) - {entity})
    for other in rest:
        ledger.entities.decide(entity, other, "apart", "by_the_user", ACTOR)
    for other in rest[1:]:
        ledger.entities.decide(rest[0], other, "merge", "stays_merged", ACTOR)
    return bool(rest)


def keep_apart(ledger: "Ledger", one: int, other: int) -> bool:
    """Turn a proposal down, for good; return whether that is new. Merged ones are split first."""
    if other in Groups(ledger).of(one):
        split(ledger, other)
    return ledger.entities.decide(one, other, "apart", "by_the_user", ACTOR)


def propose(ledger: "Ledger", entity: int, folded: str, form: str) -> bool:
    """Propose to take an entity for the oldest other one of its kind with this name or address.

    What was decided on before is not proposed again.
    """
    entities = ledger.entities
    called = [found for _, found, _ in entities.called([folded], [form])]
    kinds = entities.kinds([*called, entity])
    same = [one for one in called if one != entity and kinds[one][1] == kinds[entity][1]]
    if not same or (form in _ADDRESSES and len(same) >= MOST_NAMES_OF_AN_ADDRESS):
        return False
    if entities.pair(entity, same[0]) is not None or same[0] in Groups(ledger).of(entity):
        return False
    reason = "same_address" if form in _ADDRESSES else "same_name"
    return entities.decide(entity, same[0], "propose", reason, FINDER)


def proposals(ledger: "Ledger") -> Iterator[tuple[int, int, str]]:
    """Yield (entity, other, reason) of what waits for a decision and is not one by now."""
    groups = Groups(ledger)
    for pair in ledger.entities.pairs("propose"):
        if pair.other not in groups.of(pair.entity):
            yield pair.entity, pair.other, pair.reason
