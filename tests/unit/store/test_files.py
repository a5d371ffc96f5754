import errno
import os
import stat
from pathlib import Path

import pytest

from muniment.store import files
from muniment.store.errors import MunimentError, NoSpaceError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> object:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_directories_and_files_are_private_under_any_umask(tmp_path: Path) -> None:
    files.make_directory(tmp_path / "a" / "b")
    files.write_atomic(tmp_path / "a" / "b" / "file", [b"x"])

    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
    assert mode(tmp_path / "a" / "b" / "file") == 0o600


@pytest.mark.usefixtures("umask")
def test_a_private_file_is_made_once_and_kept_as_it_is(tmp_path: Path) -> None:
    files.make_private(tmp_path / "a")
    (tmp_path / "a").write_bytes(b"x")
    files.make_private(tmp_path / "a")

    assert mode(tmp_path / "a") == 0o600
    assert (tmp_path / "a").read_bytes() == b"x"


def test_a_directory_that_exists_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o755)

    files.make_directory(tmp_path / "mine")

    assert mode(tmp_path / "mine") == 0o755


def test_the_name_of_a_directory_somebody_else_made_is_synced_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    synced: list[Path] = []
    monkeypatch.setattr(files, "sync_directory", synced.append)

    files.make_directory(tmp_path / "theirs")
    files.make_directory(tmp_path / "theirs")

    assert synced == [tmp_path]


def test_bytes_are_synced_before_the_rename_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_sync(handle: int) -> None:
        order.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        fsync(handle)

    def note_rename(self: Path, target: Path) -> Path:
        order.append("rename")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", note_sync)
    monkeypatch.setattr(Path, "replace", note_rename)

    files.write_atomic(tmp_path / "file", [b"x"])

    assert order == ["file", "rename", "folder"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def chunks() -> object:
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write_atomic(tmp_path / "file", chunks())  # type: ignore[arg-type]

    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("file", b"old")]


def test_the_temporary_file_may_lie_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()

    with files.temporary_file(tmp_path / "tmp") as (temporary, stream):
        assert temporary.parent == tmp_path / "tmp"
        files.write_chunk(stream, b"x")
        files.sync_file(stream)
        files.publish(temporary, tmp_path / "file")

    assert (tmp_path / "file").read_bytes() == b"x"
    assert not list((tmp_path / "tmp").iterdir())


def test_a_full_device_is_no_space() -> None:
    with pytest.raises(NoSpaceError), Path("/dev/full").open("wb", buffering=0) as stream:
        files.write_chunk(stream, b"x")


@pytest.mark.parametrize(
    ("number", "kind"),
    [(errno.ENOSPC, NoSpaceError), (errno.EDQUOT, NoSpaceError), (errno.EIO, MunimentError),
     (errno.EROFS, MunimentError)],
)  # fmt: skip
def test_faults_of_the_system_become_our_errors(number: int, kind: type[MunimentError]) -> None:
    with pytest.raises(kind) as caught, files.space_errors():
        raise OSError(number, os.strerror(number), b"/somewhere/caf\xe9")

    assert caught.value.code == ("no_space" if kind is NoSpaceError else "io")
    assert caught.value.path == "/somewhere/caf\udce9"
    assert caught.value.hint


def test_removing_what_is_gone_is_done(tmp_path: Path) -> None:
    files.remove(tmp_path / "absent")
