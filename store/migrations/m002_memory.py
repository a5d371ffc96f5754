"""The memory plane's second step: support, links, proposal attempts, consolidations."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
-- A later candidate that says what a record's version says already: it adds evidence, not a copy.
CREATE TABLE record_support (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  version INTEGER NOT NULL REFERENCES record_version (seq),
  candidate INTEGER NOT NULL REFERENCES candidate (seq),
  at TEXT NOT NULL,
  UNIQUE (version, candidate)
) STRICT;

-- How two records stand to each other: the newest row of a pair and relation is in force.
CREATE TABLE record_link (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  one INTEGER NOT NULL REFERENCES record (seq),
  other INTEGER NOT NULL REFERENCES record (seq),
  relation TEXT NOT NULL CHECK (relation IN ('related', 'corrects', 'supersedes', 'compatible')),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL,
  UNIQUE (one, other, relation)
) STRICT;
CREATE INDEX record_link_other ON record_link (other);

CREATE INDEX record_version_text ON record_version (text);
CREATE INDEX record_version_valid ON record_version (subject, key, valid_sort);

-- One call of a proposer over observations; what it has not finished is its work for the next run.
CREATE TABLE proposal_attempt (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fingerprint TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
  code TEXT,
  message TEXT,
  candidates INTEGER NOT NULL,
  at TEXT NOT NULL
) STRICT;
CREATE INDEX proposal_attempt_range ON proposal_attempt (fingerprint, first, last, seq);

-- A consolidation is begun with what it is going to change and ended when it has.
CREATE TABLE consolidation (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  inputs TEXT NOT NULL CHECK (json_valid(inputs)),
  at TEXT NOT NULL
) STRICT;

CREATE TABLE consolidation_end (
  consolidation INTEGER PRIMARY KEY REFERENCES consolidation (seq),
  status TEXT NOT NULL CHECK (status IN ('done', 'abandoned')),
  outputs TEXT NOT NULL CHECK (json_valid(outputs)),
  at TEXT NOT NULL
) STRICT;
"""

_APPEND_ONLY = (
    "record_support", "record_link", "proposal_attempt", "consolidation", "consolidation_end",
)  # fmt: skip


def apply(connection: apsw.Connection) -> None:
    """Create the tables and the triggers that keep them append-only."""
    connection.execute(_TABLES)
    guard(connection, _APPEND_ONLY)
