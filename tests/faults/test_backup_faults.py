"""Backup and restore killed at every step, on a full disk, and beside a busy writer.

A process kills itself before the n-th use of any door of ``store/files.py``, for every n until it
gets through. After each kill what was there before is whole, and the same command, run again,
ends as if nothing had happened.
"""

import errno
import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.backups import (
    DOORS,
    backed_up,
    content,
    filled,
    folder_of,
    killed_at,
    points,
    remember_more,
    uses_of,
)
from support.old_stores import old_store

from muniment.store import files, manifest
from muniment.store.archive.load import load
from muniment.store.archive.read import survey
from muniment.store.archive.write import Archive
from muniment.store.backup.create import create
from muniment.store.backup.prune import Retention, prune
from muniment.store.backup.repository import Repository
from muniment.store.backup.restore import Wishes, restore
from muniment.store.backup.snapshot import Snapshot
from muniment.store.backup.swap import pending, resume
from muniment.store.backup.verify import verify as verify_backup
from muniment.store.errors import MunimentError, StateError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.manifest import RootState
from muniment.store.migrating import migrate
from muniment.store.scratch import scratch
from muniment.store.times import now
from muniment.store.verify import verify

REPLACE = Wishes(replace=True)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Root:
    return filled(tmp_path_factory.mktemp("original") / "root")


@pytest.fixture(scope="module")
def made(original: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, Snapshot]:
    return backed_up(original, tmp_path_factory.mktemp("made") / "repo")


def copy(root: Root, folder: Path) -> Root:
    shutil.copytree(root.path, folder)
    return Root(folder)


def take_up(root: Root, repository: Repository, snapshot: Snapshot) -> dict[str, Any]:
    """Do what the command does: end what was begun, else begin."""
    if pending(root) is not None:
        return resume(root)
    return restore(root, repository, snapshot, REPLACE)


def test_a_backup_killed_at_any_step_leaves_a_repository_that_goes_on(
    original: Root, tmp_path: Path
) -> None:
    total = uses_of(lambda: backed_up(original, tmp_path / "whole"))
    assert total > 30
    for nth in points(total):
        place = tmp_path / str(nth)
        assert killed_at(nth, lambda place=place: backed_up(original, place))  # type: ignore[misc]
        repository, snapshot = backed_up(original, place)
        report = verify_backup(repository)
        assert not report.damaged, (nth, report.findings)
        assert not snapshot.missing
        assert list((folder_of(repository) / "tmp").iterdir()) == []


def test_a_backup_killed_at_any_step_leaves_earlier_snapshots_whole(
    original: Root, tmp_path: Path
) -> None:
    root = copy(original, tmp_path / "root")
    repository, first = backed_up(root, tmp_path / "repo")
    for nth in count(1):
        remember_more(root, str(nth))
        died = killed_at(nth, lambda: backed_up(root, tmp_path / "repo"))
        assert not verify_backup(repository).damaged, nth
        assert first.id in repository.ids()
        if not died:
            break
    assert nth > 8


def test_a_prune_killed_at_any_step_keeps_what_it_should(original: Root, tmp_path: Path) -> None:
    root = copy(original, tmp_path / "root")
    for nth in count(1):
        place = tmp_path / str(nth)
        repository, _ = backed_up(root, place)
        remember_more(root, str(nth))
        _, second = backed_up(root, place)

        def remove(repository: Repository = repository) -> None:
            with repository.writing():
                prune(repository, Retention(last=1), now())

        died = killed_at(nth, remove)
        assert not verify_backup(repository).damaged, nth
        remove()
        assert repository.ids() == [second.id]
        assert verify_backup(repository).findings == []
        if not died:
            break
    assert nth > 3


@pytest.mark.parametrize("replacing", [False, True])
def test_a_restore_killed_at_any_step_can_be_taken_up(
    original: Root, made: tuple[Repository, Snapshot], tmp_path: Path, replacing: bool
) -> None:
    def prepared(name: str) -> Root:
        root = Root(tmp_path / name)
        if replacing:
            copy(original, root.path)
            remember_more(root, "later")
        return root

    whole = prepared("whole")
    total = uses_of(lambda: restore(whole, *made, REPLACE))
    wanted, seen = content(original), set()
    for nth in points(total, last=14):
        root = prepared(str(nth))
        if not killed_at(nth, lambda root=root: restore(root, *made, REPLACE)):  # type: ignore[misc]
            break  # folders that are durable already take fewer steps
        state = manifest.state_of(root)
        seen.add(state)
        if replacing and state is RootState.CURRENT:
            assert not verify(root, Scope()).damaged
        said = take_up(root, *made)
        assert manifest.state_of(root) is RootState.CURRENT
        assert content(root) == wanted
        assert list(root.temporary.iterdir()) == []
        assert pending(root) is None
        if replacing:
            aside = sorted(root.path.glob("displaced-*/store"))
            assert said["displaced"] in {str(path.parent) for path in aside}
            shutil.rmtree(root.path)
    before = RootState.CURRENT if replacing else RootState.UNINITIALIZED
    assert seen == {before, RootState.CURRENT, RootState.RECOVERY_REQUIRED}


