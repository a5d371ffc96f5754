"""What the user says of entities: other names, wrong names, and names of somebody else."""

from typing import TYPE_CHECKING

from muniment.pipeline.entities.documents import name_of
from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.merging import ACTOR, Groups
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.ids import storable
from muniment.store.ledger.entities import Use
from muniment.store.text.names import folded_name, is_name

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger


def add_alias(ledger: "Ledger", entity: int, alias: str) -> bool:
    """Keep another name of an entity, with a statement of the user as its evidence.

    Runs inside the caller's unit; returns false when it is called so already.
    """
    from muniment.pipeline.statements import add_statement, statement_observation

    alias, folded = storable(" ".join(alias.split())), folded_name(alias)
    if not is_name(folded):
        raise UsageError(f"{alias!r} is no name", code="bad_name", hint="give at least two letters")
    members = Groups(ledger).of(entity)
    if any(row["folded"] == folded for row in ledger.entities.names(members)):
        return False
    if ledger.entities.decide_name(entity, folded, "keep", "by_the_user", ACTOR):
        return True
    text = f"{name_of(ledger, [entity])} is also called {alias}."
    observation = statement_observation(text)
    add_statement(ledger, observation, "entities")
    start = text.rindex(alias)
    use = Use(observation.id, alias, folded, "name", "user", start, start + len(alias))
    kind = ledger.entities.kinds([entity])[entity][1]
    Identities(ledger).take(kind, [use], entity)
    return True


def remove_alias(ledger: "Ledger", entity: int, alias: str) -> bool:
    """Let an entity be called so no more; its evidence is kept. Return false when it was not.

    Raises ``UsageError`` for the last of its names.
    """
    found = _holders(ledger, entity, alias)
    for member, folded in found:
        ledger.entities.decide_name(member, folded, "drop", "by_the_user", ACTOR)
    return bool(found)


def part_name(ledger: "Ledger", entity: int, alias: str) -> int:
    """Make an entity of its own of a name, with its evidence; return its number.

    Raises ``NotFoundError`` when it is not called so, ``UsageError`` for the last of its names.
    """
    found = _holders(ledger, entity, alias)
    if not found:
        raise NotFoundError(f"it is not called {alias}", hint="see: muniment show entity:...")
    member, folded = found[0]
    new = ledger.entities.part(member, folded)
    if new is None:
        raise NotFoundError(f"it is not called {alias}", hint="see: muniment show entity:...")
    ledger.entities.decide_name(member, folded, "drop", "by_the_user", ACTOR)
    ledger.entities.decide(member, new, "apart", "by_the_user", ACTOR)
    return new


def _holders(ledger: "Ledger", entity: int, alias: str) -> list[tuple[int, str]]:
    """Return (member, folded name) of those in a group that are called so."""
    wanted = {folded_name(alias), alias.strip().casefold()}
    rows = ledger.entities.names(Groups(ledger).of(entity))
    found = sorted({(row["entity"], row["folded"]) for row in rows if row["folded"] in wanted})
    if found and len({row["folded"] for row in rows}) == 1:
        raise UsageError(
            "it is called nothing else", code="last_name", hint="an entity needs a name"
        )
    return found
