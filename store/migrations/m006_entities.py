"""Entities: what they are called by which evidence, how they are related, what was decided."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
CREATE TABLE entity (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('person', 'place', 'organisation', 'thing')),
  own INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX entity_own ON entity (own) WHERE own;

-- One use of a name: the observation that it stands in or comes with. Nothing else holds a name, so
-- that it goes with its evidence. A name out of a claim counts while the claim does.
CREATE TABLE entity_name (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entity INTEGER NOT NULL REFERENCES entity (seq),
  observation INTEGER NOT NULL REFERENCES observation (seq),
  candidate INTEGER REFERENCES candidate (seq),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  form TEXT NOT NULL CHECK (form IN ('name', 'email', 'phone', 'role')),
  via TEXT NOT NULL CHECK (via IN ('author', 'recipient', 'contact', 'claim', 'model', 'user')),
  start INTEGER,
  "end" INTEGER,
  at TEXT NOT NULL,
  UNIQUE (entity, folded, form, observation)
) STRICT;
CREATE INDEX entity_name_folded ON entity_name (folded, form);
CREATE INDEX entity_name_observation ON entity_name (observation);
CREATE INDEX entity_name_candidate ON entity_name (candidate) WHERE candidate IS NOT NULL;

-- A relation is what a claim says of two entities: it holds as long and as surely as the claim.
CREATE TABLE entity_relation (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entity INTEGER NOT NULL REFERENCES entity (seq),
  other INTEGER NOT NULL REFERENCES entity (seq),
  relation TEXT NOT NULL,
  candidate INTEGER NOT NULL REFERENCES candidate (seq),
  at TEXT NOT NULL,
  UNIQUE (candidate, entity, other, relation)
) STRICT;
CREATE INDEX entity_relation_entity ON entity_relation (entity);
CREATE INDEX entity_relation_other ON entity_relation (other);

-- Of two entities (``other``) or of a name of one (``name``): the newest decision is in force.
CREATE TABLE entity_decision (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  entity INTEGER NOT NULL REFERENCES entity (seq),
  other INTEGER REFERENCES entity (seq),
  name INTEGER REFERENCES entity_name (seq),
  action TEXT NOT NULL CHECK (action IN ('propose', 'merge', 'apart', 'drop', 'keep')),
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL,
  CHECK ((other IS NULL) <> (name IS NULL)),
  CHECK (other IS NULL OR entity < other)
) STRICT;
CREATE INDEX entity_decision_pair ON entity_decision (entity, other, seq);
CREATE INDEX entity_decision_other ON entity_decision (other) WHERE other IS NOT NULL;
CREATE INDEX entity_decision_name ON entity_decision (name, seq) WHERE name IS NOT NULL;

CREATE INDEX record_version_candidate ON record_version (candidate);
CREATE INDEX record_support_candidate ON record_support (candidate);
"""

_VIEWS = """
-- What an entity is called as far as that is shown: not forgotten, not turned down, not dropped.
CREATE VIEW entity_name_now AS
SELECT n.* FROM entity_name n JOIN observation_kept o ON o.seq = n.observation
WHERE (n.candidate IS NULL OR EXISTS (
  SELECT 1 FROM candidate_now c WHERE c.seq = n.candidate AND c.status = 'active'))
AND coalesce((
  SELECT d.action FROM entity_name m JOIN entity_decision d ON d.name = m.seq
  WHERE m.entity = n.entity AND m.folded = n.folded ORDER BY d.seq DESC LIMIT 1), 'keep') <> 'drop';

CREATE VIEW entity_pair_now AS
SELECT d.* FROM entity_decision d WHERE d.other IS NOT NULL AND d.seq = (
  SELECT max(seq) FROM entity_decision WHERE entity = d.entity AND other = d.other);

-- ``status`` and ``record`` are those of the claim: its record's where it has one.
CREATE VIEW entity_relation_now AS
SELECT r.seq, r.entity, r.other, r.relation, r.candidate, r.at, c.id AS candidate_id,
  x.id AS record, x.version, x.valid_at, x.invalid_at, coalesce(x.status, c.status) AS status
FROM entity_relation r JOIN candidate_now c ON c.seq = r.candidate
LEFT JOIN record_now x ON x.version_seq = coalesce(
  (SELECT max(seq) FROM record_version WHERE candidate = r.candidate),
  (SELECT max(version) FROM record_support WHERE candidate = r.candidate));
"""

_APPEND_ONLY = ("entity", "entity_name", "entity_relation", "entity_decision")


def apply(connection: apsw.Connection) -> None:
    """Create the tables, the views and the triggers that keep the tables append-only."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    guard(connection, _APPEND_ONLY)
