"""The agent layer's step: sessions, their events, checkpoints and host cursors."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
CREATE TABLE session (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  started_at TEXT NOT NULL
) STRICT;

-- One submitted message. What was said stands in its asset; an unfinished voice fragment has none.
-- A null time was left out by the host: the time of arrival counts.
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES session (seq),
  asset INTEGER REFERENCES asset (seq),
  fragment TEXT CHECK (fragment IS NULL OR json_valid(fragment)),
  occurred TEXT,
  spoken INTEGER NOT NULL,
  at TEXT NOT NULL,
  CHECK ((asset IS NULL) <> (fragment IS NULL))
) STRICT;
CREATE INDEX event_session ON event (session, seq);
CREATE INDEX event_asset ON event (asset);

-- Every change of a session's state; the newest row counts. Events up to ``dropped`` are those
-- that the host no longer shows to its model.
CREATE TABLE session_state (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES session (seq),
  status TEXT NOT NULL CHECK (status IN ('open', 'ended')),
  reason TEXT NOT NULL,
  host TEXT,
  agent TEXT,
  dropped INTEGER REFERENCES event (seq),
  at TEXT NOT NULL
) STRICT;
CREATE INDEX session_state_session ON session_state (session, seq);

CREATE TABLE checkpoint (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES session (seq),
  agent TEXT,
  state TEXT NOT NULL CHECK (json_valid(state)),
  last_event INTEGER REFERENCES event (seq),
  at TEXT NOT NULL
) STRICT;
CREATE INDEX checkpoint_session ON checkpoint (session, seq);

-- How far a host's stream was taken in: each row names the one that it replaced.
CREATE TABLE host_cursor (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  stream TEXT NOT NULL,
  cursor TEXT NOT NULL,
  previous INTEGER REFERENCES host_cursor (seq),
  events INTEGER NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX host_cursor_stream ON host_cursor (host, stream, seq);
"""

_VIEWS = """
CREATE VIEW session_now AS
SELECT s.seq, s.id, s.started_at, x.status, x.reason, x.host, x.agent, x.dropped, x.at AS changed_at
FROM session s
JOIN session_state x ON x.seq = (SELECT max(seq) FROM session_state WHERE session = s.seq);
"""

_APPEND_ONLY = ("session", "event", "session_state", "checkpoint", "host_cursor")


def apply(connection: apsw.Connection) -> None:
    """Create the tables, the view and the triggers that keep the tables append-only."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    guard(connection, _APPEND_ONLY)
