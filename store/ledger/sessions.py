"""Sessions and their events: an ordered run of submitted messages, its state a log."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

import apsw

from muniment.store.database import number as count
from muniment.store.ids import storable, storable_or_none
from muniment.store.times import now

WORKING_FRAGMENTS = 5
LEFT_OPEN = "left_open"  # why a session was closed: its host went on to another one

_SPOKEN = """
SELECT e.seq, e.id, o.id, o.role, group_concat(o.text, '' ORDER BY o.seq), o.author, o.instant,
  o.attributes, min(o.seq)
FROM event e JOIN observation_live o ON o.asset = e.asset
WHERE e.session = :session AND e.asset IS NOT NULL
"""


class EventRow(NamedTuple):
    """One event as it was taken in; ``asset`` or ``fragment`` is null, ``occurred`` may be."""

    seq: int
    id: str
    session: str
    asset: str | None
    fragment: str | None
    occurred: str | None
    at: str


class Sessions:
    """The session tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def number(self, session: str) -> int | None:
        """Return the number of a session in this ledger."""
        row = self._database.execute("SELECT seq FROM session WHERE id = ?", (session,)).fetchone()
        return None if row is None else int(row[0])

    def open(self, session: str, *, host: str | None, agent: str | None) -> tuple[int, bool]:
        """Make sure that a session is there and open; return its number and whether it is new."""
        known = self.number(session)
        if known is None:
            self._database.execute(
                "INSERT INTO session (id, started_at) VALUES (?, ?)", (session, now())
            )
            fresh = self._database.last_insert_rowid()
            self._append(fresh, "open", "begun", (host, agent, None))
            return fresh, True
        state = self._state(known)
        kept = (host or state["host"], agent or state["agent"])
        if state["status"] != "open" or kept != (state["host"], state["agent"]):
            reason = "taken_up" if state["status"] != "open" else state["reason"]
            self._append(known, "open", reason, (*kept, state["dropped"]))
        return known, False

    def end(self, session: int, reason: str) -> bool:
        """End a session; return false when it had ended."""
        state = self._state(session)
        if state["status"] == "ended":
            return False
        self._append(session, "ended", reason, (state["host"], state["agent"], state["dropped"]))
        return True

    def drop(self, session: int, event: int) -> bool:
        """Record up to which event the host has dropped the turns; return whether that moved."""
        state = self._state(session)
        if event <= (state["dropped"] or 0):
            return False
        self._append(
            session, state["status"], state["reason"], (state["host"], state["agent"], event)
        )
        return True

    def left_open(self, host: str | None, agent: str | None) -> list[tuple[int, str]]:
        """Return (number, id) of the open sessions of one host and agent."""
        rows = self._database.execute(
            "SELECT seq, id FROM session_now WHERE status = 'open' AND host IS ? AND agent IS ? "
            "ORDER BY seq",
            (host, agent),
        )
        return [(int(seq), str(session)) for seq, session in rows]

    def get(self, session: str) -> dict[str, Any] | None:
        """Return a session's state with its counts and times."""
        return next(self._read("s.id = ?", (session,)), None)

    def all(self, where: str = "1", values: tuple[Any, ...] = ()) -> Iterator[dict[str, Any]]:
        """Yield sessions by a condition on ``session_now s``, oldest first."""
        return self._read(where + " ORDER BY s.seq", values)

    def event(self, event: str) -> EventRow | None:
        """Return one event by its id."""
        row = self._database.execute(
            "SELECT e.seq, e.id, s.id, a.id, e.fragment, e.occurred, e.at FROM event e "
            "JOIN session s ON s.seq = e.session LEFT JOIN asset a ON a.seq = e.asset "
            "WHERE e.id = ?",
            (event,),
        ).fetchone()
        return None if row is None else EventRow(*row)

    def add(
        self, session: int, event: str, *, asset: int | None, fragment: str | None,
        occurred: str | None, spoken: bool,
    ) -> None:  # fmt: skip
        """Append an event: a message by its asset, an unfinished voice fragment by its fields."""
        self._database.execute(
            "INSERT INTO event (id, session, asset, fragment, occurred, spoken, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                storable(event), session, asset, storable_or_none(fragment), occurred,
                int(spoken), now(),
            ),
        )  # fmt: skip

    def count_messages(self, session: int) -> int:
        """Count the messages of a session, forgotten ones included."""
        return count(
            self._database,
            "SELECT count(*) FROM event WHERE session = ? AND asset IS NOT NULL",
            (session,),
        )

    def messages(
        self, session: int, *, after: int = 0, until: int | None = None, limit: int = -1
    ) -> list[dict[str, Any]]:
        """Return the live messages past an event's number, oldest first.

        A long one lies in several observations: the first one is named.
        """
        rows = self._database.execute(
            f"{_SPOKEN} AND e.seq > :after AND e.seq <= :until GROUP BY e.seq ORDER BY e.seq "
            "LIMIT :limit",
            {"session": session, "after": after, "until": until or 2**62, "limit": limit},
        )
        return [_message(row) for row in rows]

    def recent(self, session: int, limit: int) -> list[dict[str, Any]]:
        """Return the newest live messages, oldest first."""
        rows = self._database.execute(
            f"{_SPOKEN} GROUP BY e.seq ORDER BY e.seq DESC LIMIT :limit",
            {"session": session, "limit": limit},
        ).fetchall()
        return [_message(row) for row in reversed(rows)]

    def first_said(self, session: int) -> dict[str, Any] | None:
        """Return the first live message of the user."""
        row = self._database.execute(
            f"{_SPOKEN} AND o.role = 'user' GROUP BY e.seq ORDER BY e.seq LIMIT 1",
            {"session": session},
        ).fetchone()
        return None if row is None else _message(row)

    def hides(self, event: int) -> bool:
        """Tell whether a soft forget hides an unfinished voice fragment."""
        statement = "SELECT 1 FROM hidden_fragment WHERE event = ?"
        return bool(count(self._database, statement, (event,)))

    def fragments(self, session: int) -> list[dict[str, Any]]:
        """Return the latest shown voice fragments that no final one has replaced.

        A session that its host ended has none; one that was closed for it keeps them.
        """
        rows = self._database.execute(
            "SELECT id, fragment, coalesce(occurred, at) FROM event WHERE session = ?1 AND "
            "fragment IS NOT NULL AND seq > coalesce((SELECT max(seq) FROM event WHERE "
            "session = ?1 AND spoken AND asset IS NOT NULL), 0) AND seq NOT IN (SELECT event "
            "FROM hidden_fragment) AND EXISTS (SELECT 1 FROM session_now WHERE seq = ?1 "
            f"AND (status = 'open' OR reason = '{LEFT_OPEN}')) ORDER BY seq DESC LIMIT ?2",
            (session, WORKING_FRAGMENTS),
        ).fetchall()
        return [
            {"event_id": event, **json.loads(fields), "time": time}
            for event, fields, time in reversed(rows)
        ]

    def _state(self, session: int) -> dict[str, Any]:
        names = ("status", "reason", "host", "agent", "dropped")
        ((*values,),) = self._database.execute(
            f"SELECT {', '.join(names)} FROM session_now WHERE seq = ?", (session,)
        )
        return dict(zip(names, values, strict=True))

    def _append(
        self, session: int, status: str, reason: str, sides: tuple[str | None, str | None, Any]
    ) -> None:
        host, agent, dropped = sides
        self._database.execute(
            "INSERT INTO session_state (session, status, reason, host, agent, dropped, at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (session, status, reason, storable_or_none(host), storable_or_none(agent), dropped,
             now()),
        )  # fmt: skip

    def _read(self, where: str, values: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
        names = (
            "seq", "id", "started_at", "status", "reason", "host", "agent", "dropped",
            "changed_at", "messages", "last_at",
        )  # fmt: skip
        rows = self._database.execute(
            "SELECT s.seq, s.id, s.started_at, s.status, s.reason, s.host, s.agent, s.dropped, "
            "s.changed_at, (SELECT count(*) FROM event WHERE session = s.seq AND asset IS NOT "
            "NULL), (SELECT max(at) FROM event WHERE session = s.seq) "
            f"FROM session_now s WHERE {where}",
            values,
        )
        for row in rows:
            yield dict(zip(names, row, strict=True))


def _message(row: tuple[Any, ...]) -> dict[str, Any]:
    seq, event, observation, role, text, author, instant, attributes, _ = row
    return {
        "seq": seq, "event_id": event, "observation": observation, "role": role, "text": text,
        "author": author, "time": instant, "category": json.loads(attributes).get("category"),
    }  # fmt: skip
