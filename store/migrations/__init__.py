"""Numbered schema steps of a file, each applied once, in a transaction with its number."""

from collections.abc import Callable
from typing import TypeAlias

import apsw

from muniment.store.database import transaction
from muniment.store.errors import StateError
from muniment.store.migrations import (
    m001_initial,
    m002_memory,
    m003_sessions,
    m004_forget,
    m005_links,
    m006_entities,
    m007_reviews,
    m008_fragments,
    u001_personas,
)

Steps: TypeAlias = tuple[Callable[[apsw.Connection], None], ...]

STEPS: Steps = (
    m001_initial.apply,
    m002_memory.apply,
    m003_sessions.apply,
    m004_forget.apply,
    m005_links.apply,
    m006_entities.apply,
    m007_reviews.apply,
    m008_fragments.apply,
)
SCHEMA_VERSION = len(STEPS)
USER_STEPS: Steps = (u001_personas.apply,)


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version that a ledger stands at; 0 is an empty file."""
    return int(connection.pragma("user_version"))


def migrate(connection: apsw.Connection, steps: Steps | None = None) -> int:
    """Bring a file to the current schema; return how many steps were applied.

    ``steps`` are a ledger's unless others are given.
    """
    steps = STEPS if steps is None else steps
    check_version(connection, len(steps))
    applied = 0
    for number in range(version_of(connection), len(steps)):
        with transaction(connection):
            if version_of(connection) != number:
                continue  # another process was quicker
            steps[number](connection)
            connection.pragma("user_version", number + 1)
        applied += 1
    return applied


def check_version(connection: apsw.Connection, known: int | None = None) -> None:
    """Refuse a file that a newer version wrote; ``known`` is a ledger's version unless given."""
    known = SCHEMA_VERSION if known is None else known
    found = version_of(connection)
    if found > known:
        raise StateError(
            f"the ledger has schema {found}, this version knows {known}",
            code="future",
            hint="upgrade muniment",
        )
