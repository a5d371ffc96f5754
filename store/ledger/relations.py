"""Relations of entities: what claims say of two of them, and what lies around one."""

import json
from collections.abc import Iterable
from typing import Any

import apsw

from muniment.store.database import number
from muniment.store.ids import storable
from muniment.store.times import now

MOST_RELATIONS = 5_000


class Relations:
    """The relation table of a ledger, and the reads that follow it."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def relate(self, entity: int, other: int, relation: str, candidate: int) -> bool:
        """Keep that a claim relates two entities; return whether that is new."""
        before = self._database.total_changes()
        self._database.execute(
            "INSERT INTO entity_relation (entity, other, relation, candidate, at) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (candidate, entity, other, relation) DO NOTHING",
            (entity, other, storable(relation), candidate, now()),
        )
        return self._database.total_changes() > before

    def all(
        self, entities: Iterable[int] | None = None, *, limit: int = MOST_RELATIONS
    ) -> list[dict[str, Any]]:
        """Return relations, of all or of some entities, with the state of their claims."""
        where, values = "1", tuple[str, ...]()
        if entities is not None:
            wanted = json.dumps(sorted(set(entities)))
            where, values = (
                "r.entity IN (SELECT value FROM json_each(?1)) "
                "OR r.other IN (SELECT value FROM json_each(?1))"
            ), (wanted,)  # fmt: skip
        rows = self._database.execute(
            "SELECT r.seq, r.entity, r.other, r.relation, r.candidate_id, r.record, r.version, "
            "r.valid_at, r.invalid_at, r.status FROM entity_relation_now r "
            f"WHERE ({where}) AND r.status <> 'rejected' ORDER BY r.seq LIMIT {int(limit)}",
            values,
        )
        names = ("seq", "entity", "other", "relation", "candidate", "record", "version",
                 "valid_at", "invalid_at", "status")  # fmt: skip
        return [dict(zip(names, row, strict=True)) for row in rows]

    def reach(self, seeds: Iterable[int], hops: int, limit: int) -> list[tuple[int, int, int, int]]:
        """Return (entity, hops, where from, relation) around seeds, nearest first.

        Merged entities are one and the same: a step between them costs nothing, and its relation
        is 0. Only relations in force lead on, and none leads on through the owner, who is related
        to everything.
        """
        wanted = sorted(set(seeds))
        if not number(self._database, _LEADS_ON, (json.dumps(wanted),)):
            return [(seed, 0, seed, 0) for seed in wanted[:limit]]
        return [
            (int(entity), int(depth), int(before), int(relation))
            for entity, depth, before, relation in self._database.execute(
                _REACH, (json.dumps(wanted), hops, limit)
            )
        ]

    def texts(self, kind: str, ids: Iterable[str]) -> list[tuple[str, str | None, str]]:
        """Return (id, author, words) of observations, records or episodes."""
        rows = self._database.execute(_TEXTS[kind], (json.dumps(sorted(ids)),))
        return [(str(one), author and str(author), str(text)) for one, author, text in rows]

    def claims_after(self, mark: int, limit: int) -> list[dict[str, Any]]:
        """Return claims past a number with their first quote, those turned down left out."""
        rows = self._database.execute(
            "SELECT c.seq, c.kind, c.subject, c.key, c.value, c.proposer, c.status, o.id, o.text, "
            'v.start, v."end" FROM candidate_now c '
            "JOIN candidate_evidence v ON v.candidate = c.seq "
            "JOIN observation o ON o.seq = v.observation WHERE c.seq > ? AND v.observation = "
            "(SELECT min(observation) FROM candidate_evidence WHERE candidate = c.seq) "
            "GROUP BY c.seq ORDER BY c.seq LIMIT ?",
            (mark, limit),
        )
        names = ("seq", "kind", "subject", "key", "value", "proposer", "status", "observation",
                 "text", "start", "end")  # fmt: skip
        return [dict(zip(names, row, strict=True)) for row in rows]

    def episodes_of(self, entities: Iterable[int]) -> list[tuple[int, str]]:
        """Return (entity, episode id) where an entity is named in an open episode."""
        rows = self._database.execute(
            "SELECT DISTINCT n.entity, e.id FROM entity_name_now n "
            "JOIN membership m ON m.observation = n.observation "
            "JOIN episode_now e ON e.seq = m.episode AND e.status = 'open' "
            "WHERE n.entity IN (SELECT value FROM json_each(?)) ORDER BY n.entity, e.seq",
            (json.dumps(sorted(set(entities))),),
        )
        return [(int(entity), str(episode)) for entity, episode in rows]


_LEADS_ON = """
SELECT EXISTS (SELECT 1 FROM json_each(?1) s JOIN entity_relation r ON r.entity = s.value)
OR EXISTS (SELECT 1 FROM json_each(?1) s JOIN entity_relation r ON r.other = s.value)
OR EXISTS (SELECT 1 FROM json_each(?1) s JOIN entity_decision d ON d.entity = s.value
  AND d.other IS NOT NULL)
OR EXISTS (SELECT 1 FROM json_each(?1) s JOIN entity_decision d ON d.other = s.value)
"""
_REACH = """
WITH RECURSIVE around(entity, depth, before, relation) AS (
  SELECT value, 0, value, 0 FROM json_each(?1)
  UNION SELECT p.other, r.depth, r.entity, 0
  FROM around r CROSS JOIN entity_pair_now p ON p.entity = r.entity AND p.action = 'merge'
  UNION SELECT p.entity, r.depth, r.entity, 0
  FROM around r CROSS JOIN entity_pair_now p ON p.other = r.entity AND p.action = 'merge'
  UNION SELECT g.other, r.depth + 1, r.entity, g.seq
  FROM around r CROSS JOIN entity_relation_now g ON g.entity = r.entity AND g.status = 'active'
  WHERE r.depth < ?2
  AND (r.depth = 0 OR NOT EXISTS (SELECT 1 FROM entity WHERE seq = r.entity AND own))
  UNION SELECT g.entity, r.depth + 1, r.entity, g.seq
  FROM around r CROSS JOIN entity_relation_now g ON g.other = r.entity AND g.status = 'active'
  WHERE r.depth < ?2
  AND (r.depth = 0 OR NOT EXISTS (SELECT 1 FROM entity WHERE seq = r.entity AND own))
  ORDER BY 2 LIMIT ?3)
SELECT entity, min(depth), before, relation FROM around GROUP BY entity ORDER BY 2, 1
"""
_WANTED = "IN (SELECT value FROM json_each(?))"
_TEXTS = {
    "observation": f"SELECT id, author, text FROM observation WHERE id {_WANTED}",
    "record": "SELECT r.id, r.subject, r.text || ' ' || coalesce(r.value, '') FROM record_now r "
    f"WHERE r.id {_WANTED} ORDER BY r.version",
    "episode": "SELECT e.id, NULL, e.title || ' ' || e.participants || ' ' || e.gist "
    f"FROM episode_now e WHERE e.id {_WANTED}",
}
