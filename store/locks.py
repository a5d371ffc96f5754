"""Kernel locks: they die with their process, so no stale lock can block anybody.

The holder's pid and command stand in the file for the message only; nothing is decided by them.
"""

import fcntl
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from muniment.store import files
from muniment.store.errors import LockedError

_POLL_SECONDS = 0.05


@contextmanager
def hold(path: Path, *, shared: bool = False, wait_seconds: float = 0.0) -> Iterator[None]:
    """Hold the lock of a file for the block; raise ``LockedError`` when the wait runs out.

    A folder that exists can be held, too.
    """
    deadline = time.monotonic() + wait_seconds
    handle = _acquire(path, shared=shared, deadline=deadline)
    signed = not shared and _sign(handle)
    try:
        yield
    finally:
        if signed:
            with suppress(OSError):
                os.ftruncate(handle, 0)
        os.close(handle)


def _acquire(path: Path, *, shared: bool, deadline: float) -> int:
    mode = (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB
    while True:
        handle = _open(path, shared=shared)
        try:
            _wait(handle, path, mode, deadline)
            if _is_at(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        # The file was replaced while we waited: what we hold locks nothing any more.
        os.close(handle)


def _open(path: Path, *, shared: bool) -> int:
    """Open what is locked; a shared lock needs no right to write where the file exists."""
    with files.space_errors():
        if path.is_dir():
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        if shared:
            with suppress(FileNotFoundError):
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.fchmod(handle, 0o600)
        return handle


def _wait(handle: int, path: Path, mode: int, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(handle, mode)
        except BlockingIOError:
            left = deadline - time.monotonic()
            if left <= 0:
                raise _locked(handle, path) from None
            time.sleep(min(_POLL_SECONDS, left))
        else:
            return


def _is_at(handle: int, path: Path) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    held = os.fstat(handle)
    return (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino)


def _sign(handle: int) -> bool:
    """Leave a note for those who wait; a note that can't be written is no reason to fail."""
    words = [Path(sys.argv[0]).name, *sys.argv[1:2]]
    note = json.dumps({"pid": os.getpid(), "command": " ".join(words)[:200]})
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, note.encode(), 0)
    except OSError:
        return False
    return True


def _locked(handle: int, path: Path) -> LockedError:
    return LockedError(
        f"locked by {_holder(handle)}",
        hint="try again later, or wait with --lock-wait SECONDS",
        path=os.fsdecode(path),
    )


def _holder(handle: int) -> str:
    """Name the process of the note, unless it is the note of one that died."""
    try:
        note = json.loads(os.pread(handle, 4096, 0))
        pid, command = int(note["pid"]), str(note["command"])
        os.kill(pid, 0)
    except PermissionError:
        pass
    except (OSError, ValueError, KeyError, TypeError):
        return "another process"
    return f"process {pid} ({command})"
