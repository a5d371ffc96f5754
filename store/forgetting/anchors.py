"""Ids of entities that stay: they tell of the first use of a name, and follow when it goes."""

from collections.abc import Iterable, Iterator

from muniment.store.forgetting.going import going
from muniment.store.forgetting.plan import numbers
from muniment.store.forgetting.reduce import Renamed
from muniment.store.ids import made
from muniment.store.ledger import Ledger


def touched(ledger: Ledger) -> list[int]:
    """Return the entities that stay and lose a name, or are named by a file that is reduced."""
    return numbers(
        ledger.database,
        "SELECT DISTINCT n.entity FROM entity_name n JOIN observation o ON o.seq = n.observation "
        f"WHERE (n.seq IN {going('entity_name')} OR o.asset IN (SELECT seq FROM temp.reduced)) "
        f"AND n.entity NOT IN {going('entity')}",
    )


def rename(ledger: Ledger, entities: Iterable[int]) -> Iterator[Renamed]:
    """Give entities ids by what is left of them, after the rest is deleted; yield the changes."""
    database = ledger.database
    for entity in entities:
        ((old, first),) = database.execute(
            "SELECT e.id, (SELECT o.id FROM entity_name n JOIN observation o "
            "ON o.seq = n.observation WHERE n.entity = e.seq ORDER BY n.seq LIMIT 1) "
            "FROM entity e WHERE e.seq = ?",
            (entity,),
        )
        new = made("ent", first, entity)
        if new != old:
            database.execute("UPDATE entity SET id = ? WHERE seq = ?", (new, entity))
            yield Renamed("entity", str(old), new)
