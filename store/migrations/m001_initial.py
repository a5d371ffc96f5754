"""The first schema: facts are appended, what is current is a view over them."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
CREATE TABLE asset (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id GLOB 'sha256:*' AND length(id) = 71),
  size INTEGER NOT NULL CHECK (size >= 0),
  storage TEXT NOT NULL CHECK (storage IN ('inline', 'file')),
  derived INTEGER NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE asset_bytes (
  asset INTEGER PRIMARY KEY REFERENCES asset (seq),
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE asset_type (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  media_type TEXT NOT NULL,
  family TEXT NOT NULL,
  sniffer TEXT NOT NULL
) STRICT;
CREATE INDEX asset_type_asset ON asset_type (asset, seq);

CREATE TABLE sighting (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  path BLOB NOT NULL,
  source TEXT NOT NULL,
  origin TEXT NOT NULL,
  size INTEGER NOT NULL,
  mtime_ns INTEGER,
  ctime_ns INTEGER,
  inode INTEGER,
  parent INTEGER REFERENCES asset (seq),
  metadata TEXT NOT NULL CHECK (json_valid(metadata)),
  run TEXT NOT NULL,
  seen_at TEXT NOT NULL
) STRICT;
CREATE INDEX sighting_path ON sighting (path, seq);
CREATE INDEX sighting_asset ON sighting (asset, seq);

CREATE TABLE derivation (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  parent INTEGER NOT NULL REFERENCES asset (seq),
  relation TEXT NOT NULL,
  locator TEXT CHECK (locator IS NULL OR json_valid(locator)),
  name TEXT NOT NULL,
  observe INTEGER NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempt (seq),
  UNIQUE (asset, parent, relation, locator, attempt)
) STRICT;
CREATE INDEX derivation_parent ON derivation (parent);

CREATE TABLE producer (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint TEXT NOT NULL UNIQUE,
  adapter TEXT NOT NULL,
  version TEXT NOT NULL,
  role TEXT NOT NULL,
  model TEXT NOT NULL,
  params_hash TEXT NOT NULL
) STRICT;

-- The names that the owner of the scope goes by in chats; they only grow.
CREATE TABLE own_name (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  at TEXT NOT NULL
) STRICT;

CREATE TABLE run (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  command TEXT NOT NULL,
  started_at TEXT NOT NULL
) STRICT;

CREATE TABLE run_end (
  run TEXT PRIMARY KEY REFERENCES run (id),
  exit_code INTEGER NOT NULL,
  counts TEXT NOT NULL CHECK (json_valid(counts)),
  ended_at TEXT NOT NULL
) STRICT;

-- One try of one reader at one asset; what a stage has to do is what has no finished attempt.
CREATE TABLE attempt (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  stage TEXT NOT NULL,
  reader TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status TEXT NOT NULL
    CHECK (status IN ('ok', 'partial', 'empty', 'encrypted', 'unsupported', 'skipped', 'failed')),
  transient INTEGER NOT NULL,
  code TEXT,
  message TEXT,
  milliseconds INTEGER NOT NULL,
  run TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_asset ON attempt (asset, stage, fingerprint, seq);
CREATE INDEX attempt_failed ON attempt (asset, stage, reader, seq) WHERE status = 'failed';

-- Which kinds an attempt answers for: a later producer of the role supersedes an earlier one.
CREATE TABLE coverage (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  kind TEXT NOT NULL,
  role TEXT NOT NULL,
  producer INTEGER NOT NULL REFERENCES producer (seq),
  attempt INTEGER NOT NULL REFERENCES attempt (seq)
) STRICT;
CREATE INDEX coverage_asset ON coverage (asset, kind, role, attempt);

CREATE TABLE observation (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  locator TEXT NOT NULL CHECK (json_valid(locator)),
  producer INTEGER NOT NULL REFERENCES producer (seq),
  confidence REAL NOT NULL CHECK (confidence BETWEEN 0 AND 1),
  origin TEXT NOT NULL,
  role TEXT,
  language TEXT,
  author TEXT,
  thread TEXT,
  occurred TEXT CHECK (occurred IS NULL OR json_valid(occurred)),
  instant TEXT,
  attributes TEXT NOT NULL CHECK (json_valid(attributes)),
  attempt INTEGER NOT NULL REFERENCES attempt (seq),
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX observation_asset ON observation (asset, kind, seq);
CREATE INDEX observation_thread ON observation (thread, instant, seq) WHERE thread IS NOT NULL;

CREATE TABLE capture_time (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  moment TEXT NOT NULL CHECK (json_valid(moment)),
  sort TEXT NOT NULL,
  source TEXT NOT NULL,
  rank INTEGER NOT NULL,
  confidence REAL NOT NULL,
  attempt INTEGER REFERENCES attempt (seq),
  sighting INTEGER REFERENCES sighting (seq)
) STRICT;
CREATE INDEX capture_time_asset ON capture_time (asset, rank, confidence DESC, sort, seq);
CREATE INDEX capture_time_sort ON capture_time (sort, asset);

CREATE TABLE capture_place (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  latitude REAL NOT NULL,
  longitude REAL NOT NULL,
  altitude REAL,
  source TEXT NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempt (seq)
) STRICT;
CREATE INDEX capture_place_asset ON capture_place (asset, seq);

CREATE TABLE episode (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  anchor TEXT NOT NULL,
  rule TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE episode_version (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  episode INTEGER NOT NULL REFERENCES episode (seq),
  version INTEGER NOT NULL,
  kind TEXT NOT NULL,
  title TEXT NOT NULL,
  gist TEXT NOT NULL,
  gist_basis TEXT NOT NULL,
  start TEXT CHECK (start IS NULL OR json_valid(start)),
  "end" TEXT CHECK ("end" IS NULL OR json_valid("end")),
  participants TEXT NOT NULL CHECK (json_valid(participants)),
  place TEXT CHECK (place IS NULL OR json_valid(place)),
  source TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at TEXT NOT NULL,
  UNIQUE (episode, version)
) STRICT;

-- Membership is a log: an observation belongs to the episode of its latest row.
CREATE TABLE episode_member (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  observation INTEGER NOT NULL REFERENCES observation (seq),
  episode INTEGER NOT NULL REFERENCES episode (seq)
) STRICT;
CREATE INDEX episode_member_observation ON episode_member (observation, seq);
CREATE INDEX episode_member_episode ON episode_member (episode, observation);

-- How far a stage has come through a table, by sequence number.
CREATE TABLE stage_mark (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  stage TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  mark INTEGER NOT NULL
) STRICT;
CREATE INDEX stage_mark_stage ON stage_mark (stage, fingerprint, mark);

CREATE TABLE candidate (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  type TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  subject TEXT,
  key TEXT,
  value TEXT,
  valid_at TEXT, invalid_at TEXT, due_at TEXT,
  operation TEXT NOT NULL,
  basis TEXT NOT NULL,
  sensitivity TEXT NOT NULL,
  risk TEXT NOT NULL,
  salience REAL NOT NULL,
  confidence REAL NOT NULL,
  proposer TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE candidate_evidence (
  candidate INTEGER NOT NULL REFERENCES candidate (seq),
  observation INTEGER NOT NULL REFERENCES observation (seq),
  quote TEXT NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (candidate, observation, start, "end")
) STRICT, WITHOUT ROWID;
CREATE INDEX candidate_evidence_observation ON candidate_evidence (observation);

CREATE TABLE candidate_decision (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  candidate INTEGER NOT NULL REFERENCES candidate (seq),
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'rejected')),
  reason TEXT NOT NULL,
  actor TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX candidate_decision_candidate ON candidate_decision (candidate, seq);

CREATE TABLE record (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE record_version (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL REFERENCES record (seq),
  version INTEGER NOT NULL,
  candidate INTEGER NOT NULL REFERENCES candidate (seq),
  type TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  subject TEXT,
  key TEXT,
  value TEXT,
  valid_at TEXT, invalid_at TEXT, due_at TEXT,
  valid_sort TEXT,
  basis TEXT NOT NULL,
  sensitivity TEXT NOT NULL,
  risk TEXT NOT NULL,
  salience REAL NOT NULL,
  confidence REAL NOT NULL,
  proposer TEXT NOT NULL,
  importance REAL NOT NULL,
  recorded_at TEXT NOT NULL,
  UNIQUE (record, version)
) STRICT;
CREATE INDEX record_version_key ON record_version (subject, key);

CREATE TABLE record_evidence (
  version INTEGER NOT NULL REFERENCES record_version (seq),
  observation INTEGER NOT NULL REFERENCES observation (seq),
  quote TEXT NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL,
  PRIMARY KEY (version, observation, start, "end")
) STRICT, WITHOUT ROWID;
CREATE INDEX record_evidence_observation ON record_evidence (observation);

-- Every change of a record's state, appended.
CREATE TABLE revision (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  record INTEGER NOT NULL REFERENCES record (seq),
  version INTEGER NOT NULL,
  action TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN
    ('active', 'superseded', 'archived', 'conflicted', 'revoked', 'invalidated')),
  pinned INTEGER NOT NULL,
  invalid_at TEXT,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX revision_record ON revision (record, seq);

CREATE TABLE model_call (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  role TEXT NOT NULL,
  adapter TEXT NOT NULL,
  model_asked TEXT NOT NULL,
  model_answered TEXT,
  inputs TEXT NOT NULL CHECK (json_valid(inputs)),
  tokens_in INTEGER, tokens_out INTEGER,
  cost REAL,
  milliseconds INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
"""

