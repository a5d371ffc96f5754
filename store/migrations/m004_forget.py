"""Forgetting: what is hidden, what was erased, and the views that leave out what is hidden."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
-- One forget: a soft one hides its members until they are lifted, a hard one has erased them.
CREATE TABLE tombstone (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  mode TEXT NOT NULL CHECK (mode IN ('soft', 'hard')),
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

CREATE TABLE tombstone_member (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tombstone INTEGER NOT NULL REFERENCES tombstone (seq),
  asset INTEGER REFERENCES asset (seq),
  observation INTEGER REFERENCES observation (seq),
  candidate INTEGER REFERENCES candidate (seq),
  record INTEGER REFERENCES record (seq),
  CHECK ((asset IS NOT NULL) + (observation IS NOT NULL) + (candidate IS NOT NULL)
    + (record IS NOT NULL) = 1)
) STRICT;
CREATE INDEX tombstone_member_asset ON tombstone_member (asset) WHERE asset IS NOT NULL;
CREATE INDEX tombstone_member_observation ON tombstone_member (observation)
  WHERE observation IS NOT NULL;

CREATE TABLE tombstone_lift (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  member INTEGER NOT NULL UNIQUE REFERENCES tombstone_member (seq),
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;

-- Keyed digests of what was erased, so that it does not come back unasked.
CREATE TABLE forgotten (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tombstone INTEGER NOT NULL REFERENCES tombstone (seq),
  kind TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT;
CREATE INDEX forgotten_digest ON forgotten (digest, seq);

CREATE TABLE forgotten_lift (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  forgotten INTEGER NOT NULL UNIQUE REFERENCES forgotten (seq),
  at TEXT NOT NULL
) STRICT;

-- What a hard forget has still to do outside the ledger; gone when it is done.
CREATE TABLE erasure (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  tombstone INTEGER NOT NULL REFERENCES tombstone (seq),
  kind TEXT NOT NULL
    CHECK (kind IN ('file', 'document', 'observation', 'record', 'persona', 'id')),
  ref TEXT NOT NULL
) STRICT;
"""

_VIEWS = """
CREATE VIEW hidden_asset AS
SELECT m.asset FROM tombstone_member m WHERE m.asset IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq);

CREATE VIEW hidden_observation AS
SELECT m.observation FROM tombstone_member m WHERE m.observation IS NOT NULL
AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq);

DROP VIEW asset_now;
CREATE VIEW asset_now AS
SELECT a.seq, a.id, a.size, a.storage, a.derived, t.media_type, t.family, t.sniffer,
  t.seq AS type_seq
FROM asset_type t JOIN asset a ON a.seq = t.asset
WHERE t.seq = (SELECT max(seq) FROM asset_type WHERE asset = t.asset)
AND NOT EXISTS (SELECT 1 FROM hidden_asset h WHERE h.asset = a.seq);

-- What may be shown: live or superseded, but not forgotten.
CREATE VIEW observation_kept AS
SELECT o.* FROM observation o
WHERE NOT EXISTS (SELECT 1 FROM hidden_asset h WHERE h.asset = o.asset)
AND NOT EXISTS (SELECT 1 FROM hidden_observation h WHERE h.observation = o.seq);

-- What no later producer has answered for since, hidden or not.
CREATE VIEW observation_newest AS
SELECT o.* FROM observation o JOIN producer p ON p.seq = o.producer
WHERE NOT EXISTS (
  SELECT 1 FROM coverage c
  WHERE c.asset = o.asset AND c.kind = o.kind AND c.role = p.role AND c.producer <> o.producer
  AND c.attempt > coalesce((
    SELECT max(own.attempt) FROM coverage own
    WHERE own.asset = o.asset AND own.kind = o.kind AND own.role = p.role
    AND own.producer = o.producer), o.attempt)
);

DROP VIEW observation_live;
CREATE VIEW observation_live AS
SELECT o.* FROM observation_newest o
WHERE NOT EXISTS (SELECT 1 FROM hidden_asset h WHERE h.asset = o.asset)
AND NOT EXISTS (SELECT 1 FROM hidden_observation h WHERE h.observation = o.seq);
"""

_APPEND_ONLY = (
    "tombstone", "tombstone_member", "tombstone_lift", "forgotten", "forgotten_lift", "erasure",
)  # fmt: skip


def apply(connection: apsw.Connection) -> None:
    """Create the tables, the views and the triggers that keep the tables append-only."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    guard(connection, _APPEND_ONLY)
