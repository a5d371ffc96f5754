"""Take an archive that was seen to be whole into an empty scope.

A ledger is built beside from the rows, at the archive's own schema, brought to the current one
and checked. Then the large originals are kept, and one transaction copies every row: the scope
holds all of the archive or nothing of it.
"""

import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import apsw

from muniment.store import files, migrations
from muniment.store.archive.read import Survey, lines, piece_of, schema_tables
from muniment.store.archive.tables import from_json, tables
from muniment.store.database import database_errors, number, open_memory, open_unjournalled
from muniment.store.errors import DamageError, StateError
from muniment.store.ledger import Ledger


def load(path: Path, survey: Survey, ledger: Ledger, folder: Path) -> None:
    """Import an archive into an open, empty scope; ``folder`` takes what is being built."""
    require_empty(ledger)
    with files.temporary_file(folder) as (built, _):
        with closing(open_unjournalled(built)) as database:
            database.pragma("synchronous", "off")
            database.pragma("journal_mode", "off")
            _build(path, survey, database)
        _keep_originals(path, ledger, folder)
        _copy(ledger, built)
        files.remove(built)


def rehearse(path: Path, survey: Survey) -> None:
    """Build the ledger of an archive in memory; raise unless it would be a sound one."""
    with closing(open_memory()) as database:
        _build(path, survey, database)


def require_empty(ledger: Ledger) -> None:
    """Refuse a scope that holds anything."""
    for table in tables(ledger.database):
        if number(ledger.database, f'SELECT EXISTS (SELECT 1 FROM "{table.name}")'):
            raise StateError(
                f"the scope {'/'.join(ledger.scope.as_dict().values())} is not empty",
                code="not_empty",
                hint="import into a new one, named with --namespace",
                path=os.fsdecode(ledger.paths.path),
            )


def _build(path: Path, survey: Survey, database: apsw.Connection) -> None:
    """Fill a database with the archive's rows, and check what they point at."""
    version = survey.header["schema"]
    for step in migrations.STEPS[:version]:
        step(database)
    database.pragma("user_version", version)
    database.pragma("foreign_keys", False)  # checked below, for all rows at once
    statements = {name: table.insertion for name, table in schema_tables(version).items()}
    try:
        database.execute("BEGIN")
        for row in _rows(path):
            database.execute(statements[row["table"]], tuple(map(from_json, row["row"].values())))
        database.execute("COMMIT")
    except (apsw.ConstraintError, apsw.SQLError, ValueError, TypeError, OverflowError) as error:
        raise _unsound(path, type(error).__name__) from error
    if broken := database.execute("PRAGMA foreign_key_check").fetchone():
        raise _unsound(path, f"a row of {broken[0]} points nowhere")
    database.pragma("foreign_keys", True)
    migrations.migrate(database)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return (said for _, _, said in lines(path) if said["type"] == "row")


def _keep_originals(path: Path, ledger: Ledger, folder: Path) -> None:
    """Write the large originals where assets lie; a row names them only afterwards."""
    pieces = (piece_of(said) for _, _, said in lines(path) if said["type"] == "bytes")
    piece = next(pieces, None)
    while piece is not None:
        asset, size = piece.asset, 0
        with files.temporary_file(folder) as (partial, stream):
            while piece is not None and piece.asset == asset:
                files.write_chunk(stream, piece.data)
                size += len(piece.data)
                piece = next(pieces, None)
            files.sync_file(stream)
            ledger.assets.store.keep(partial, asset, size)


def _copy(ledger: Ledger, built: Path) -> None:
    with database_errors(ledger.paths.ledger):
        ledger.database.execute("ATTACH ? AS incoming", (os.fspath(built),))
        try:
            with ledger.unit():
                require_empty(ledger)
                ledger.database.pragma("defer_foreign_keys", True)
                for table in tables(ledger.database):
                    ledger.database.execute(table.copying)
        finally:
            with suppress(apsw.Error):
                ledger.database.execute("DETACH incoming")


def _unsound(path: Path, why: str) -> DamageError:
    return DamageError(
        f"the archive's rows do not make a ledger: {why}",
        code="archive_damaged",
        hint="nothing was imported; export it again",
        path=os.fsdecode(path),
    )