_VIEWS = """
-- The newest sniffed type and the first sighting of each asset.
CREATE VIEW asset_now AS
SELECT a.seq, a.id, a.size, a.storage, a.derived, t.media_type, t.family, t.sniffer,
  t.seq AS type_seq
FROM asset_type t JOIN asset a ON a.seq = t.asset
WHERE t.seq = (SELECT max(seq) FROM asset_type WHERE asset = t.asset);

-- What recall may use: nothing whose kind and role another producer has answered for since.
CREATE VIEW observation_live AS
SELECT o.* FROM observation o JOIN producer p ON p.seq = o.producer
WHERE NOT EXISTS (
  SELECT 1 FROM coverage c
  WHERE c.asset = o.asset AND c.kind = o.kind AND c.role = p.role AND c.producer <> o.producer
  AND c.attempt > coalesce((
    SELECT max(own.attempt) FROM coverage own
    WHERE own.asset = o.asset AND own.kind = o.kind AND own.role = p.role
    AND own.producer = o.producer), o.attempt)
);

CREATE VIEW capture_now AS
SELECT c.* FROM capture_time c
WHERE c.seq = (
  SELECT d.seq FROM capture_time d WHERE d.asset = c.asset
  ORDER BY d.rank, d.confidence DESC, d.sort, d.seq LIMIT 1);

CREATE VIEW episode_now AS
SELECT e.seq, e.id, e.anchor, e.rule, e.created_at, v.version, v.kind, v.title, v.gist,
  v.gist_basis, v.start, v."end", v.participants, v.place, v.source, v.status, v.seq AS version_seq
FROM episode e
JOIN episode_version v ON v.seq = (SELECT max(seq) FROM episode_version WHERE episode = e.seq);

CREATE VIEW membership AS
SELECT m.observation, m.episode FROM episode_member m
WHERE m.seq = (SELECT max(seq) FROM episode_member WHERE observation = m.observation);

CREATE VIEW candidate_now AS
SELECT c.*, coalesce(d.status, 'pending') AS status, d.reason, d.actor, d.at AS decided_at
FROM candidate c
LEFT JOIN candidate_decision d
  ON d.seq = (SELECT max(seq) FROM candidate_decision WHERE candidate = c.seq);

CREATE VIEW record_now AS
SELECT r.id, v.seq AS version_seq, v.record, v.version, v.candidate, v.type, v.kind, v.text,
  v.subject, v.key, v.value, v.valid_at, coalesce(x.invalid_at, v.invalid_at) AS invalid_at,
  v.due_at, v.valid_sort, v.basis, v.sensitivity, v.risk, v.salience, v.confidence, v.proposer,
  v.importance, v.recorded_at, x.status, x.pinned, x.seq AS revision_seq,
  CASE WHEN x.status = 'active' THEN NULL ELSE x.at END AS closed_at
FROM record r
JOIN record_version v ON v.record = r.seq
JOIN revision x ON x.seq = (
  SELECT max(seq) FROM revision WHERE record = r.seq AND version = v.version);
"""

_APPEND_ONLY = (
    "asset", "asset_bytes", "asset_type", "sighting", "derivation", "producer", "own_name", "run",
    "run_end", "attempt", "coverage", "observation", "capture_time", "capture_place", "episode",
    "episode_version", "episode_member", "stage_mark", "candidate", "candidate_evidence",
    "candidate_decision", "record", "record_version", "record_evidence", "revision", "model_call",
)  # fmt: skip


def apply(connection: apsw.Connection) -> None:
    """Create every table, view and trigger."""
    connection.execute(_TABLES)
    connection.execute(_VIEWS)
    guard(connection, _APPEND_ONLY)
