"""The store under faults: a full disk, a dying disk and a kill at every step of a small script.

The script registers small and large assets with observations, a unit each, and writes a line
once a unit is acknowledged. After any fault the store opens, its check finds no damage, what was
acknowledged is there, and the same script run again ends in the same content.
"""

import errno
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from support.fault_script import STEPS, run

from muniment.store import files
from muniment.store.errors import MunimentError, NoSpaceError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.verify import verify

DOORS = (
    "make_directory", "sync_directory", "create_temporary", "write_chunk", "sync_file",
    "close_file", "publish", "remove",
)  # fmt: skip
SCRIPT = Path(__file__).parent.parent / "support" / "fault_script.py"
CONTENT = (
    "SELECT id, size, storage, derived FROM asset ORDER BY id",
    "SELECT a.id, b.bytes FROM asset_bytes b JOIN asset a ON a.seq = b.asset ORDER BY 1",
    "SELECT id, path, source FROM sighting ORDER BY id",
    "SELECT id, kind, text, locator FROM observation ORDER BY id",
    "SELECT o.id FROM observation_live o ORDER BY 1",
)


def content(root: Root) -> list[Any]:
    """Return what a scope holds, times and run rows apart."""
    with Ledger.read(root, Scope()) as ledger:
        held = [ledger.database.execute(statement).fetchall() for statement in CONTENT]
        return [*held, sorted(path.name for path in ledger.paths.assets.rglob("*"))]


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Return the content that an undisturbed run ends in."""
    root = Root(tmp_path_factory.mktemp("whole") / "root")
    assert len(list(run(root))) == STEPS
    return content(root)


def settle(root: Root, acknowledged: list[str], whole: list[Any]) -> None:
    """Check that a store is sound after a fault and that the script completes to the same."""
    if root.scope(Scope()).ledger.exists():
        report = verify(root, Scope())
        assert not report.damaged, report.findings
        with Ledger.read(root, Scope()) as ledger:
            for asset in acknowledged:
                row = ledger.assets.row(asset)
                assert row is not None
                ledger.assets.check(row.seq, row.id, row.size, row.storage)
                assert list(ledger.evidence.of_asset(asset))
    else:
        assert not acknowledged
    assert len(list(run(root))) == STEPS
    assert content(root) == whole


def collect(root: Root) -> list[str]:
    """Run the script until it ends or fails; return what it acknowledged."""
    acknowledged: list[str] = []
    try:
        acknowledged += run(root, acknowledged.append)
    except MunimentError as error:
        if error.code not in {"no_space", "io"}:
            raise
    return acknowledged


def failing(door: Callable[..., Any], nth: int, number: int) -> Callable[..., Any]:
    """Return a door that fails with an error of the system at its n-th use and ever after."""
    calls = iter(range(1, 1_000_000))

    def closed(*arguments: Any, **named: Any) -> Any:
        if next(calls) < nth:
            return door(*arguments, **named)
        if door is files_close:
            door(*arguments, **named)  # a file is closed even when that tells of a fault
        with files.space_errors():
            raise OSError(number, os.strerror(number))

    return closed


files_close = files.close_file


@pytest.mark.parametrize("name", DOORS)
def test_a_door_that_fails_loses_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: list[Any]
) -> None:
    for nth, number in ((1, errno.ENOSPC), (3, errno.EIO), (7, errno.ENOSPC)):
        root = Root(tmp_path / f"{nth}")
        with monkeypatch.context() as patch:
            patch.setattr(files, name, failing(getattr(files, name), nth, number))
            acknowledged = collect(root)
        settle(root, acknowledged, whole)


def test_a_full_disk_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "sync_file", failing(files.sync_file, 3, errno.ENOSPC))

    with pytest.raises(NoSpaceError):
        list(run(Root(tmp_path / "root")))


@pytest.mark.parametrize("nth", [1, 9, 21, 34, 60, 90])
def test_a_kill_at_a_door_loses_nothing(nth: int, tmp_path: Path, whole: list[Any]) -> None:
    settle(Root(tmp_path / "root"), killed(tmp_path / "root", "door", nth), whole)


@pytest.mark.parametrize("nth", [1, 90, 115, 125, 140, 200])
def test_a_kill_at_a_statement_loses_nothing(nth: int, tmp_path: Path, whole: list[Any]) -> None:
    settle(Root(tmp_path / "root"), killed(tmp_path / "root", "statement", nth), whole)


def killed(root: Path, where: str, nth: int) -> list[str]:
    """Run the script in a process that kills itself at a step; return what it acknowledged."""
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), str(root), where, str(nth)],
        stdout=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode in {0, -9}
    return ended.stdout.split()


class FaultyFile(apsw.VFSFile):
    """A file of SQLite whose writes and syncs fail once its file system says so."""

    def __init__(self, system: "FaultySystem", name: Any, flags: list[int]) -> None:
        super().__init__(system.base_vfs, name, flags)
        self._system = system

    def xWrite(self, data: bytes, offset: int) -> None:
        self._system.step()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._system.step()
        super().xSync(flags)


class FaultySystem(apsw.VFS):
    """The file system of SQLite with every write and sync counted, and failing from the n-th."""

    def __init__(self, nth: int, fault: type[apsw.Error]) -> None:
        self.steps = 0
        self._nth, self._fault = nth, fault
        self.base_vfs = apsw.vfs_names()[0]
        super().__init__("faulty", self.base_vfs, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:
        return FaultyFile(self, name, flags)

    def step(self) -> None:
        """Count a step and fail where it is due."""
        self.steps += 1
        if self.steps >= self._nth:
            raise self._fault


@pytest.fixture
def faulty() -> Iterator[Callable[[int, type[apsw.Error]], FaultySystem]]:
    made: list[FaultySystem] = []

    def make(nth: int, fault: type[apsw.Error]) -> FaultySystem:
        made.append(FaultySystem(nth, fault))
        return made[-1]

    yield make
    for system in made:
        system.unregister()


@pytest.mark.parametrize(
    ("nth", "fault"),
    [(1, apsw.FullError), (9, apsw.IOError), (30, apsw.FullError), (70, apsw.IOError),
     (110, apsw.FullError), (150, apsw.IOError)],
)  # fmt: skip
def test_a_write_of_sqlite_that_fails_loses_nothing(
    nth: int, fault: type[apsw.Error], tmp_path: Path, whole: list[Any],
    faulty: Callable[[int, type[apsw.Error]], FaultySystem],
) -> None:  # fmt: skip
    root = Root(tmp_path / "root")
    system = faulty(nth, fault)
    try:
        acknowledged = collect(root)
    finally:
        system.unregister()
    assert system.steps >= nth or len(acknowledged) == STEPS

    settle(root, acknowledged, whole)


def test_a_reader_is_never_blocked_while_a_unit_is_open(tmp_path: Path) -> None:
    root = Root(tmp_path / "root")
    list(run(root))
    with closing(Ledger.create(root, Scope())) as writer, writer.unit():
        writer.attempts.start_run("run_open", "test")
        with Ledger.read(root, Scope()) as reader:
            assert "run_open" not in {one["id"] for one in reader.attempts.runs()}
