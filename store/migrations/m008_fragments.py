"""Unfinished voice fragments that a soft forget hides: they have no asset."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
CREATE TABLE tombstone_fragment (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tombstone INTEGER NOT NULL REFERENCES tombstone (seq),
  event INTEGER NOT NULL REFERENCES event (seq)
) STRICT;
CREATE INDEX tombstone_fragment_event ON tombstone_fragment (event);

CREATE TABLE tombstone_fragment_lift (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  member INTEGER NOT NULL UNIQUE REFERENCES tombstone_fragment (seq),
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
"""

_VIEWS = """
CREATE VIEW hidden_fragment AS
SELECT m.event, m.tombstone FROM tombstone_fragment m
WHERE NOT EXISTS (SELECT 1 FROM tombstone_fragment_lift l WHERE l.member = m.seq);
"""

# What an utterance replaced that is hidden already.
_ROWS = """
INSERT INTO tombstone_fragment (tombstone, event)
SELECT min(m.tombstone), f.seq FROM hidden_asset h
JOIN tombstone_member m ON m.asset = h.asset
AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq)
JOIN event e ON e.asset = h.asset AND e.spoken
JOIN event f ON f.session = e.session AND f.fragment IS NOT NULL AND f.seq < e.seq
AND f.seq > coalesce((SELECT max(p.seq) FROM event p
  WHERE p.session = e.session AND p.spoken AND p.asset IS NOT NULL AND p.seq < e.seq), 0)
GROUP BY f.seq ORDER BY f.seq;
"""

_APPEND_ONLY = ("tombstone_fragment", "tombstone_fragment_lift")


def apply(connection: apsw.Connection) -> None:
    """Create and fill the tables, the view and the triggers that keep them append-only."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    connection.execute(_ROWS)
    guard(connection, _APPEND_ONLY)
