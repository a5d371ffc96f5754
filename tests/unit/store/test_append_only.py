import sqlite3
import subprocess
from pathlib import Path
from shutil import which

import apsw
import pytest
from support.stores import TinyStore

from muniment.store import migrations
from muniment.store.database import open_database, open_memory
from muniment.store.forgetting.hide import hide, lift
from muniment.store.forgetting.selection import Selection
from muniment.store.ledger import Ledger
from muniment.store.records import Candidate, Evidence


def _tables() -> list[str]:
    database = open_memory()
    migrations.migrate(database)
    rows = database.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    )
    return sorted(name for (name,) in rows)


TABLES = _tables()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger with at least one row in every table."""
    store = TinyStore(tmp_path_factory.mktemp("filled") / "root")
    observation = store.note("My name is Ada.")
    record = store.record("name is Ada", observation)
    store.record("likes Ada", observation)
    store.episode([observation])
    ledger = store.ledger
    with ledger.unit():
        ledger.evidence.add_time(1, {"utc": "2026-01-01T00:00:00.000000Z"}, "exif", 1, 1.0)
        ledger.evidence.add_place(1, (1.0, 2.0, None), "exif", 1)
        ledger.attempts.end_run("run_test", 0, {})
        ledger.attempts.set_mark("group", 1)
        ledger.assets.derive(1, 1, 1, relation="page", locator=None, name="", observe=False)
        ledger.links.add(1, 1, "sidecar", {})
        ledger.duplicates.add(1, "picture", "100:00", 1)
        ledger.memory.support(1, 1, _more_evidence(observation))
        ledger.memory.link(record, record, "related", actor="user", reason="")
        ledger.audit.add_attempt("model/1", 1, 1)
        _forget(ledger)
        _review(ledger, observation)
        _talk(ledger)
        if "own_name" in TABLES:
            ledger.evidence.add_own_names(["Ada"])
        if not _count(ledger.database, "model_call"):
            ledger.database.execute(
                "INSERT INTO model_call (role, adapter, model_asked, inputs, milliseconds, "
                "outcome, at) VALUES ('chat', 'a', 'm', '[]', 1, 'ok', '2026')"
            )
    store.close()
    return store.paths.ledger


def _forget(ledger: Ledger) -> None:
    hide(ledger, Selection(assets={1}), actor="user")
    lift(ledger, Selection(assets={1}), actor="user")
    ledger.database.execute("INSERT INTO forgotten (tombstone, kind, digest) VALUES (1, 'a', 'b')")
    ledger.database.execute("INSERT INTO forgotten_lift (forgotten, at) VALUES (1, '2026')")
    ledger.database.execute("INSERT INTO erasure (tombstone, kind, ref) VALUES (1, 'id', 'a')")


def _talk(ledger: Ledger) -> None:
    session, _ = ledger.sessions.open("s", host=None, agent=None)
    ledger.sessions.add(
        session, "e", asset=1, fragment=None, occurred=None, spoken=False
    )  # fmt: skip
    ledger.sessions.add(
        session, "f", asset=None, fragment="{}", occurred=None, spoken=True
    )  # fmt: skip
    hide(ledger, Selection(events={2}), actor="user")
    lift(ledger, Selection(events={2}), actor="user")
    ledger.checkpoints.save(session, {"goal": "x"}, None, None)
    ledger.checkpoints.advance("host", "stream", "1", previous=None, events=1)


def _review(ledger: Ledger, observation: str) -> None:
    ledger.readings.mark(observation, "mark", "misread", "user")
    ledger.audit.begin("batch_1", [])
    ledger.audit.end("batch_1", "done", [])
    for statement in (
        "INSERT INTO entity (id, kind, own, created_at) VALUES ('ent_1', 'person', 0, '2026'), "
        "('ent_2', 'person', 0, '2026')",
        "INSERT INTO entity_name (entity, observation, name, folded, form, via, at) "
        "VALUES (1, 1, 'Ada', 'ada', 'name', 'model', '2026')",
        "INSERT INTO entity_relation (entity, other, relation, candidate, at) "
        "VALUES (1, 2, 'knows', 1, '2026')",
        "INSERT INTO entity_decision (entity, other, action, reason, actor, at) "
        "VALUES (1, 2, 'apart', '', 'user', '2026')",
        "INSERT INTO record_pair (one, other, verdict, actor, reason, at) "
        "VALUES (1, 2, 'apart', 'model', '', '2026')",
    ):
        ledger.database.execute(statement)


def _more_evidence(observation: str) -> Candidate:
    quote = Evidence(observation=observation, quote="My", start=0, end=2)
    return Candidate(
        id="cand_1", type="semantic", kind="fact", text="Ada", basis="user_statement",
        evidence=(quote,), proposer="rules", created_at="2026-01-01T00:00:00.000000Z",
    )  # fmt: skip


def _count(database: apsw.Connection, table: str) -> int:
    ((count,),) = database.execute(f"SELECT count(*) FROM {table}")
    return int(count)


def _statements(table: str, column: str) -> list[str]:
    return [
        f'UPDATE {table} SET "{column}" = "{column}"',
        f"DELETE FROM {table}",
        f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
    ]


@pytest.mark.parametrize("table", TABLES)
def test_no_row_of_any_table_is_changed_or_deleted(filled: Path, table: str) -> None:
    database = open_database(filled)
    before = database.execute(f"SELECT * FROM {table}").fetchall()
    assert before
    column = database.execute(f"SELECT * FROM {table}").get_description()[-1][0]

    for statement in _statements(table, column):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            database.execute(statement)

    assert database.execute(f"SELECT * FROM {table}").fetchall() == before


@pytest.mark.parametrize("table", TABLES)
def test_other_programs_are_refused_for_want_of_the_function(filled: Path, table: str) -> None:
    other = sqlite3.connect(filled)
    column = other.execute(f"SELECT * FROM {table}").description[-1][0]
    for statement in _statements(table, column)[:2]:
        with pytest.raises(sqlite3.OperationalError, match="no such function: erasing"):
            other.execute(statement)
    other.close()


@pytest.mark.skipif(which("sqlite3") is None, reason="the program is not on this machine")
def test_the_command_line_of_sqlite_is_refused(filled: Path) -> None:
    ended = subprocess.run(
        ["sqlite3", str(filled), "DELETE FROM observation"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ended.returncode != 0
    assert "erasing" in ended.stderr


def test_only_what_says_that_it_erases_may_erase(filled: Path) -> None:
    database = open_database(filled)
    database.create_scalar_function("erasing", lambda *_: 1, 0)
    database.execute("BEGIN")
    database.execute("DELETE FROM stage_mark")
    assert _count(database, "stage_mark") == 0
    database.execute("ROLLBACK")
