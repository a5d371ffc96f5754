"""Entities as plain documents: what each is called, how it is related, and what proves it."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities.merging import Groups, proposals
from muniment.store.ledger.entities import MOST_ENTITIES

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

_EVIDENCE, _EPISODES = 50, 50
_NAMES_SHOWN = 12
_NAMED = ("name", "email", "phone", "role")
_FIELDS = ("name", "form", "uses", "via")


def listing(ledger: "Ledger", kind: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield entities, those of one kind or all, the most used first; merged ones are one."""
    groups = Groups(ledger)
    weights: dict[int, int] = {}
    for entity, uses in ledger.entities.weighed(MOST_ENTITIES):
        first = groups.first(entity)
        weights[first] = weights.get(first, 0) + uses
    kinds = ledger.entities.kinds(weights)
    for first in sorted(weights, key=lambda one: (-weights[one], one)):
        if kind in (None, kinds[first][1]):
            yield {
                "ref": f"entity:{kinds[first][0]}",
                **_brief(ledger, groups, first, kinds[first]),
            }


def whole(ledger: "Ledger", identity: str) -> dict[str, Any] | None:
    """Return an entity with its relations, proposals and evidence; null when there is none."""
    entity = ledger.entities.number(identity)
    if entity is None:
        return None
    groups = Groups(ledger)
    first, members = groups.first(entity), groups.of(entity)
    kinds = ledger.entities.kinds(members)
    brief = _brief(ledger, groups, first, kinds[first])
    waiting = [pair for pair in proposals(ledger) if not members.isdisjoint((pair[0], pair[1]))]
    return {
        **brief,
        "relations": relations(ledger, groups, members),
        "proposals": [proposal(ledger, *pair) for pair in waiting],
        "episodes": list(
            dict.fromkeys(f"episode:{one}" for _, one in ledger.relations.episodes_of(members))
        )[:_EPISODES],
        "evidence": [_placed(ledger, use) for use in ledger.entities.uses(members, _EVIDENCE)],
    }


def relations(ledger: "Ledger", groups: Groups, members: Iterable[int]) -> list[dict[str, Any]]:
    """Return what claims say of an entity and others, with the state of each claim."""
    inside = set(members)
    found = []
    for row in ledger.relations.all(inside):
        outgoing = row["entity"] in inside
        other = groups.first(row["other"] if outgoing else row["entity"])
        name = name_of(ledger, groups.of(other))
        if not name:  # named by nothing but the claim itself, which waits for its approval
            continue
        record = row["record"] and f"record:{row['record']}@{row['version']}"
        found.append({
            "relation": row["relation"], "direction": "out" if outgoing else "in",
            "other": reference(ledger, other), "name": name,
            "status": row["status"], "claim": record or f"candidate:{row['candidate']}",
        })  # fmt: skip
    return found


def proposal(ledger: "Ledger", one: int, other: int, reason: str) -> dict[str, Any]:
    """Return a proposed merge with what both sides are called and by what."""
    sides = [
        {"ref": reference(ledger, side), "name": name_of(ledger, [side]),
         "names": _names(ledger, [side]),
         "evidence": [_placed(ledger, use) for use in ledger.entities.uses([side], 3)]}
        for side in (one, other)
    ]  # fmt: skip
    return {"reason": reason, "sides": sides}


def reference(ledger: "Ledger", entity: int) -> str:
    """Return how an entity is referred to."""
    return f"entity:{ledger.entities.kinds([entity])[entity][0]}"


def name_of(ledger: "Ledger", members: Iterable[int]) -> str:
    """Return what an entity is called most, a name before an address."""
    rows = ledger.entities.names(members)
    rows.sort(key=lambda row: (_NAMED.index(row["form"]), -row["uses"], row["seq"]))
    return str(rows[0]["name"]) if rows else ""


def _brief(
    ledger: "Ledger", groups: Groups, first: int, about: tuple[str, str, bool]
) -> dict[str, Any]:
    identity, kind, own = about
    members = groups.of(first)
    merged = [reference(ledger, one) for one in sorted(members - {first})]
    names = _names(ledger, members)
    return {
        "id": identity, "kind": kind, "own": own, "name": name_of(ledger, members),
        "names": names, "uses": sum(name["uses"] for name in names), "merged": merged,
    }  # fmt: skip


def _names(ledger: "Ledger", members: Iterable[int]) -> list[dict[str, Any]]:
    rows = ledger.entities.names(members)[:_NAMES_SHOWN]
    return [{field: row[field] for field in _FIELDS} for row in rows]


def _placed(ledger: "Ledger", use: dict[str, Any]) -> dict[str, Any]:
    row = ledger.evidence.get(use["observation"])
    asset = ledger.assets.row(row.asset) if row else None
    return {
        **use,
        "observation": f"observation:{use['observation']}",
        "asset": row.asset if row else None,
        "file": asset.name if asset else None,
    }
