import hashlib
import os
from io import BytesIO
from pathlib import Path

import pytest

from muniment.store.assets import (
    INLINE_BYTES,
    check_file,
    hash_file,
    take_file,
    take_stream,
)
from muniment.store.errors import DamageError, InputError, NoSpaceError
from muniment.store.layout import Root, Scope, ScopePaths
from muniment.store.local_assets import LocalAssets

LARGE = bytes(range(256)) * 300


@pytest.fixture
def paths(root: Root) -> ScopePaths:
    return root.scope(Scope())


def take(path: Path | bytes, paths: ScopePaths, root: Root) -> object:
    return take_file(os.fsencode(path), LocalAssets(paths), root.temporary)


def stored_files(paths: ScopePaths) -> list[Path]:
    return [Path(stored.place) for stored in LocalAssets(paths).stored()]


@pytest.mark.parametrize("size", [0, 1, INLINE_BYTES - 1, INLINE_BYTES])
def test_small_bytes_stay_in_memory(root: Root, paths: ScopePaths, size: int) -> None:
    taken = take_stream(BytesIO(b"x" * size), LocalAssets(paths), root.temporary)

    assert taken.data == b"x" * size
    assert taken.size == size
    assert not stored_files(paths)


@pytest.mark.parametrize("size", [INLINE_BYTES + 1, 3 * 1024 * 1024 + 7])
def test_large_bytes_become_a_private_file_named_by_their_hash(
    root: Root, paths: ScopePaths, size: int
) -> None:
    data = os.urandom(size)

    taken = take_stream(BytesIO(data), LocalAssets(paths), root.temporary)

    path = paths.asset(taken.asset)
    assert taken.asset == "sha256:" + hashlib.sha256(data).hexdigest() == hash_file(path)
    assert taken.data is None
    assert (taken.size, taken.head) == (size, data[: INLINE_BYTES + 1])
    assert path.read_bytes() == data
    assert path.stat().st_mode & 0o777 == 0o600
    assert stored_files(paths) == [path]
    assert not list(root.temporary.iterdir())


def test_a_dry_run_hashes_and_writes_nothing(root: Root) -> None:
    taken = take_stream(BytesIO(LARGE), None, root.temporary)

    assert taken.asset == "sha256:" + hashlib.sha256(LARGE).hexdigest()
    assert taken.size == len(LARGE)
    assert not root.store.exists()


def test_taking_bytes_again_heals_a_file_that_rotted(root: Root, paths: ScopePaths) -> None:
    taken = take_stream(BytesIO(LARGE), LocalAssets(paths), root.temporary)
    path = paths.asset(taken.asset)
    path.write_bytes(b"\0" * len(LARGE))

    take_stream(BytesIO(LARGE), LocalAssets(paths), root.temporary)

    check_file(path, taken.asset, taken.size)
    assert stored_files(paths) == [path]


def test_a_temporary_folder_that_was_removed_is_made_again(root: Root, paths: ScopePaths) -> None:
    root.temporary.rmdir()

    taken = take_stream(BytesIO(LARGE), LocalAssets(paths), root.temporary)

    check_file(paths.asset(taken.asset), taken.asset, taken.size)


def test_a_file_is_taken_with_its_look(root: Root, paths: ScopePaths, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"hello")
    found = path.stat()

    taken = take_file(os.fsencode(path), LocalAssets(paths), root.temporary)

    assert taken.stat is not None
    assert (taken.stat.size, taken.stat.mtime_ns) == (5, found.st_mtime_ns)
    assert (taken.stat.inode, taken.stat.ctime_ns) == (found.st_ino, found.st_ctime_ns)


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"-rf", b"a\nb", b"%03d", "\u200f文".encode()])
def test_any_name_is_taken(root: Root, paths: ScopePaths, tmp_path: Path, name: bytes) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    Path(os.fsdecode(path)).write_bytes(b"x")

    assert take_file(path, LocalAssets(paths), root.temporary).data == b"x"


def make_fifo(path: Path) -> None:
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("make", [make_fifo, make_device, Path.mkdir])
def test_what_is_no_regular_file_is_skipped_at_once(
    root: Root, paths: ScopePaths, tmp_path: Path, make: object
) -> None:
    make(tmp_path / "it")  # type: ignore[operator]

    with pytest.raises(InputError) as caught:
        take(tmp_path / "it", paths, root)

    assert (caught.value.code, caught.value.status) == ("not_a_file", "skipped")


@pytest.mark.parametrize("path", [b"/absent/file", b"/a\0b"])
def test_a_file_that_is_not_there_is_missing(root: Root, paths: ScopePaths, path: bytes) -> None:
    with pytest.raises(InputError) as caught:
        take(path, paths, root)

    assert (caught.value.code, caught.value.transient) == ("missing", True)


def test_a_loop_of_links_is_unreadable(root: Root, paths: ScopePaths, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(InputError) as caught:
        take(tmp_path / "loop", paths, root)

    assert (caught.value.code, caught.value.transient) == ("unreadable", True)


def test_a_file_that_changes_while_it_is_read_is_not_acknowledged(
    root: Root, paths: ScopePaths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"one\n")
    reading = "muniment.store.assets.take_stream"

    def grow(*arguments: object) -> object:
        taken = take_stream(*arguments)  # type: ignore[arg-type]
        with path.open("ab") as stream:
            stream.write(b"two\n")
        return taken

    monkeypatch.setattr(reading, grow)

    with pytest.raises(InputError) as caught:
        take(path, paths, root)

    assert (caught.value.code, caught.value.transient) == ("changed", True)


class Broken(BytesIO):
    """A stream of a disk that dies after its first block."""

    def read(self, size: int | None = -1, /) -> bytes:
        if self.tell():
            raise OSError(5, "Input/output error")
        return super().read(size)


def test_an_input_that_cannot_be_read_to_its_end_leaves_nothing(
    root: Root, paths: ScopePaths
) -> None:
    with pytest.raises(InputError) as caught:
        take_stream(Broken(LARGE), LocalAssets(paths), root.temporary)

    assert (caught.value.code, caught.value.transient) == ("unreadable", True)
    assert not list(root.temporary.iterdir())
    assert not stored_files(paths)


def test_a_full_disk_is_the_stores_fault_and_leaves_nothing(
    root: Root, paths: ScopePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceError):
        take_stream(BytesIO(LARGE), LocalAssets(paths), root.temporary)

    assert not list(root.temporary.iterdir())
    assert not stored_files(paths)


def test_damage_is_told_by_its_kind(root: Root, paths: ScopePaths) -> None:
    taken = take_stream(BytesIO(LARGE), LocalAssets(paths), root.temporary)
    path = paths.asset(taken.asset)
    for data, whole, code in (
        (LARGE[:-1], False, "asset_damaged"),
        (LARGE[:-1] + b"?", True, "asset_damaged"),
        (None, False, "asset_missing"),
    ):
        path.unlink()
        if data is not None:
            path.write_bytes(data)
        with pytest.raises(DamageError) as caught:
            check_file(path, taken.asset, taken.size, whole=whole)
        assert caught.value.code == code
        if data is None:
            path.mkdir()
            with pytest.raises(DamageError):
                check_file(path, taken.asset, path.stat().st_size)
