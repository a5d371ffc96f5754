"""Readings that the user calls wrong, and what they say instead."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import apsw

from muniment.store.ids import storable
from muniment.store.times import now

# The words of a version that a correction followed, where no claim rests on them that stands.
_CORRECTED = """
record_evidence e ON e.observation = o.seq
JOIN record_now r ON r.version_seq = e.version JOIN revision x ON x.seq = r.revision_seq
WHERE r.status = 'revoked' AND x.action = 'correct' AND NOT EXISTS (
  SELECT 1 FROM record_evidence f JOIN record_now s ON s.version_seq = f.version
  WHERE f.observation = e.observation AND f.start < e."end" AND f."end" > e.start
  AND s.status NOT IN ('revoked', 'invalidated'))
"""


class Readings:
    """The marks of a ledger on what was misread: each appended, the newest in force."""

    def __init__(self, database: apsw.Connection, clock: Callable[[], str] = now) -> None:
        self._database = database
        self._clock = clock

    def mark(
        self, observation: str, action: str, reason: str, actor: str, correction: str | None = None
    ) -> None:
        """Append a mark (``mark``, or ``lift`` to take it back)."""
        self._database.execute(
            "INSERT INTO misreading (observation, correction, action, actor, reason, at) "
            "SELECT seq, (SELECT seq FROM observation WHERE id = ?), ?, ?, ?, ? "
            "FROM observation WHERE id = ?",
            (correction, action, actor, storable(reason), self._clock(), observation),
        )

    def marked(self, observation: str) -> dict[str, Any] | None:
        """Return the mark that is in force on an observation, with the id of its correction."""
        row = self._database.execute(
            "SELECT c.id, m.actor, m.reason, m.at FROM misread m "
            "JOIN observation o ON o.seq = m.observation "
            "LEFT JOIN observation c ON c.seq = m.correction WHERE o.id = ?",
            (observation,),
        ).fetchone()
        return row and dict(zip(("correction", "actor", "reason", "at"), row, strict=True))

    def corrects(self, correction: str) -> str | None:
        """Return the observation that another one is the right reading of."""
        row = self._database.execute(
            "SELECT o.id FROM misreading m JOIN observation o ON o.seq = m.observation "
            "JOIN observation c ON c.seq = m.correction WHERE c.id = ?",
            (correction,),
        ).fetchone()
        return None if row is None else str(row[0])

    def count(self, observation: str) -> int:
        """Return how many marks were ever set on an observation."""
        row = self._database.execute(
            "SELECT count(*) FROM misreading m JOIN observation o ON o.seq = m.observation "
            "WHERE o.id = ?",
            (observation,),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def corrected(self, observations: Iterable[str]) -> dict[str, list[tuple[int, int]]]:
        """Return the places that a correction took back, by the observations that hold them."""
        rows = self._database.execute(
            f'SELECT o.id, e.start, e."end" FROM observation o JOIN {_CORRECTED} '
            "AND o.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(observations)),),
        )
        found: dict[str, list[tuple[int, int]]] = {}
        for observation, start, end in rows:
            found.setdefault(str(observation), []).append((int(start), int(end)))
        return found

    def corrected_in(self, events: Iterable[int]) -> dict[int, list[str]]:
        """Return the words that a correction took back, by the numbers of the events."""
        rows = self._database.execute(
            f"SELECT v.seq, e.quote FROM event v JOIN observation o ON o.asset = v.asset "
            f"JOIN {_CORRECTED} AND v.seq IN (SELECT value FROM json_each(?))",
            (json.dumps(list(events)),),
        )
        found: dict[int, list[str]] = {}
        for event, quote in rows:
            found.setdefault(int(event), []).append(str(quote))
        return found
