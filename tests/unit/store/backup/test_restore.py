import json
import shutil
from pathlib import Path

import pytest
from support.backups import backed_up, content, folder_of, large_objects, remember_more

from muniment.store import locks, manifest, migrations
from muniment.store.backup import restore as module
from muniment.store.backup import swap
from muniment.store.backup.cipher import Secret
from muniment.store.backup.repository import Repository
from muniment.store.backup.restore import Wishes, restore
from muniment.store.backup.snapshot import Snapshot
from muniment.store.backup.swap import pending, resume
from muniment.store.errors import DamageError, LockedError, NoSpaceError, StateError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.manifest import RootState
from muniment.store.verify import verify

REPLACE = Wishes(replace=True)


@pytest.fixture
def made(root: Root, tmp_path: Path) -> tuple[Repository, Snapshot]:
    return backed_up(root, tmp_path / "repo")


@pytest.fixture
def fresh(tmp_path: Path) -> Root:
    return Root(tmp_path / "fresh")


def names(root: Root) -> set[str]:
    return {path.name for path in root.path.iterdir()}


def test_a_store_comes_back_as_it_was(
    root: Root, made: tuple[Repository, Snapshot], fresh: Root
) -> None:
    said = restore(fresh, *made)

    assert content(fresh) == content(root)
    assert not verify(fresh, Scope()).damaged
    assert (said["files"], said["left_out"], said["displaced"]) == (5, [], None)
    assert names(fresh) == {"lock", "muniment.json", "store", "tmp"}
    assert list(fresh.temporary.iterdir()) == []
    modes = {(p.is_dir(), p.stat().st_mode & 0o777) for p in fresh.path.rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}


@pytest.mark.usefixtures("quick")
def test_an_encrypted_backup_comes_back_as_it_was(root: Root, fresh: Root, tmp_path: Path) -> None:
    secret = Secret("key_file", bytes(range(64)))
    backed_up(root, tmp_path / "repo", secret)
    repository = Repository.open(tmp_path / "repo", secret)

    restore(fresh, repository, repository.read("latest"))

    assert content(fresh) == content(root)


def test_a_store_that_is_there_is_only_replaced_when_asked_and_kept_aside(
    root: Root, made: tuple[Repository, Snapshot]
) -> None:
    wanted = content(root)
    with Ledger.read(root, Scope()) as before:
        runs = len(list(before.attempts.runs()))
    remember_more(root, "later")

    with pytest.raises(StateError) as caught:
        restore(root, *made)
    assert caught.value.code == "not_empty"
    said = restore(root, *made, REPLACE)

    assert content(root) == wanted
    aside = Root(Path(said["displaced"]))
    assert aside.path.parent == root.path
    assert manifest.state_of(aside) is RootState.CURRENT
    with Ledger.read(aside, Scope()) as old, Ledger.read(root, Scope()) as new:
        assert len(list(old.attempts.runs())) == runs + 1
        assert len(list(new.attempts.runs())) == runs


def test_an_older_snapshot_can_be_named(
    root: Root, made: tuple[Repository, Snapshot], fresh: Root
) -> None:
    repository, first = made
    remember_more(root, "later")
    backed_up(root, folder_of(repository))

    restore(fresh, repository, repository.read(first.id))

    with Ledger.read(fresh, Scope()) as ledger:
        assert "run_later" not in {run["id"] for run in ledger.attempts.runs()}


def test_a_dry_run_checks_everything_and_writes_nothing(
    made: tuple[Repository, Snapshot], fresh: Root, root: Root
) -> None:
    assert restore(fresh, *made, Wishes(dry_run=True))["files"] == 5
    assert not fresh.path.exists()
    before = sorted(root.path.rglob("*"))
    assert restore(root, *made, Wishes(dry_run=True, replace=True))["dry_run"]
    assert sorted(root.path.rglob("*")) == before

    large_objects(*made)[0].unlink()
    with pytest.raises(DamageError):
        restore(fresh, *made, Wishes(dry_run=True))


def test_an_open_reader_keeps_the_store_in_place(
    root: Root, made: tuple[Repository, Snapshot]
) -> None:
    with locks.hold(root.lock, shared=True), pytest.raises(LockedError):
        restore(root, *made, REPLACE)

    assert names(root) == {"lock", "muniment.json", "store", "tmp"}


def test_damage_is_refused_before_the_root_is_touched(
    made: tuple[Repository, Snapshot], fresh: Root
) -> None:
    path = large_objects(*made)[0]
    path.write_bytes(b"?" + path.read_bytes()[1:])

    with pytest.raises(DamageError) as caught:
        restore(fresh, *made)

    assert "--partial" in caught.value.hint
    assert not fresh.path.exists()


