"""Entities: what each is called by which evidence, and decisions on pairs and names."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from muniment.store.database import number, rows
from muniment.store.ids import made, storable
from muniment.store.times import now

# What a name is known by: later uses of it add nothing that these do not prove.
MOST_USES = 50
MOST_ENTITIES = 2_000


class Use(NamedTuple):
    """A name as an observation uses it; the span is null where it is not in the text itself."""

    observation: str
    name: str
    folded: str
    form: str
    via: str
    start: int | None = None
    end: int | None = None
    candidate: int | None = None


class Pair(NamedTuple):
    """Two entities and the decision on them that is in force."""

    entity: int
    other: int
    action: str
    reason: str
    actor: str
    at: str


class Entities:
    """The entity tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._uses: dict[tuple[int, str, str], int] = {}

    # --- writing ---------------------------------------------------------------------------------

    def add(self, kind: str, use: Use, *, own: bool = False, out_of: str | None = None) -> int:
        """Make an entity of a first use of its name; return its number.

        ``out_of`` is the id of the entity that the name was taken from.
        """
        identity = made("ent", kind, use.observation, use.form, use.folded, out_of)
        self._database.execute(
            "INSERT INTO entity (id, kind, own, created_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING",
            (identity, kind, int(own), now()),
        )
        found = number(self._database, "SELECT seq FROM entity WHERE id = ?", (identity,))
        self.name(found, use)
        return found

    def name(self, entity: int, use: Use) -> bool:
        """Keep that an observation calls an entity so; return whether that is new and kept."""
        key = (entity, use.folded, use.form)
        if key not in self._uses:
            self._uses[key] = number(
                self._database,
                "SELECT count(*) FROM entity_name WHERE entity = ? AND folded = ? AND form = ?",
                key,
            )
        if self._uses[key] >= MOST_USES and use.via != "user":
            return False
        before = self._database.total_changes()
        self._database.execute(
            "INSERT INTO entity_name (entity, observation, candidate, name, folded, form, via, "
            'start, "end", at) SELECT ?, o.seq, ?, ?, ?, ?, ?, ?, ?, ? FROM observation o '
            "WHERE o.id = ? ON CONFLICT (entity, folded, form, observation) DO NOTHING",
            (entity, use.candidate, storable(use.name), use.folded, use.form, use.via, use.start,
             use.end, now(), use.observation),
        )  # fmt: skip
        new = self._database.total_changes() > before
        self._uses[key] += new
        return new

    def decide(self, one: int, other: int, action: str, reason: str, actor: str) -> bool:
        """Decide on two entities; return false when that is in force already."""
        low, high = sorted((one, other))
        known = self.pair(low, high)
        if known is not None and known.action == action:
            return False
        self._database.execute(
            "INSERT INTO entity_decision (entity, other, action, reason, actor, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (low, high, action, reason, actor, now()),
        )
        return True

    def decide_name(self, entity: int, folded: str, action: str, reason: str, actor: str) -> bool:
        """Drop a name of an entity, or keep it again; return whether that changes anything."""
        row = self._database.execute(
            "SELECT min(n.seq), (SELECT d.action FROM entity_decision d JOIN entity_name m "
            "ON m.seq = d.name WHERE m.entity = ?1 AND m.folded = ?2 ORDER BY d.seq DESC LIMIT 1) "
            "FROM entity_name n WHERE n.entity = ?1 AND n.folded = ?2",
            (entity, folded),
        ).fetchone()
        if row is None or row[0] is None or (row[1] or "keep") == action:
            return False
        self._database.execute(
            "INSERT INTO entity_decision (entity, name, action, reason, actor, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (entity, row[0], action, reason, actor, now()),
        )
        return True

    def part(self, entity: int, folded: str) -> int | None:
        """Make an entity of its own of one name; return its number, null for no such name."""
        ((identity, kind),) = rows(
            self._database, "SELECT id, kind FROM entity WHERE seq = ?", (entity,)
        )
        found = rows(
            self._database,
            'SELECT o.id, n.name, n.folded, n.form, n.via, n.start, n."end", n.candidate '
            "FROM entity_name_now n JOIN observation o ON o.seq = n.observation "
            "WHERE n.entity = ? AND n.folded = ? ORDER BY n.seq",
            (entity, folded),
        )
        if not found:
            return None
        new = self.add(kind, Use(*found[0]), out_of=identity)
        for row in found[1:]:
            self.name(new, Use(*row))
        return new

    # --- reading ---------------------------------------------------------------------------------

    def any(self) -> bool:
        """Tell whether there is an entity at all."""
        return bool(number(self._database, "SELECT 1 FROM entity LIMIT 1"))

    def own(self) -> int | None:
        """Return the number of the owner of the scope as an entity."""
        return number(self._database, "SELECT seq FROM entity WHERE own") or None

    def number(self, identity: str) -> int | None:
        """Return the number of an entity that has a name to show, by its id."""
        return number(
            self._database,
            "SELECT e.seq FROM entity e WHERE e.id = ? AND EXISTS "
            "(SELECT 1 FROM entity_name_now n WHERE n.entity = e.seq)",
            (identity,),
        ) or None  # fmt: skip

    def called(self, folded: Iterable[str], forms: Iterable[str] = ("name", "role")) -> list[
        tuple[str, int, str]
    ]:  # fmt: skip
        """Return (folded name, entity, form) of entities that are called so now."""
        found = self._database.execute(
            "SELECT d.folded, d.entity, d.form FROM (SELECT DISTINCT folded, entity, form "
            "FROM entity_name WHERE folded IN (SELECT value FROM json_each(?)) "
            "AND form IN (SELECT value FROM json_each(?))) d WHERE EXISTS (SELECT 1 FROM "
            "entity_name_now n WHERE n.entity = d.entity AND n.folded = d.folded "
            "AND n.form = d.form) ORDER BY d.folded, d.entity",
            (json.dumps(sorted(set(folded))), json.dumps(sorted(forms))),
        )
        return [(str(name), int(entity), str(form)) for name, entity, form in found]

    def in_thread(self, folded: str, thread: str | None) -> int | None:
        """Return who a name without an address is in one talk; ``#`` names a workspace."""
        where = "o.thread GLOB '#*'" if thread == "#" else "o.thread IS ?2"
        return number(
            self._database,
            "SELECT n.entity FROM entity_name_now n JOIN observation o ON o.seq = n.observation "
            f"WHERE n.folded = ?1 AND n.form = 'name' AND n.via = 'author' AND {where} "
            "ORDER BY n.seq LIMIT 1",
            (folded,) if thread == "#" else (folded, thread),
        ) or None  # fmt: skip

    def first_use(self, entity: int, use: Use) -> bool:
        """Tell whether an entity is called so by one observation at most: the name is news."""
        return self._uses.get((entity, use.folded, use.form), 0) <= 1

    def named_by(self, entities: Iterable[int], folded: str) -> list[tuple[int, str, str]]:
        """Return (entity, observation, source) of the uses of a name."""
        found = self._database.execute(
            "SELECT n.entity, o.id, n.via FROM entity_name_now n JOIN observation o "
            "ON o.seq = n.observation WHERE n.folded = ? "
            "AND n.entity IN (SELECT value FROM json_each(?)) ORDER BY n.seq",
            (folded, json.dumps(sorted(set(entities)))),
        )
        return [(int(one), str(observation), str(via)) for one, observation, via in found]

    def kinds(self, entities: Iterable[int]) -> dict[int, tuple[str, str, bool]]:
        """Return (id, kind, whether it is the owner) by number."""
        found = self._database.execute(
            "SELECT seq, id, kind, own FROM entity WHERE seq IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(set(entities))),),
        )
        return {int(seq): (str(one), str(kind), bool(own)) for seq, one, kind, own in found}

    def names(self, entities: Iterable[int]) -> list[dict[str, Any]]:
        """Return what entities are called: every name with its form, use count and sources."""
        found = self._database.execute(
            "SELECT n.entity, n.name, n.folded, n.form, count(*), group_concat(DISTINCT n.via), "
            "min(n.seq) FROM entity_name_now n WHERE n.entity IN (SELECT value FROM json_each(?)) "
            "GROUP BY n.entity, n.folded, n.form ORDER BY count(*) DESC, min(n.seq)",
            (json.dumps(sorted(set(entities))),),
        )
        names = ("entity", "name", "folded", "form", "uses", "via", "seq")
        return [
            {**dict(zip(names, row, strict=True)), "via": sorted(str(row[5]).split(","))}
            for row in found
        ]

    def folded(self, entities: Iterable[int]) -> list[tuple[int, str]]:
        """Return (entity, folded name or address) of what entities are called now."""
        found = self._database.execute(
            "SELECT d.entity, d.folded FROM (SELECT DISTINCT entity, folded FROM entity_name "
            "WHERE entity IN (SELECT value FROM json_each(?)) AND form IN ('name', 'email')) d "
            "WHERE EXISTS (SELECT 1 FROM entity_name_now n WHERE n.entity = d.entity "
            "AND n.folded = d.folded) ORDER BY d.entity, d.folded",
            (json.dumps(sorted(set(entities))),),
        )
        return [(int(entity), str(name)) for entity, name in found]

    def uses(self, entities: Iterable[int], limit: int) -> list[dict[str, Any]]:
        """Return the evidence of names: each shown use with its observation, oldest first."""
        found = self._database.execute(
            'SELECT o.id, n.name, n.form, n.via, n.start, n."end" FROM entity_name_now n '
            "JOIN observation o ON o.seq = n.observation "
            "WHERE n.entity IN (SELECT value FROM json_each(?)) ORDER BY n.seq LIMIT ?",
            (json.dumps(sorted(set(entities))), limit),
        )
        names = ("observation", "name", "form", "via", "start", "end")
        return [dict(zip(names, row, strict=True)) for row in found]

    def weighed(self, limit: int = MOST_ENTITIES) -> list[tuple[int, int]]:
        """Return (entity, uses of its names), the most used first."""
        found = self._database.execute(
            "SELECT n.entity, count(*) FROM entity_name_now n GROUP BY n.entity "
            "ORDER BY count(*) DESC, n.entity LIMIT ?",
            (limit,),
        )
        return [(int(entity), int(uses)) for entity, uses in found]

    def pair(self, one: int, other: int) -> Pair | None:
        """Return the decision in force on two entities."""
        low, high = sorted((one, other))
        row = self._database.execute(
            "SELECT entity, other, action, reason, actor, at FROM entity_pair_now "
            "WHERE entity = ? AND other = ?",
            (low, high),
        ).fetchone()
        return None if row is None else Pair(*row)

    def pairs(self, action: str) -> list[Pair]:
        """Return the pairs that were decided on so, oldest first; what is not shown is left out."""
        found = self._database.execute(
            "SELECT p.entity, p.other, p.action, p.reason, p.actor, p.at FROM entity_pair_now p "
            "WHERE p.action = ? "
            "AND EXISTS (SELECT 1 FROM entity_name_now n WHERE n.entity = p.entity) "
            "AND EXISTS (SELECT 1 FROM entity_name_now n WHERE n.entity = p.other) ORDER BY p.seq",
            (action,),
        )
        return [Pair(*row) for row in found]
