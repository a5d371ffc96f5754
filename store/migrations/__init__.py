"""Numbered schema steps of a ledger, each applied once, in a transaction with its number."""

from collections.abc import Callable

import apsw

from muniment.store.database import transaction
from muniment.store.errors import StateError
from muniment.store.migrations import m001_initial, m002_memory

STEPS: tuple[Callable[[apsw.Connection], None], ...] = (m001_initial.apply, m002_memory.apply)
SCHEMA_VERSION = len(STEPS)


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version that a ledger stands at; 0 is an empty file."""
    return int(connection.pragma("user_version"))


def migrate(connection: apsw.Connection) -> int:
    """Bring a ledger to the current schema; return how many steps were applied."""
    check_version(connection)
    applied = 0
    for number in range(version_of(connection), SCHEMA_VERSION):
        with transaction(connection):
            if version_of(connection) != number:
                continue  # another process was quicker
            STEPS[number](connection)
            connection.pragma("user_version", number + 1)
        applied += 1
    return applied


def check_version(connection: apsw.Connection) -> None:
    """Refuse a ledger that a newer version wrote."""
    found = version_of(connection)
    if found > SCHEMA_VERSION:
        raise StateError(
            f"the ledger has schema {found}, this version knows {SCHEMA_VERSION}",
            code="future",
            hint="upgrade muniment",
        )
