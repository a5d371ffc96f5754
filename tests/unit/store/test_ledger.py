import multiprocessing
import os
from pathlib import Path

import apsw
import pytest
from support.stores import TinyStore

from muniment.store.database import open_database
from muniment.store.errors import DamageError, NoStoreError, StateError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.migrations import SCHEMA_VERSION

WORK = Scope(namespace="work")


def make(root: Root) -> int:
    """Create a scope and put a row in; return its number."""
    with Ledger.create(root, WORK) as ledger:
        with ledger.unit():
            ledger.attempts.start_run(f"run_{os.getpid()}", "test")
        return ledger.database.last_insert_rowid()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_everything_of_a_scope_is_private_under_any_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        store = TinyStore(tmp_path / "root")
        store.file("large.bin", [], data=b"x" * 100_000)
    finally:
        os.umask(before)
    found = {path.relative_to(store.root.path): path.stat().st_mode & 0o777
             for path in store.root.path.rglob("*")}  # fmt: skip

    names = {path.name for path in found}
    assert {"ledger.sqlite3", "ledger.sqlite3-wal", "ledger.sqlite3-shm"} <= names
    for path, mode in found.items():
        assert mode == (0o700 if (store.root.path / path).is_dir() else 0o600), path
    store.close()


def test_processes_that_create_a_scope_at_once_share_one_ledger(root: Root) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        numbers = pool.map(make, [root] * 3, chunksize=1)

    with Ledger.read(root, WORK) as ledger:
        runs = len(list(ledger.attempts.runs()))
    assert runs == max(numbers)
    assert not list(root.temporary.iterdir())


def test_a_creation_that_was_cut_short_is_done_again(
    root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("muniment.store.migrations.STEPS", (_interrupt,))
        with pytest.raises(KeyboardInterrupt):
            Ledger.create(root, WORK)
    assert root.scope(WORK).path.is_dir()
    with pytest.raises(NoStoreError):
        Ledger.read(root, WORK)

    Ledger.create(root, WORK).close()

    assert not list(root.temporary.iterdir())


def _interrupt(_: apsw.Connection) -> None:
    raise KeyboardInterrupt


def test_a_scope_that_holds_nothing_is_no_store(root: Root) -> None:
    with pytest.raises(NoStoreError, match="local/me/work"):
        Ledger.read(root, WORK)

    assert not root.store.exists()


def test_scopes_do_not_see_each_other(tiny: TinyStore) -> None:
    observation = tiny.note("mine")
    other = TinyStore(tiny.root.path, WORK)

    assert other.ledger.evidence.get(observation) is None
    assert other.ledger.paths.path != tiny.ledger.paths.path
    other.close()


@pytest.mark.parametrize("opening", [Ledger.read, Ledger.create])
def test_a_ledger_that_was_lost_is_never_replaced_by_an_empty_one(
    tiny: TinyStore, opening: object
) -> None:
    tiny.file("large.bin", [], data=b"x" * 100_000)
    tiny.close()
    tiny.paths.ledger.unlink()

    with pytest.raises(DamageError) as caught:
        opening(tiny.root, Scope())  # type: ignore[operator]

    assert caught.value.code == "ledger_missing"
    assert not tiny.paths.ledger.exists()


@pytest.mark.parametrize("opening", [Ledger.read, Ledger.create])
def test_a_log_without_its_ledger_is_not_poured_into_a_new_one(root: Root, opening: object) -> None:
    paths = root.scope(WORK)
    Ledger.create(root, WORK).close()
    paths.ledger.rename(paths.ledger.with_name("ledger.sqlite3-wal"))

    with pytest.raises(DamageError):
        opening(root, WORK)  # type: ignore[operator]


@pytest.mark.parametrize("opening", [Ledger.read, Ledger.create])
@pytest.mark.parametrize("content", [b"", b"\0" * 8192, b"rubbish" * 999])
def test_a_ledger_that_was_emptied_or_overwritten_is_damage(
    root: Root, opening: object, content: bytes
) -> None:
    Ledger.create(root, WORK).close()
    root.scope(WORK).ledger.write_bytes(content)

    with pytest.raises(DamageError):
        opening(root, WORK)  # type: ignore[operator]

    assert root.scope(WORK).ledger.read_bytes() == content


@pytest.mark.parametrize("opening", [Ledger.read, Ledger.create])
def test_a_newer_schema_is_refused_and_left_alone(root: Root, opening: object) -> None:
    Ledger.create(root, WORK).close()
    database = open_database(root.scope(WORK).ledger)
    database.pragma("user_version", SCHEMA_VERSION + 1)
    database.close()

    with pytest.raises(StateError) as caught:
        opening(root, WORK)  # type: ignore[operator]

    assert caught.value.code == "future"


def test_an_older_schema_asks_for_a_migration(root: Root, monkeypatch: pytest.MonkeyPatch) -> None:
    Ledger.create(root, WORK).close()
    monkeypatch.setattr("muniment.store.migrations.SCHEMA_VERSION", SCHEMA_VERSION + 1)

    with pytest.raises(StateError) as caught:
        Ledger.create(root, WORK)

    assert caught.value.code == "legacy"


def test_a_fault_of_the_database_leaves_the_block_as_an_error_of_ours(tiny: TinyStore) -> None:
    tiny.notes(f"text {number} " + "x" * 500 for number in range(200))
    tiny.close()
    data = bytearray(tiny.paths.ledger.read_bytes())
    data[3 * 4096 :] = b"\xff" * (len(data) - 3 * 4096)
    tiny.paths.ledger.write_bytes(data)

    with pytest.raises(DamageError), Ledger.read(tiny.root, Scope()) as ledger:
        list(ledger.evidence.live("1"))


def test_a_unit_that_fails_keeps_nothing(tiny: TinyStore) -> None:
    def fail() -> None:
        tiny.ledger.attempts.start_run("run_2", "test")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), tiny.ledger.unit():
        fail()

    assert [run["id"] for run in tiny.ledger.attempts.runs()] == ["run_test"]


def test_readers_see_the_state_before_a_unit_until_it_commits(tiny: TinyStore) -> None:
    with Ledger.read(tiny.root, Scope()) as reader, reader.snapshot():
        assert reader.evidence.last() == 0
        tiny.note("new")
        assert reader.evidence.last() == 0
    with Ledger.read(tiny.root, Scope()) as reader:
        assert reader.evidence.last() == 1


def test_a_ledger_in_memory_serves_for_planning(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")

    with Ledger.empty(root, Scope()) as ledger:
        assert ledger.evidence.last() == 0

    assert not root.path.exists()
