"""Records side by side: what was found of two of them, and whether the user has decided."""

from collections.abc import Callable
from typing import Any

import apsw

from muniment.store.ids import storable
from muniment.store.times import now


class Pairs:
    """The pairs of a ledger's records that were looked at; the newest word on one is in force."""

    def __init__(self, database: apsw.Connection, clock: Callable[[], str] = now) -> None:
        self._database = database
        self._clock = clock

    def add(self, one: str, other: str, verdict: str, *, actor: str, reason: str) -> None:
        """Append what was found, or decided, of two records (a verdict of ``record_pair``)."""
        self._database.execute(
            "INSERT INTO record_pair (one, other, verdict, actor, reason, at) "
            "SELECT min(a.seq, b.seq), max(a.seq, b.seq), ?, ?, ?, ? FROM record a, record b "
            "WHERE a.id = ? AND b.id = ? AND a.seq <> b.seq",
            (verdict, actor, storable(reason), self._clock(), one, other),
        )

    def known(self) -> set[frozenset[str]]:
        """Return the pairs on which there is any word."""
        rows = self._database.execute(
            "SELECT DISTINCT a.id, b.id FROM record_pair p JOIN record a ON a.seq = p.one "
            "JOIN record b ON b.seq = p.other"
        )
        return {frozenset(row) for row in rows}

    def related(self, record: str) -> list[str]:
        """Return the records that one is linked to as related, in their order."""
        rows = self._database.execute(
            "SELECT b.id FROM record a JOIN record_related l ON a.seq IN (l.one, l.other) "
            "JOIN record b ON b.seq = l.one + l.other - a.seq WHERE a.id = ? ORDER BY b.seq",
            (record,),
        )
        return [str(row[0]) for row in rows]

    def open(self) -> list[dict[str, Any]]:
        """Return the pairs that wait for the user, oldest first."""
        rows = self._database.execute(
            "SELECT a.id, b.id, p.verdict, p.actor, p.reason, p.at FROM record_pair_now p "
            "JOIN record a ON a.seq = p.one JOIN record b ON b.seq = p.other "
            "WHERE p.verdict IN ('same', 'contradiction') ORDER BY p.seq"
        )
        names = ("one", "other", "verdict", "actor", "reason", "at")
        return [dict(zip(names, row, strict=True)) for row in rows]
