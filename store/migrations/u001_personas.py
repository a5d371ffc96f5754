"""The first schema of a user's own file: the persona, in immutable versions."""

import apsw

_TABLES = """
CREATE TABLE persona (
  version INTEGER PRIMARY KEY AUTOINCREMENT,
  text TEXT NOT NULL,
  restores INTEGER REFERENCES persona (version),
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT;
"""


def apply(connection: apsw.Connection) -> None:
    """Create the table and the triggers that keep it append-only."""
    connection.execute(_TABLES)
    for verb in ("UPDATE", "DELETE"):
        connection.execute(
            f"CREATE TRIGGER persona_no_{verb.lower()} BEFORE {verb} ON persona "
            f"WHEN NOT erasing() BEGIN "
            f"SELECT RAISE(ABORT, 'the file is append-only: {verb} of persona'); END"
        )
