"""Read all that an index holds, to compare two that must hold the same."""

from pathlib import Path
from typing import Any

import apsw

_TABLES = {
    "doc": "SELECT * FROM doc ORDER BY rowid",
    "posting": "SELECT * FROM posting ORDER BY chunk, token",
    "length": "SELECT * FROM length ORDER BY chunk",
    "dead": "SELECT * FROM dead ORDER BY place",
    "gone": "SELECT * FROM gone ORDER BY rowid",
    "mark": "SELECT * FROM mark ORDER BY name",
    "words": "SELECT doc, col, offset, term FROM temp.instance ORDER BY 1, 2, 3, 4",
}


def contents(path: Path) -> dict[str, list[Any]]:
    """Return the rows of every table of an index file, and every word with its place."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE VIRTUAL TABLE temp.instance USING fts5vocab(main, fts, instance)")
    found = {name: connection.execute(statement).fetchall() for name, statement in _TABLES.items()}
    connection.close()
    return found