def test_an_import_killed_at_any_step_leaves_the_scope_empty_or_whole(
    original: Root, tmp_path: Path
) -> None:
    archive = tmp_path / "a.jsonl"
    with Ledger.read(original, Scope()) as ledger:
        files.write_atomic(archive, Archive(ledger, originals=True).lines())
    wanted = content(original)

    def bring_in(root: Root) -> None:
        manifest.initialize(root)
        with Ledger.create(root, Scope()) as ledger, scratch(root, Scope()) as folder:
            load(archive, survey(archive), ledger, folder)

    total = uses_of(lambda: bring_in(Root(tmp_path / "whole")))
    for nth in points(total):
        root = Root(tmp_path / str(nth))
        if not killed_at(nth, lambda root=root: bring_in(root)):  # type: ignore[misc]
            break
        with suppress(StateError):  # it was whole already
            bring_in(root)
        assert content(root) == wanted
        assert not verify(root, Scope()).damaged


def test_a_migration_killed_at_any_step_is_taken_up(tmp_path: Path) -> None:
    for nth in count(1, 2):
        root = old_store(tmp_path / str(nth))
        died = killed_at(nth, lambda root=root: migrate(root))  # type: ignore[misc]
        migrate(root)
        assert not verify(root, Scope()).damaged
        with Ledger.read(root, Scope()) as ledger:
            assert ledger.database.execute("SELECT id FROM record").fetchall() == [("rec_1",)]
        if not died:
            break
    assert nth > 4


def failing(door: Callable[..., Any], nth: int, number: int) -> Callable[..., Any]:
    """Return a door that fails with an error of the system at its n-th use and ever after."""
    uses = count(1)

    def closed(*arguments: Any, **named: Any) -> Any:
        if next(uses) < nth or door.__name__ in {"remove", "remove_tree", "close_file"}:
            return door(*arguments, **named)
        with files.space_errors():
            raise OSError(number, os.strerror(number))

    return closed


@pytest.mark.parametrize("name", DOORS[:-2])
def test_a_door_that_fails_harms_neither_the_backup_nor_the_root(
    original: Root, made: tuple[Repository, Snapshot], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, name: str,
) -> None:  # fmt: skip
    wanted = content(original)
    for nth, number in ((1, errno.ENOSPC), (4, errno.EIO)):
        root, place = copy(original, tmp_path / f"root-{nth}"), tmp_path / f"repo-{nth}"
        with monkeypatch.context() as patch:
            patch.setattr(files, name, failing(getattr(files, name), nth, number))
            with suppress(MunimentError):
                backed_up(root, place)
            with suppress(MunimentError):
                restore(root, *made, REPLACE)
        repository, _ = backed_up(original, place)
        assert not verify_backup(repository).damaged
        take_up(root, *made)
        assert content(root) == wanted


def test_every_backup_beside_a_busy_writer_is_whole(original: Root, tmp_path: Path) -> None:
    root = copy(original, tmp_path / "root")
    repository = Repository.create(tmp_path / "repo")
    stop, written = threading.Event(), []

    def write() -> None:
        with Ledger.create(root, Scope()) as ledger:
            for number in count():
                if stop.is_set():
                    return
                with ledger.unit():  # both rows or none
                    ledger.attempts.start_run(f"run_a{number}", "test")
                    ledger.attempts.start_run(f"run_b{number}", "test")
                written.append(number)

    writer = threading.Thread(target=write)
    writer.start()
    acknowledged = []
    try:
        for _ in range(4):
            acknowledged.append(len(written))
            with repository.writing():
                create(root, repository)
    finally:
        stop.set()
        writer.join()
    assert not verify_backup(repository).damaged
    assert acknowledged[-1] > acknowledged[0]
    for identity, least in zip(repository.ids(), acknowledged, strict=True):
        target = Root(tmp_path / identity)
        restore(target, repository, repository.read(identity))
        assert not verify(target, Scope()).damaged
        with Ledger.read(target, Scope()) as ledger:
            runs = {run["id"] for run in ledger.attempts.runs()}
        assert len({r for r in runs if "_a" in r}) == len({r for r in runs if "_b" in r}) >= least
