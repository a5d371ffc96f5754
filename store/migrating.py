"""Bring every ledger and user's file of a root to the current schema, after a copy was set beside.

The copy is ``ledger.sqlite3.schema-N``, made by SQLite's backup API and checked before the first
step. Steps are transactions of their own, so a migration that was cut short goes on where it
stopped.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

from muniment.store import files, locks, manifest, migrations
from muniment.store.database import database_errors, open_database, open_unjournalled
from muniment.store.errors import DamageError, LockedError, NoSpaceError
from muniment.store.layout import Root

LEDGER = "ledger.sqlite3"
USER = "user.sqlite3"


def migrate(root: Root, *, wait_seconds: float = 0.0, dry_run: bool = False) -> dict[str, Any]:
    """Migrate every file; return what was done for each.

    Raises ``StateError`` for a file that a newer version wrote, before anything is changed.
    """
    manifest.require(root)
    if dry_run:
        with manifest.shared(root, wait_seconds):
            files_done = [_plan(path) for path in databases(root)]
    else:
        with locks.hold(root.lock, wait_seconds=wait_seconds):
            manifest.require(root)
            planned = [(path, _plan(path)) for path in databases(root)]
            files_done = [_migrate(root, path, plan) for path, plan in planned]
    return {
        "schema": migrations.SCHEMA_VERSION,
        "migrated": sum(1 for one in files_done if one["steps"]),
        "files": files_done,
        "dry_run": dry_run,
    }


def databases(root: Root) -> Iterator[Path]:
    """Yield the files that have a schema: every scope's ledger and every user's file."""
    yield from sorted(root.store.glob(f"tenants/*/users/*/namespaces/*/{LEDGER}"))
    yield from sorted(root.store.glob(f"tenants/*/users/*/{USER}"))


def copies(root: Root) -> Iterator[Path]:
    """Yield the copies that migrations have set beside files."""
    for name in ("namespaces/*/" + LEDGER, USER):
        yield from sorted(root.store.glob(f"tenants/*/users/*/{name}.schema-*"))


def steps_of(name: str) -> migrations.Steps:
    """Return the steps of the file with a name; one that we do not know has none."""
    return {LEDGER: migrations.STEPS, USER: migrations.USER_STEPS}.get(name, ())


def copy_path(ledger: Path, version: int) -> Path:
    """Return where the copy of a ledger lies that was at a schema version."""
    return ledger.with_name(f"{ledger.name}.schema-{version}")


@contextmanager
def looked_at(path: Path) -> Iterator[apsw.Connection]:
    """Open a file for a dry run: nothing is left beside it, unless a writer is at work."""
    lock = path.with_name("writer.lock" if path.name == LEDGER else "user.lock")
    with ExitStack() as held:
        still = True
        if lock.exists():
            try:
                held.enter_context(locks.hold(lock, shared=True))
            except LockedError:
                still = False
        yield held.enter_context(closing(open_database(path, readonly=True, still=still)))


def _plan(path: Path) -> dict[str, Any]:
    known = len(steps_of(path.name))
    with looked_at(path) as database, database_errors(path):
        migrations.check_version(database, known)
        found = migrations.version_of(database)
    if found == 0:
        raise DamageError(
            "the ledger is empty", code="ledger_missing", hint="restore it from a backup",
            path=os.fsdecode(path),
        )  # fmt: skip
    steps = known - found
    return {
        "path": os.fspath(path),
        "from": found,
        "to": known,
        "steps": steps,
        "copy": os.fspath(copy_path(path, found)) if steps else None,
    }


def _migrate(root: Root, path: Path, plan: dict[str, Any]) -> dict[str, Any]:
    if not plan["steps"]:
        return plan
    with closing(open_unjournalled(path)) as database, database_errors(path):
        _copy(root, database, copy_path(path, plan["from"]))
        migrations.migrate(database, steps_of(path.name))
        _require_sound(database, path)
    return plan


def _copy(root: Root, database: apsw.Connection, target: Path) -> None:
    """Set a checked copy beside a ledger; its name is never seen before it is whole."""
    size = int(database.pragma("page_count")) * int(database.pragma("page_size"))
    if shutil.disk_usage(target.parent).free < 2 * size:
        raise NoSpaceError(
            f"{2 * size} bytes are needed for a copy and the steps",
            hint="free some space and run the same command again",
            path=os.fsdecode(target.parent),
        )
    files.make_directory(root.temporary)
    with files.temporary_file(root.temporary) as (temporary, stream):
        copy = apsw.Connection(os.fspath(temporary))
        try:
            copy.pragma("journal_mode", "off")
            with copy.backup("main", database, "main") as backup:
                while not backup.done:
                    backup.step(4096)
            copy.pragma("journal_mode", "delete")
            _require_sound(copy, target)
        finally:
            copy.close()
        files.sync_file(stream)
        files.publish(temporary, target)


def _require_sound(database: apsw.Connection, path: Path) -> None:
    said = [str(row[0]) for row in database.execute("PRAGMA integrity_check(1)")]
    if said != ["ok"] or list(database.execute("PRAGMA foreign_key_check")):
        raise DamageError(
            "the ledger is damaged", code="ledger_damaged", hint="restore it from a backup",
            path=os.fsdecode(path),
        )  # fmt: skip
