"""Checkpoints of tasks, and the cursors of hosts: what a host reported, never overwritten."""

import json
from typing import Any

import apsw

from muniment.store.ids import canonical_text, made, storable
from muniment.store.times import now

_STANDING = """
WITH own AS (SELECT session, last_event, at FROM checkpoint WHERE seq = ?1),
covered AS (
  SELECT e.asset FROM event e, own WHERE e.session = own.session AND e.asset IS NOT NULL
  AND e.seq <= coalesce(own.last_event, e.seq) AND e.at <= own.at),
undone AS (
  SELECT x.record, x.version FROM revision x, own
  WHERE x.at > own.at AND x.status IN ('revoked', 'invalidated'))
SELECT
  (SELECT count(*) FROM covered c
   WHERE NOT EXISTS (SELECT 1 FROM observation_live o WHERE o.asset = c.asset)),
  (SELECT count(*) FROM undone u
   JOIN record_version v ON v.record = u.record AND v.version = u.version
   JOIN record_evidence e ON e.version = v.seq
   JOIN observation o ON o.seq = e.observation
   WHERE o.asset IN (SELECT asset FROM covered)),
  (SELECT count(*) FROM undone)
"""


class Checkpoints:
    """The checkpoint and cursor tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def save(
        self, session: int, state: dict[str, Any], last_event: int | None, agent: str | None
    ) -> tuple[str, bool]:
        """Append a checkpoint; return its id and whether it differs from the newest one."""
        text = canonical_text(state)
        known = self._known("session = ?", session, (text, last_event))
        if known is not None:
            return known, False
        at = now()
        identity = made("chk", session, text, last_event, at)
        self._database.execute(
            "INSERT INTO checkpoint (id, session, agent, state, last_event, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (identity, session, agent, text, last_event, at),
        )
        return identity, True

    def standing(self, session: str, state: dict[str, Any], last_event: int | None) -> str | None:
        """Return the id of a session's newest checkpoint if it says just this."""
        which = "session = (SELECT seq FROM session WHERE id = ?)"
        return self._known(which, session, (canonical_text(state), last_event))

    def _known(self, which: str, session: int | str, said: tuple[str, int | None]) -> str | None:
        newest = self._database.execute(
            f"SELECT id, state, last_event FROM checkpoint WHERE {which} ORDER BY seq DESC LIMIT 1",
            (session,),
        ).fetchone()
        return str(newest[0]) if newest is not None and tuple(newest[1:]) == said else None

    def newest(self, session: str) -> dict[str, Any] | None:
        """Return the newest checkpoint of a session with whether it still holds."""
        row = self._database.execute(
            "SELECT c.seq, c.id, s.id, c.agent, c.state, e.id, c.at FROM checkpoint c "
            "JOIN session s ON s.seq = c.session LEFT JOIN event e ON e.seq = c.last_event "
            "WHERE s.id = ? ORDER BY c.seq DESC LIMIT 1",
            (session,),
        ).fetchone()
        if row is None:
            return None
        number, identity, owner, agent, state, last_event, at = row
        return {
            "id": identity, "session": owner, "agent": agent, **json.loads(state),
            "last_event": last_event, "at": at, "status": self._standing(number),
        }  # fmt: skip

    def _standing(self, checkpoint: int) -> str:
        """Tell ``current``, ``stale`` (something else changed since) or ``invalidated``.

        It rests on the events of its session up to the last one that it covers: when one of them
        is gone, or a record that rests on one was corrected or taken back, it is invalidated.
        """
        row = self._database.execute(_STANDING, (checkpoint,)).fetchone()
        gone, own, others = row or (0, 0, 0)
        return "invalidated" if gone or own else "stale" if others else "current"

    def cursor(self, host: str, stream: str) -> tuple[int, str] | None:
        """Return (number, cursor) of how far a host's stream was taken in."""
        row = self._database.execute(
            "SELECT seq, cursor FROM host_cursor WHERE host = ? AND stream = ? "
            "ORDER BY seq DESC LIMIT 1",
            (host, stream),
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def advance(
        self, host: str, stream: str, cursor: str, *, previous: int | None, events: int
    ) -> None:
        """Append a cursor that takes the place of another one."""
        self._database.execute(
            "INSERT INTO host_cursor (host, stream, cursor, previous, events, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (storable(host), storable(stream), storable(cursor), previous, events, now()),
        )
