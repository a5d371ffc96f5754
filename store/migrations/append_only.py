"""The triggers that keep a table append-only outside a hard forget."""

from collections.abc import Iterable

import apsw


def guard(connection: apsw.Connection, tables: Iterable[str]) -> None:
    """Refuse every change and deletion of rows in these tables."""
    for table in tables:
        for verb in ("UPDATE", "DELETE"):
            connection.execute(
                f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} "
                f"WHEN NOT erasing() BEGIN "
                f"SELECT RAISE(ABORT, 'the ledger is append-only: {verb} of {table}'); END"
            )
