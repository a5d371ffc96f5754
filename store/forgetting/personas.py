"""Persona versions in a hard forget: they lie in the user's own file, above the scopes."""

from collections.abc import Iterable
from contextlib import closing

from muniment.store.database import (
    database_errors,
    erasing,
    open_database,
    rows,
    transaction,
)
from muniment.store.forgetting.anew import write_anew
from muniment.store.layout import Root, Scope

_SAME = """
WITH RECURSIVE same(version) AS (
  SELECT value FROM json_each(?)
  UNION SELECT p.version FROM persona p JOIN same s ON p.restores = s.version
  UNION SELECT p.restores FROM persona p JOIN same s ON p.version = s.version
    WHERE p.restores IS NOT NULL
)
SELECT version FROM same WHERE version IN (SELECT version FROM persona)
"""


def versions(root: Root, scope: Scope, wanted: Iterable[int]) -> list[int]:
    """Return the versions that hold the text of the wanted ones: a rollback repeats it."""
    path = root.user(scope).database
    if not path.exists():
        return []
    with database_errors(path), closing(open_database(path, readonly=True)) as database:
        return [int(row[0]) for row in rows(database, _SAME, (_json(wanted),))]


def texts(root: Root, scope: Scope, wanted: Iterable[int] | None = None) -> dict[str, list[int]]:
    """Return the versions by their text: all of them, or those that are wanted."""
    path = root.user(scope).database
    found: dict[str, list[int]] = {}
    if not path.exists():
        return found
    chosen = None if wanted is None else set(wanted)
    with database_errors(path), closing(open_database(path, readonly=True)) as database:
        for version, text in rows(database, "SELECT version, text FROM persona"):
            if chosen is None or version in chosen:
                found.setdefault(str(text), []).append(int(version))
    return found


def erase(root: Root, scope: Scope, wanted: Iterable[int]) -> None:
    """Delete versions and write the file anew; the root is held alone. May be done twice."""
    path = root.user(scope).database
    if not path.exists():
        return
    database = open_database(path)
    try:
        with transaction(database), erasing(database):
            database.execute("PRAGMA defer_foreign_keys = ON")
            database.execute(
                "DELETE FROM persona WHERE version IN (SELECT value FROM json_each(?))",
                (_json(wanted),),
            )
        write_anew(root, path, database)
    finally:
        database.close()


def _json(numbers: Iterable[int]) -> str:
    return "[" + ",".join(str(int(number)) for number in numbers) + "]"
