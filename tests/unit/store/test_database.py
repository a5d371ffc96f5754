import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from muniment.store import database
from muniment.store.database import (
    database_errors,
    number,
    open_database,
    open_memory,
    snapshot,
    transaction,
)
from muniment.store.errors import DamageError, LockedError, MunimentError, NoSpaceError

WRITER = """
import os, sys
from pathlib import Path
from muniment.store.database import open_database, transaction
os.umask(int(sys.argv[2], 8))
database = open_database(Path(sys.argv[1]))
with transaction(database):
    database.execute("CREATE TABLE t (x)")
    database.execute("INSERT INTO t VALUES (1)")
database.execute("BEGIN IMMEDIATE")
database.execute("INSERT INTO t VALUES (2)")
database.cache_flush()
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.sqlite3"


@pytest.fixture
def db(path: Path) -> apsw.Connection:
    made = open_database(path)
    made.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, y)")
    return made


def test_a_writer_is_as_durable_as_sqlite_can_be(db: apsw.Connection) -> None:
    assert db.pragma("journal_mode") == "wal"
    assert db.pragma("synchronous") == 2
    assert db.pragma("foreign_keys") == 1
    assert db.pragma("secure_delete") == 1
    assert db.pragma("temp_store") == 2


def test_a_unit_lands_whole_or_not_at_all(db: apsw.Connection) -> None:
    with transaction(db):
        db.execute("INSERT INTO t VALUES (1, 'a')")
    with pytest.raises(apsw.SQLError), transaction(db):
        db.execute("INSERT INTO t VALUES (2, 'b'); SELECT * FROM nowhere")

    assert number(db, "SELECT count(*) FROM t") == 1
    assert not db.in_transaction


def test_a_commit_that_fails_leaves_no_transaction_open(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE child (x REFERENCES t (x) DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(apsw.ConstraintError), transaction(db):
        db.execute("INSERT INTO child VALUES (7)")

    assert not db.in_transaction
    with transaction(db):
        db.execute("INSERT INTO t VALUES (1, 'a')")


def test_readers_see_one_state_and_never_wait_for_the_writer(
    db: apsw.Connection, path: Path
) -> None:
    reader = open_database(path, readonly=True)
    with snapshot(reader):
        assert number(reader, "SELECT count(*) FROM t") == 0
        with transaction(db):
            db.execute("INSERT INTO t VALUES (1, 'a')")
        assert number(reader, "SELECT count(*) FROM t") == 0
        with snapshot(reader):
            assert number(reader, "SELECT count(*) FROM t") == 0

    assert number(reader, "SELECT count(*) FROM t") == 1
    with transaction(db):
        db.execute("INSERT INTO t VALUES (2, 'b')")
        assert number(reader, "SELECT count(*) FROM t") == 1


def test_a_reader_cannot_write(db: apsw.Connection, path: Path) -> None:
    reader = open_database(path, readonly=True)

    with pytest.raises(MunimentError) as caught, database_errors(path):
        reader.execute("INSERT INTO t VALUES (1, 'a')")

    assert caught.value.code == "io"


@pytest.mark.parametrize("umask", ["000", "077"])
def test_what_a_killed_writer_committed_is_read_and_its_files_are_private(
    path: Path, umask: str
) -> None:
    (path.parent / path.name).touch(mode=0o600)
    ended = subprocess.run([sys.executable, "-c", WRITER, str(path), umask], check=False)
    assert ended.returncode == -9
    files = {entry.name: entry.stat().st_mode & 0o777 for entry in path.parent.iterdir()}
    assert set(files) == {"a.sqlite3", "a.sqlite3-wal", "a.sqlite3-shm"}
    assert set(files.values()) == {0o600}

    reader = open_database(path, readonly=True)
    assert reader.execute("SELECT x FROM t").fetchall() == [(1,)]
    reader.close()
    assert open_database(path).execute("SELECT x FROM t").fetchall() == [(1,)]


def test_a_store_that_cannot_be_written_is_read_as_it_is(
    db: apsw.Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.execute("INSERT INTO t VALUES (1, 'a')")
    db.close()
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write whatever the mode says

    reader = open_database(path, readonly=True)

    assert number(reader, "SELECT count(*) FROM t") == 1
    assert [entry.name for entry in path.parent.iterdir()] == ["a.sqlite3"]


def test_a_damaged_file_is_named_as_such(db: apsw.Connection, path: Path) -> None:
    db.execute("INSERT INTO t VALUES (1, zeroblob(9000))")
    db.close()
    path.write_bytes(b"not a database".ljust(8192, b"\0"))

    with pytest.raises(DamageError) as caught:
        open_database(path)

    assert caught.value.path == str(path)
    assert "verify" in caught.value.hint


def test_a_second_writer_that_waits_in_vain_is_locked_out(
    db: apsw.Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "BUSY_MILLISECONDS", 10)
    other = open_database(path)
    with transaction(db), pytest.raises(LockedError), transaction(other):
        pass


def test_a_full_database_is_no_space(db: apsw.Connection) -> None:
    db.pragma("max_page_count", 4)
    with pytest.raises(NoSpaceError), transaction(db):
        db.execute("INSERT INTO t VALUES (1, zeroblob(100000))")

    assert not db.in_transaction


def test_a_mistake_in_a_statement_stays_what_it_is(db: apsw.Connection, path: Path) -> None:
    with pytest.raises(apsw.SQLError), database_errors(path):
        db.execute("SELECT nothing FROM nowhere")


def test_replacing_a_row_asks_the_triggers_that_refuse_deletes(db: apsw.Connection) -> None:
    db.execute("INSERT INTO t VALUES (1, 'a')")
    db.execute(
        "CREATE TRIGGER keep BEFORE DELETE ON t WHEN NOT erasing() "
        "BEGIN SELECT RAISE(ABORT, 'kept'); END"
    )
    with pytest.raises(apsw.ConstraintError, match="kept"):
        db.execute("INSERT OR REPLACE INTO t VALUES (1, 'b')")


def test_names_with_anything_in_them_are_opened_as_they_are(tmp_path: Path) -> None:
    for name in ("a?mode=memory", "b#c", "%41", "file:x", "é 中", "a\nb"):
        folder = tmp_path / name
        folder.mkdir()
        open_database(folder / "x.sqlite3").execute("CREATE TABLE t (x)")
        with sqlite3.connect(folder / "x.sqlite3") as other:
            assert other.execute("SELECT count(*) FROM t").fetchone() == (0,)
        other.close()


def test_memory_is_a_database_like_any_other() -> None:
    made = open_memory()
    with transaction(made):
        made.execute("CREATE TABLE t (x)")
    assert number(made, "SELECT erasing()") == 0
    assert number(made, "SELECT x FROM t") == 0


@pytest.mark.parametrize("readonly", [False, True])
def test_a_statement_is_planned_once_whatever_it_is_asked_with(
    tmp_path: Path, readonly: bool
) -> None:
    open_database(tmp_path / "x.sqlite3").close()

    opened = open_database(tmp_path / "x.sqlite3", readonly=readonly)

    assert opened.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1
