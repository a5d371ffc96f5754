"""What was looked at again: readings that are wrong, and records that say the same or differ."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
-- A reading that the user calls wrong: the newest row of an observation is in force. A correction
-- is another observation of the same asset and place; its row follows one that only marks.
CREATE TABLE misreading (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  observation INTEGER NOT NULL REFERENCES observation (seq),
  correction INTEGER REFERENCES observation (seq),
  action TEXT NOT NULL CHECK (action IN ('mark', 'lift')),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX misreading_observation ON misreading (observation, seq);

-- What was found of two records side by side: the newest row of a pair is in force. It changes
-- neither of them. 'settled', 'related' and 'unrelated' are the user's own word.
CREATE TABLE record_pair (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  one INTEGER NOT NULL REFERENCES record (seq),
  other INTEGER NOT NULL REFERENCES record (seq),
  verdict TEXT NOT NULL CHECK (verdict IN
    ('same', 'contradiction', 'apart', 'settled', 'related', 'unrelated')),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL,
  CHECK (one < other)
) STRICT;
CREATE INDEX record_pair_both ON record_pair (one, other, seq);
CREATE INDEX record_pair_other ON record_pair (other);
"""

_VIEWS = """
CREATE VIEW misread AS
SELECT m.* FROM misreading m WHERE m.action = 'mark' AND m.seq = (
  SELECT max(seq) FROM misreading WHERE observation = m.observation);

DROP VIEW observation_live;
CREATE VIEW observation_live AS
SELECT o.* FROM observation_newest o
WHERE NOT EXISTS (SELECT 1 FROM hidden_asset h WHERE h.asset = o.asset)
AND NOT EXISTS (SELECT 1 FROM hidden_observation h WHERE h.observation = o.seq)
AND NOT EXISTS (SELECT 1 FROM misread m WHERE m.observation = o.seq);

CREATE VIEW record_pair_now AS
SELECT p.* FROM record_pair p WHERE p.seq = (
  SELECT max(seq) FROM record_pair WHERE one = p.one AND other = p.other);

CREATE VIEW record_related AS
SELECT p.one, p.other FROM record_pair_now p WHERE p.verdict = 'related'
UNION
SELECT min(l.one, l.other), max(l.one, l.other) FROM record_link l WHERE l.relation = 'related'
AND NOT EXISTS (SELECT 1 FROM record_pair_now p WHERE p.one = min(l.one, l.other)
  AND p.other = max(l.one, l.other) AND p.verdict = 'unrelated');

-- What a record's first words were, and nothing else: said otherwise since, by a correction.
CREATE VIEW observation_amended AS
SELECT DISTINCT e.observation FROM record_evidence e
JOIN observation o ON o.seq = e.observation
JOIN record_now r ON r.version_seq = e.version
JOIN revision x ON x.seq = r.revision_seq
WHERE r.status = 'revoked' AND x.action = 'correct'
AND length(trim(o.text)) - length(trim(e.quote)) <= 2
AND NOT EXISTS (
  SELECT 1 FROM record_evidence f JOIN record_now s ON s.version_seq = f.version
  WHERE f.observation = e.observation AND s.status NOT IN ('revoked', 'invalidated'));
"""

_APPEND_ONLY = ("misreading", "record_pair")


def apply(connection: apsw.Connection) -> None:
    """Create the tables, the views and the triggers that keep the tables append-only."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    guard(connection, _APPEND_ONLY)
