import hashlib
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from support.backups import backed_up
from support.old_stores import FIXTURES, old_store

from muniment.store import locks, migrations
from muniment.store.backup.restore import restore
from muniment.store.database import open_database, open_memory
from muniment.store.errors import LockedError, StateError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.migrating import copies, copy_path, migrate
from muniment.store.verify import verify

HELD = ("asset", "asset_bytes", "sighting", "observation", "record_version", "revision")


def rows(path: Path) -> dict[str, list[Any]]:
    with closing(open_database(path, readonly=True)) as database:
        return {
            table: database.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in HELD
        }


def version(path: Path) -> int:
    with closing(open_database(path, readonly=True)) as database:
        return migrations.version_of(database)


@pytest.fixture
def old(tmp_path: Path) -> Root:
    return old_store(tmp_path / "old")


@pytest.fixture
def extra(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Add a step that appends a table and a row; return what it did so far."""
    done: list[int] = []

    def step(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE extra (x TEXT NOT NULL) STRICT")
        connection.execute("INSERT INTO extra SELECT text FROM observation")
        done.append(1)

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, step))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 1)
    return done


def test_the_first_schema_is_still_what_it_was() -> None:
    with closing(open_memory()) as made, closing(open_memory()) as kept:
        migrations.STEPS[0](made)
        kept.execute((FIXTURES / "ledger_v1.sql").read_text("utf-8"))
        found = [
            dict(db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL"))
            for db in (made, kept)
        ]

    assert found[0] == found[1], "a step that was released never changes; add another one"


def test_an_old_ledger_comes_up_with_everything_in_it(old: Root, extra: list[int]) -> None:
    ledger = old.scope(Scope()).ledger
    before = rows(ledger)
    with pytest.raises(StateError) as caught:
        Ledger.read(old, Scope())
    assert "migrate" in caught.value.hint

    said = migrate(old)

    assert (said["migrated"], extra) == (1, [1])
    assert version(ledger) == migrations.SCHEMA_VERSION
    assert rows(ledger) == before
    assert not verify(old, Scope()).damaged
    with Ledger.read(old, Scope()) as opened:
        assert opened.database.execute("SELECT count(*) FROM extra").fetchall() == [(1,)]
    (copy,) = copies(old)
    assert copy == copy_path(ledger, 1)
    assert (version(copy), rows(copy)) == (1, before)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert migrate(old)["migrated"] == 0


def test_a_dry_run_names_the_steps_and_changes_nothing(old: Root) -> None:
    ledger = old.scope(Scope()).ledger
    before = hashlib.sha256(ledger.read_bytes()).digest()

    said = migrate(old, dry_run=True)

    assert said["files"][0]["steps"] == migrations.SCHEMA_VERSION - 1
    assert hashlib.sha256(ledger.read_bytes()).digest() == before
    assert list(copies(old)) == []


def test_a_migration_that_was_cut_short_is_taken_up(
    old: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = old.scope(Scope()).ledger
    before = rows(ledger)

    def cut(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", (*migrations.STEPS, cut))
        with pytest.raises(KeyboardInterrupt):
            migrate(old)
    assert version(ledger) == migrations.SCHEMA_VERSION
    assert rows(copy_path(ledger, 1)) == before

    assert migrate(old)["migrated"] == 0
    assert rows(ledger) == before
    assert not verify(old, Scope()).damaged


def test_a_newer_schema_is_refused_before_anything_is_changed(old: Root) -> None:
    newer = Scope(namespace="newer")
    Ledger.create(old, newer).close()
    with closing(open_database(old.scope(newer).ledger)) as database:
        database.pragma("user_version", migrations.SCHEMA_VERSION + 1)

    with pytest.raises(StateError) as caught:
        migrate(old)

    assert caught.value.code == "future"
    assert version(old.scope(Scope()).ledger) == 1
    assert list(copies(old)) == []


def test_nobody_else_may_use_the_root_meanwhile(old: Root) -> None:
    with locks.hold(old.lock, shared=True), pytest.raises(LockedError):
        migrate(old)

    assert version(old.scope(Scope()).ledger) == 1


def test_an_old_backup_can_still_be_restored_and_brought_up(
    old: Root, tmp_path: Path, extra: list[int]
) -> None:
    repository, snapshot = backed_up(old, tmp_path / "repo")
    fresh = Root(tmp_path / "fresh")

    restore(fresh, repository, snapshot)
    migrate(fresh)

    assert extra == [1]
    assert rows(fresh.scope(Scope()).ledger) == rows(old.scope(Scope()).ledger)
    assert not verify(fresh, Scope()).damaged


def test_a_copy_beside_a_ledger_is_not_part_of_a_backup(old: Root, tmp_path: Path) -> None:
    migrate(old)

    _, snapshot = backed_up(old, tmp_path / "repo")

    assert [e.path.rsplit("/", 1)[-1] for e in snapshot.entries] == [
        "muniment.json", "ledger.sqlite3",
    ]  # fmt: skip
