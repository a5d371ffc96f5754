"""Checkpoints of tasks, and the cursors of hosts: what a host reported, never overwritten."""

import json
from typing import Any, NamedTuple

import apsw

from muniment.store.ids import canonical_text, made, storable
from muniment.store.times import now

_STANDING = """
WITH own AS (SELECT session, last_event, at FROM checkpoint WHERE seq = ?1),
covered AS (
  SELECT e.seq, e.asset FROM event e, own WHERE e.session = own.session
  AND e.seq <= coalesce(own.last_event, e.seq) AND e.at <= own.at),
undone AS (
  SELECT x.record, x.version FROM revision x, own
  WHERE x.at > own.at AND x.status IN ('revoked', 'invalidated')
  AND x.seq = (SELECT max(seq) FROM revision WHERE record = x.record AND version = x.version)),
later AS (SELECT t.seq, t.mode, t.counts FROM tombstone t, own WHERE t.at > own.at),
hidden AS (
  SELECT m.asset, m.observation FROM tombstone_member m
  WHERE m.tombstone IN (SELECT seq FROM later)
  AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq)),
unsaid AS (SELECT h.event FROM hidden_fragment h WHERE h.tombstone IN (SELECT seq FROM later)),
wrong AS (SELECT m.observation FROM misread m, own WHERE m.at > own.at)
SELECT
  EXISTS (SELECT 1 FROM later WHERE json_extract(counts, '$.unread'))
  OR EXISTS (SELECT 1 FROM later) AND EXISTS (SELECT 1 FROM covered c
   WHERE EXISTS (SELECT 1 FROM hidden h WHERE h.asset = c.asset)
   OR EXISTS (SELECT 1 FROM observation o JOIN hidden h ON h.observation = o.seq
    WHERE o.asset = c.asset))
  OR EXISTS (SELECT 1 FROM unsaid WHERE event IN (SELECT seq FROM covered))
  OR EXISTS (SELECT 1 FROM wrong w JOIN observation o ON o.seq = w.observation
   WHERE o.asset IN (SELECT asset FROM covered))
  OR EXISTS (SELECT 1 FROM undone u
   JOIN record_version v ON v.record = u.record AND v.version = u.version
   JOIN record_evidence e ON e.version = v.seq
   JOIN observation o ON o.seq = e.observation
   WHERE o.asset IN (SELECT asset FROM covered)),
  EXISTS (SELECT 1 FROM undone) OR EXISTS (SELECT 1 FROM hidden) OR EXISTS (SELECT 1 FROM unsaid)
  OR EXISTS (SELECT 1 FROM wrong)
  OR EXISTS (SELECT 1 FROM later WHERE mode = 'hard' AND json_extract(counts, '$.carried') IS NULL)
"""


class Cursor(NamedTuple):
    """How far a host's stream was taken in; ``previous`` is the text that it replaced."""

    number: int
    text: str
    previous: str | None


class Checkpoints:
    """The checkpoint and cursor tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def save(
        self, session: int, state: dict[str, Any], last_event: int | None, agent: str | None
    ) -> tuple[str, bool]:
        """Append a checkpoint; return its id and whether the newest one says less by now."""
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
        """Return the id of a session's newest checkpoint if it says just this and holds."""
        which = "session = (SELECT seq FROM session WHERE id = ?)"
        return self._known(which, session, (canonical_text(state), last_event))

    def _known(self, which: str, session: int | str, said: tuple[str, int | None]) -> str | None:
        newest = self._database.execute(
            "SELECT seq, id, state, last_event FROM checkpoint "
            f"WHERE {which} ORDER BY seq DESC LIMIT 1",
            (session,),
        ).fetchone()
        if newest is None or tuple(newest[2:]) != said or self._standing(newest[0]) != "current":
            return None
        return str(newest[1])

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
        went since it was saved, or a record that rests on one was corrected or taken back, it is
        invalidated. So it is when something was erased that had no words to compare it with.
        """
        ((own, others),) = self._database.execute(_STANDING, (checkpoint,))
        return "invalidated" if own else "stale" if others else "current"

    def cursor(self, host: str, stream: str) -> Cursor | None:
        """Return how far a host's stream was taken in."""
        row = self._database.execute(
            "SELECT c.seq, c.cursor, p.cursor FROM host_cursor c LEFT JOIN host_cursor p "
            "ON p.seq = c.previous WHERE c.host = ? AND c.stream = ? ORDER BY c.seq DESC LIMIT 1",
            (host, stream),
        ).fetchone()
        return None if row is None else Cursor(*row)

    def advance(
        self, host: str, stream: str, cursor: str, *, previous: int | None, events: int
    ) -> None:
        """Append a cursor that takes the place of another one."""
        self._database.execute(
            "INSERT INTO host_cursor (host, stream, cursor, previous, events, at) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (storable(host), storable(stream), storable(cursor), previous, events, now()),
        )
