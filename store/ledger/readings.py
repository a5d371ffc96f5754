"""Readings that the user calls wrong, and what they say instead."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import apsw

from muniment.store.ids import storable
from muniment.store.times import now


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

    def amended(self, observations: Iterable[str]) -> set[str]:
        """Return those of the observations that say nothing but what a correction took back."""
        rows = self._database.execute(
            "SELECT o.id FROM observation o WHERE o.id IN (SELECT value FROM json_each(?)) "
            "AND o.seq IN (SELECT observation FROM observation_amended)",
            (json.dumps(list(observations)),),
        )
        return {str(row[0]) for row in rows}
