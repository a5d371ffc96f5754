"""How assets stand to each other, and what their decoded content looks or sounds like."""

import apsw

from muniment.store.migrations.append_only import guard

_TABLES = """
-- ``asset`` is what the link is about, ``other`` what it was found in: the sidecar, the chat, the
-- other half of a live photo. ``basis`` says why, as JSON.
CREATE TABLE link (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  other INTEGER NOT NULL REFERENCES asset (seq),
  relation TEXT NOT NULL,
  basis TEXT NOT NULL CHECK (json_valid(basis)),
  at TEXT NOT NULL,
  UNIQUE (asset, other, relation)
) STRICT;
CREATE INDEX link_other ON link (other);

-- A fingerprint of decoded content, ``measure:digits``: the measure (shape or length) of near ones
-- is nearly equal, and their hexadecimal digits differ in few bits.
CREATE TABLE content_print (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  asset INTEGER NOT NULL REFERENCES asset (seq),
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempt (seq),
  UNIQUE (asset, kind, value)
) STRICT;
CREATE INDEX content_print_kind ON content_print (kind, asset);
"""

_APPEND_ONLY = ("link", "content_print")


def apply(connection: apsw.Connection) -> None:
    """Create the tables and the triggers that keep them append-only."""
    connection.execute(_TABLES)
    guard(connection, _APPEND_ONLY)
