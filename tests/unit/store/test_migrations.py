from pathlib import Path

import apsw
import pytest

from muniment.store import migrations
from muniment.store.database import open_database, open_memory
from muniment.store.errors import StateError


def objects(database: apsw.Connection) -> list[tuple[str, str]]:
    rows = database.execute("SELECT name, sql FROM sqlite_schema ORDER BY name")
    return [(str(name), str(sql)) for name, sql in rows]


def test_an_empty_file_is_brought_to_the_current_schema_once() -> None:
    database = open_memory()

    assert migrations.migrate(database) == migrations.SCHEMA_VERSION
    made = objects(database)
    assert migrations.migrate(database) == 0

    assert migrations.version_of(database) == migrations.SCHEMA_VERSION
    assert objects(database) == made
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_every_table_is_strict_and_refuses_updates_and_deletes() -> None:
    database = open_memory()
    migrations.migrate(database)
    names = {name for name, _ in objects(database)}

    for name, kind, strict in database.execute(
        "SELECT name, type, strict FROM pragma_table_list WHERE schema = 'main' "
        "AND name NOT LIKE 'sqlite_%' AND type = 'table'"
    ):
        assert (kind, strict) == ("table", 1), name
        assert {f"{name}_no_update", f"{name}_no_delete"} <= names


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.sqlite3")
    database.pragma("user_version", migrations.SCHEMA_VERSION + 1)

    with pytest.raises(StateError) as caught:
        migrations.migrate(database)

    assert caught.value.code == "future"


def test_a_step_that_fails_leaves_the_schema_that_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = open_database(tmp_path / "a.sqlite3")
    migrations.migrate(database)
    before = objects(database)

    def broken(connection: apsw.Connection) -> None:
        connection.execute("CREATE TABLE half (x)")
        raise KeyboardInterrupt

    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, broken))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 1)
    with pytest.raises(KeyboardInterrupt):
        migrations.migrate(database)

    assert objects(database) == before
    assert migrations.version_of(database) == migrations.SCHEMA_VERSION - 1


def test_steps_that_are_missing_are_applied_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    database = open_memory()
    migrations.migrate(database)
    applied: list[int] = []
    steps = tuple(lambda _, n=n: applied.append(n) for n in (2, 3))
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *steps))
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", migrations.SCHEMA_VERSION + 2)

    assert migrations.migrate(database) == 2
    assert applied == [2, 3]


def test_what_a_hidden_utterance_replaced_is_hidden_by_the_eighth_step() -> None:
    database = open_memory()
    migrations.migrate(database, migrations.STEPS[:7])
    database.execute(
        "INSERT INTO asset (id, size, storage, derived, created_at) "
        f"VALUES ('sha256:{'0' * 64}', 1, 'inline', 0, '2026');"
        "INSERT INTO session (id, started_at) VALUES ('s', '2026');"
        "INSERT INTO event (id, session, asset, fragment, spoken, at) VALUES "
        "('v1', 1, NULL, '{}', 1, '2026'), ('v2', 1, 1, NULL, 1, '2026'), "
        "('v3', 1, NULL, '{}', 1, '2026');"
        "INSERT INTO tombstone (id, mode, counts, actor, at) "
        "VALUES ('tmb_1', 'soft', '{}', 'user', '2026');"
        "INSERT INTO tombstone_member (tombstone, asset) VALUES (1, 1);"
    )

    assert migrations.migrate(database, migrations.STEPS[:8]) == 1

    assert database.execute("SELECT event, tombstone FROM hidden_fragment").fetchall() == [(1, 1)]
