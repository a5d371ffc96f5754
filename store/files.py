"""Every file operation of the store, in one small module: the door that fault tests stand at.

The order is always: bytes to a temporary name, fsync, rename, fsync of the folder. A name that
exists is whole. Directories are 0700 and files 0600.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from muniment.store.errors import MunimentError, NoSpaceError

_FULL = {errno.ENOSPC, errno.EDQUOT}
_PRIVATE_DIRECTORY = 0o700
_PRIVATE_FILE = 0o600

# Directories whose own name this process has made durable. That one exists says nothing of that:
# whoever made it may have died, or be about to, before its parent was synced.
_durable: set[Path] = set()


@contextmanager
def space_errors() -> Iterator[None]:
    """Turn a full disk into :class:`NoSpaceError` and any other fault into code ``io``."""
    try:
        yield
    except OSError as error:
        path = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None
        if error.errno in _FULL:
            raise NoSpaceError(
                "no space left on the file system of the store",
                hint="free some space and run the same command again",
                path=path,
            ) from error
        raise MunimentError(
            f"the store can't be written: {error.strerror or error}",
            code="io",
            hint="check the disk and the permissions of the root",
            path=path,
        ) from error


def make_directory(path: Path) -> None:
    """Create a private directory and its parents, durably; one that exists keeps its mode."""
    with space_errors():
        missing = []
        while not path.exists():
            missing.append(path)
            path = path.parent
        _make_durable(path)
        for folder in reversed(missing):
            with suppress(FileExistsError):  # another process was quicker
                folder.mkdir(mode=_PRIVATE_DIRECTORY)
                folder.chmod(_PRIVATE_DIRECTORY)  # whatever the umask took away
            _durable.discard(folder)
            _make_durable(folder)


def _make_durable(folder: Path) -> None:
    if folder not in _durable:
        # A parent that can't be opened belongs to somebody else, who made our folder in it.
        with suppress(PermissionError):
            sync_directory(folder.parent)
        _durable.add(folder)


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def create_temporary(folder: Path) -> tuple[Path, BinaryIO]:
    """Open a new private file under a random name in ``folder``."""
    path = folder / f"{secrets.token_hex(8)}.partial"
    with space_errors():
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_FILE)
        os.fchmod(handle, _PRIVATE_FILE)
    return path, os.fdopen(handle, "wb")


def make_private(path: Path) -> None:
    """Create an empty private file unless there is one; a library would take the umask's mode."""
    with space_errors(), suppress(FileExistsError):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE_FILE)
        try:
            os.fchmod(handle, _PRIVATE_FILE)
        finally:
            os.close(handle)


def write_chunk(stream: BinaryIO, chunk: bytes) -> None:
    """Write one chunk."""
    with space_errors():
        stream.write(chunk)


def sync_file(stream: BinaryIO) -> None:
    """Flush and make the bytes durable."""
    with space_errors():
        stream.flush()
        os.fsync(stream.fileno())


def flush(stream: BinaryIO) -> None:
    """Hand over what is buffered, without waiting for the disk."""
    with space_errors():
        stream.flush()


def close_file(stream: BinaryIO) -> None:
    """Close a file; what a failed write left in the buffer is dropped with it."""
    with space_errors():
        stream.close()


def publish(temporary: Path, final: Path) -> None:
    """Give a durable temporary file its final name, durably."""
    with space_errors():
        temporary.replace(final)
        sync_directory(final.parent)


def write_atomic(path: Path, chunks: Iterable[bytes], *, folder: Path | None = None) -> None:
    """Write a whole file so that the name never shows part of it.

    ``folder``, on the same file system, takes the temporary file; null takes the file's own.
    """
    with temporary_file(folder or path.parent) as (temporary, stream):
        for chunk in chunks:
            write_chunk(stream, chunk)
        sync_file(stream)
        publish(temporary, path)


@contextmanager
def temporary_file(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """Yield a new private file, closed afterwards, and gone unless it was published."""
    path, stream = create_temporary(folder)
    try:
        yield path, stream
    except BaseException:
        # The fault that brought us here is the one to tell, not one more of a dying disk.
        with suppress(OSError, MunimentError):
            close_file(stream)
        with suppress(OSError, MunimentError):
            remove(path)
        raise
    close_file(stream)


def open_reading(path: Path) -> BufferedReader:
    """Open a file of the store for reading."""
    return path.open("rb")


def open_plain(path: Path) -> BufferedReader:
    """Open a regular file for reading; a link in its place is refused."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return os.fdopen(handle, "rb")


def move(source: Path, target: Path) -> None:
    """Rename a file or folder to a free name of the same file system, durably on both sides."""
    with space_errors():
        source.rename(target)
        sync_directory(target.parent)
        sync_directory(source.parent)


def remove(path: Path) -> None:
    """Remove a file that may be gone already."""
    with space_errors():
        path.unlink(missing_ok=True)


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it; it may be gone already."""
    with space_errors(), suppress(FileNotFoundError):
        shutil.rmtree(path)
