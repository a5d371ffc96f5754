"""What recall asks of the ledger beyond its planes: states of records, and what was known when."""

import json
from collections.abc import Iterable
from typing import Any

import apsw

from muniment.store.ledger.memory import Memory

STANDING = "(r.pinned OR r.kind = 'preference' OR r.type = 'procedural')"


class Lookup:
    """Reads that join planes, for recall."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self._memory = Memory(database)

    def record_versions(self, versions: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
        """Return the named (record, version) pairs with their state and evidence."""
        wanted = list(versions)
        if not wanted:
            return []
        where = " OR ".join(["(r.id = ? AND r.version = ?)"] * len(wanted))
        values = tuple(value for pair in wanted for value in pair)
        return list(self._memory.records(f"({where})", values))

    def versions_of(self, record: str) -> list[dict[str, Any]]:
        """Return every version of a record with its state."""
        return list(self._memory.records("r.id = ? ORDER BY r.version", (record,)))

    def resting_on(self, observations: Iterable[str]) -> list[dict[str, Any]]:
        """Return every version that rests on any of the named observations, with its state."""
        where = (
            "r.version_seq IN (SELECT e.version FROM record_evidence e JOIN observation o "
            "ON o.seq = e.observation WHERE o.id IN (SELECT value FROM json_each(?)))"
        )
        return list(self._memory.records(where, (json.dumps(sorted(observations)),)))

    def standing(self, limit: int) -> list[dict[str, Any]]:
        """Return pinned records, preferences and instructions that are active, weightiest first."""
        return list(
            self._memory.records(
                f"r.status = 'active' AND {STANDING} ORDER BY r.pinned DESC, r.importance DESC, "
                "r.recorded_at DESC, r.id LIMIT ?",
                (limit,),
            )
        )

    def stating(self) -> set[str]:
        """Return the producers of statements: what was made to be records, and of nothing else."""
        rows = self._database.execute("SELECT fingerprint FROM producer WHERE role = 'statement'")
        return {str(row[0]) for row in rows}

    def is_approved(self, version_seq: int) -> bool:
        """Tell whether the user has approved a claim that a version was made of or rests on."""
        found = self._database.execute(
            "SELECT 1 FROM candidate_now c WHERE c.status = 'active' AND c.actor = 'user' "
            "AND c.seq IN (SELECT candidate FROM record_version WHERE seq = ?1 "
            "UNION SELECT candidate FROM record_support WHERE version = ?1)",
            (version_seq,),
        )
        return found.fetchone() is not None

    def known(self, observations: Iterable[str], at: str) -> set[str]:
        """Return those of the named observations that were recorded by an instant."""
        wanted = list(observations)
        marks = ",".join("?" * len(wanted))
        rows = self._database.execute(
            f"SELECT id FROM observation WHERE id IN ({marks}) AND created_at <= ?", (*wanted, at)
        )
        return {row[0] for row in rows}

    def state_at(self, record: str, version: int, at: str) -> tuple[str, str | None] | None:
        """Return (status, closing moment as JSON) of a version as it was known at an instant."""
        row = self._database.execute(
            "SELECT x.status, coalesce(x.invalid_at, v.invalid_at) FROM record r "
            "JOIN record_version v ON v.record = r.seq AND v.version = ?2 "
            "JOIN revision x ON x.record = r.seq AND x.version = ?2 AND x.at <= ?3 "
            "WHERE r.id = ?1 AND v.recorded_at <= ?3 ORDER BY x.seq DESC LIMIT 1",
            (record, version, at),
        ).fetchone()
        return None if row is None else (str(row[0]), row[1])