def test_the_rest_of_a_damaged_snapshot_comes_back_when_asked(
    made: tuple[Repository, Snapshot], fresh: Root
) -> None:
    large_objects(*made)[0].unlink()

    said = restore(fresh, *made, Wishes(partial=True))

    assert [lost["reason"] for lost in said["left_out"]] == ["object_missing"]
    assert said["files"] == 4
    assert [f.code for f in verify(fresh, Scope()).findings] == ["asset_missing"]


def test_no_part_of_a_ledger_may_be_left_out(
    made: tuple[Repository, Snapshot], fresh: Root
) -> None:
    repository, snapshot = made
    ledger = next(entry for entry in snapshot.entries if entry.kind == "database")
    (path,) = folder_of(repository).rglob(ledger.parts[0].sha256)
    path.unlink()

    with pytest.raises(DamageError):
        restore(fresh, repository, snapshot, Wishes(partial=True))


def test_a_newer_schema_or_layout_is_refused(
    made: tuple[Repository, Snapshot], fresh: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(migrations, "STEPS", migrations.STEPS[:1])
        with pytest.raises(StateError) as caught:
            restore(fresh, *made)
    assert caught.value.code == "future"
    monkeypatch.setattr(manifest, "LAYOUT_VERSION", 0)
    with pytest.raises(StateError):
        restore(fresh, *made)
    assert not fresh.path.exists()


def test_a_folder_that_is_no_store_is_not_taken(
    made: tuple[Repository, Snapshot], tmp_path: Path
) -> None:
    target = tmp_path / "photos"
    target.mkdir()
    (target / "a.jpg").touch()

    with pytest.raises(StateError):
        restore(Root(target), *made, REPLACE)

    assert [path.name for path in target.iterdir()] == ["a.jpg"]


def test_a_root_that_lost_its_manifest_can_be_replaced(
    root: Root, made: tuple[Repository, Snapshot]
) -> None:
    wanted = content(root)
    root.manifest.unlink()

    restore(root, *made, REPLACE)

    assert content(root) == wanted
    assert manifest.state_of(root) is RootState.CURRENT


def test_files_that_an_earlier_run_left_whole_are_taken_and_others_are_not(
    root: Root, made: tuple[Repository, Snapshot], fresh: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_short(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(module, "write_journal", cut_short)
        with pytest.raises(KeyboardInterrupt):
            restore(fresh, *made)
    (staging,) = fresh.temporary.iterdir()
    assert manifest.state_of(fresh) is RootState.UNINITIALIZED
    (ledger,) = staging.rglob("ledger.sqlite3")
    ledger.write_bytes(b"half")
    (fresh.temporary / "restore-other").mkdir()
    assets = (path for path in staging.rglob("*") if "assets" in path.parts and path.is_file())
    kept = {path.name: path.stat().st_ino for path in assets}

    restore(fresh, *made)

    assert content(fresh) == content(root)
    inodes = {path.name: path.stat().st_ino for path in fresh.path.rglob("*") if path.is_file()}
    assert kept
    assert all(inodes[name] == number for name, number in kept.items())
    assert list(fresh.temporary.iterdir()) == []


def test_a_swap_that_was_cut_short_needs_no_repository_to_end(
    root: Root, made: tuple[Repository, Snapshot], monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = content(root)
    remember_more(root, "later")
    with monkeypatch.context() as patch:
        patch.setattr(module, "swap", lambda *_: None)
        said = restore(root, *made, REPLACE)

    assert manifest.state_of(root) is RootState.RECOVERY_REQUIRED
    with pytest.raises(StateError), manifest.shared(root):
        pass
    with pytest.raises(StateError):
        restore(root, *made, REPLACE)
    assert resume(root, dry_run=True)["resumed"]
    assert manifest.state_of(root) is RootState.RECOVERY_REQUIRED
    ended = resume(root)

    assert {**ended, "resumed": False} == said
    assert content(root) == wanted
    assert pending(root) is None
    with pytest.raises(StateError) as caught:
        resume(root)
    assert caught.value.code == "nothing_to_resume"


@pytest.mark.parametrize(
    "journal",
    [
        "", "[]", "{}", json.dumps({"version": 9}),
        json.dumps({"version": 1, "staging": "../x", "displaced": None}),
        json.dumps({"version": 1, "staging": "tmp/restore-x", "displaced": "../x"}),
    ],
)  # fmt: skip
def test_a_journal_that_can_not_be_trusted_moves_nothing(root: Root, journal: str) -> None:
    root.journal.write_text(journal)

    with pytest.raises(StateError) as caught:
        resume(root)

    assert caught.value.code == "journal_damaged"
    assert root.store.exists()


def test_too_little_room_is_told_before_anything_is_written(
    made: tuple[Repository, Snapshot], fresh: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Full:
        free = 10

    monkeypatch.setattr(shutil, "disk_usage", lambda _: Full)

    with pytest.raises(NoSpaceError):
        restore(fresh, *made)

    assert not fresh.store.exists()
    assert swap.pending(fresh) is None
