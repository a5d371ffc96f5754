"""A backup destination that is a folder of this machine."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from muniment.store import files, locks
from muniment.store.errors import DamageError, MunimentError
from muniment.store.ports import Held, Region

FOLDERS = ("objects", "snapshots")
# What a making that was cut short leaves behind, and the folder of a fresh volume.
_OURS = {"lock", "tmp", "lost+found", *FOLDERS}


class FileRegion:
    """The bytes of an open file."""

    def __init__(self, stream: BinaryIO) -> None:
        self._handle = stream.fileno()
        self.size = os.fstat(self._handle).st_size

    def read_at(self, offset: int, size: int) -> bytes:
        """Return the bytes there, through short reads."""
        found = b""
        while len(found) < size:
            piece = os.pread(self._handle, size - len(found), offset + len(found))
            if not piece:
                break
            found += piece
        return found


class LocalDestination:
    """One folder; names below it are paths."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.name = os.fsencode(path).decode("utf-8", "backslashreplace")
        self.temporary: Path | None = path / "tmp"

    def read(self, name: str) -> bytes | None:
        """Read a file."""
        try:
            return (self._path / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise MunimentError(
                f"the repository can't be read: {error.strerror}", code="io", path=self.name
            ) from error

    def is_free(self) -> bool:
        """Tell whether the folder is missing, or empty but for what a making left behind."""
        path = self._path
        names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
        held = any((path / one).is_dir() and any((path / one).iterdir()) for one in FOLDERS)
        return not (names - _OURS or held or (path.exists() and not path.is_dir()))

    def make(self) -> None:
        """Make the folders."""
        for name in (*FOLDERS, "tmp"):
            files.make_directory(self._path / name)

    def size(self, name: str) -> int | None:
        """Look at the file itself, not at what a link would lead to."""
        with suppress(OSError):
            return (self._path / name).lstat().st_size
        return None

    def names(self, folder: str) -> Iterator[Held]:
        """Yield the files of a folder and of those in it."""
        for entry in sorted((self._path / folder).iterdir()):
            for path in sorted(entry.iterdir()) if entry.is_dir() else [entry]:
                name = path.relative_to(self._path).as_posix()
                yield Held(name, path.lstat().st_size)

    def opened(self, name: str) -> AbstractContextManager[Region]:
        """Open a plain file."""
        return _opened(self._path / name)

    def put(
        self, name: str, chunks: Iterable[bytes], *, over: bool = False,
        check: Callable[[Region], None] | None = None,
    ) -> None:  # fmt: skip
        """Write to a temporary name, read it back, and rename."""
        final = self._path / name
        if not over and final.exists():
            raise FileExistsError(name)
        with files.temporary_file(self._path / "tmp") as (temporary, stream):
            for chunk in chunks:
                files.write_chunk(stream, chunk)
            files.sync_file(stream)
            if check is not None:
                with _opened(temporary) as written:
                    check(written)
            files.make_directory(final.parent)
            files.publish(temporary, final)

    def remove(self, name: str) -> None:
        """Remove a file; a manifest durably, while an object that came back would be a stray."""
        path = self._path / name
        files.remove(path)
        if name.startswith("snapshots/"):
            files.sync_directory(path.parent)

    @contextmanager
    def writing(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the lock alone; what lies in ``tmp`` is nobody's then."""
        with locks.hold(self._path / "lock", wait_seconds=wait_seconds):
            temporary = self._path / "tmp"
            files.make_directory(temporary)
            for left in temporary.iterdir():
                files.remove_tree(left) if left.is_dir() else files.remove(left)
            yield

    @contextmanager
    def reading(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Share the lock; a copy on a medium without one needs none."""
        lock = self._path / "lock"
        if not lock.exists():
            yield
            return
        with locks.hold(lock, shared=True, wait_seconds=wait_seconds):
            yield


@contextmanager
def _opened(path: Path) -> Iterator[Region]:
    try:
        stream = files.open_plain(path)
    except OSError as error:
        why = error.strerror or ""
        raise DamageError(
            f"object {path.name} is missing{why and ': '}{why}", code="object_missing"
        ) from error
    with stream:
        try:
            yield FileRegion(stream)
        except OSError as error:
            raise DamageError(
                f"{path.name} can't be read: {error.strerror}", code="object_unreadable"
            ) from error
