"""Fail a process at one chosen boundary of writing: at a door of the store, or inside SQLite.

Every write, truncation, sync, rename, creation and removal is a point with a number. At the n-th
one the process is killed, or gets an error, or loses its power: then all that was written and not
synced is taken back first, and so is every rename whose folder was not synced.
"""

import contextlib
import errno
import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import apsw

from muniment.store import database, files
from muniment.store.index import schema

_NAME = "faulty"
MODES = ("kill", "power", "enospc", "eio")
_DOORS = (
    "make_directory", "sync_directory", "create_temporary", "make_private", "write_chunk",
    "sync_file", "close_file", "publish", "move", "remove", "remove_tree",
)  # fmt: skip
# What needs room on the disk: a full one refuses these, and goes on to.
_GROWING = {"make_directory", "create_temporary", "make_private", "write_chunk", "xWrite"}


@dataclass
class _Unsynced:
    """What a power cut would take back, newest last."""

    sizes: dict[str, int] = field(default_factory=dict)
    pages: list[tuple[str, int, bytes]] = field(default_factory=list)
    files: set[str] = field(default_factory=set)
    renames: list[tuple[Path, Path, Path | None]] = field(default_factory=list)

    def sync(self, name: str) -> None:
        self.sizes.pop(name, None)
        self.files.discard(name)
        self.pages = [page for page in self.pages if page[0] != name]

    def sync_folder(self, folder: Path) -> None:
        self.renames = [one for one in self.renames if one[1].parent != folder]

    def take_back(self) -> None:
        """Undo what the disk may not have yet: pages, sizes, whole files, names."""
        for name, offset, before in reversed(self.pages):
            with contextlib.suppress(FileNotFoundError), Path(name).open("r+b") as stream:
                stream.seek(offset)
                stream.write(before)
        for name, size in (self.sizes | dict.fromkeys(self.files, 0)).items():
            with contextlib.suppress(FileNotFoundError):
                os.truncate(name, size)
        for source, target, old in reversed(self.renames):
            with contextlib.suppress(FileNotFoundError):
                target.replace(source)
            if old is not None:
                old.replace(target)


class Faults:
    """Counts points and strikes at the n-th; 0 counts only."""

    def __init__(self, mode: str, nth: int, scratch: Path) -> None:
        self.mode = mode
        self.nth = nth
        self.points = 0
        self._scratch = scratch
        self._lost = _Unsynced()
        self._system: _System | None = None
        self._plain = apsw.vfs_names()[0]

    def install(self) -> None:
        """Stand at every door of this process from now on."""
        self._system = _System(self)
        # Readers write nothing, and a system of ours between would raise what SQLite overlooks.
        database._connect_readonly = self._through_plain_system(database._connect_readonly)
        schema._open_reader = self._through_plain_system(schema._open_reader)
        for name in _DOORS:
            setattr(files, name, self._watched(name, getattr(files, name)))

    def point(self, name: str) -> OSError | None:
        """Count one point; return the error to raise there, or do not return at all."""
        self.points += 1
        if not self.nth or self.points < self.nth:
            return None
        if self.mode in {"kill", "power"}:
            if self.mode == "power":
                self._lost.take_back()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.mode == "enospc" and name in _GROWING:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.mode == "eio" and self.points == self.nth:
            return OSError(errno.EIO, os.strerror(errno.EIO))
        return None

    def _watched(self, name: str, door: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **named: Any) -> Any:
            error = self.point(name)
            if error is not None:
                if name == "close_file":
                    door(*arguments, **named)  # a file is closed even when that tells of a fault
                with files.space_errors():
                    raise error
            if name in {"publish", "move"}:
                self._before_rename(*arguments[:2])
            result = door(*arguments, **named)
            self._after(name, arguments)
            return result

        return watched

    def _through_plain_system(self, connect: Callable[..., Any]) -> Callable[..., Any]:
        def connected(*arguments: Any) -> Any:
            apsw.set_default_vfs(self._plain)
            try:
                return connect(*arguments)
            finally:
                apsw.set_default_vfs(_NAME)

        return connected

    def _before_rename(self, source: Path, target: Path) -> None:
        old = None
        if target.is_file():
            old = self._scratch / f"old-{self.points}"
            shutil.copy2(target, old)
        self._lost.renames.append((source, target, old))

    def _after(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "write_chunk":
            self._lost.files.add(_name_of(arguments[0]))
        elif name == "sync_file":
            self._lost.sync(_name_of(arguments[0]))
        elif name == "sync_directory":
            self._lost.sync_folder(arguments[0])

    # --- SQLite's side -------------------------------------------------------------------------

    def written(self, name: str, offset: int, before: bytes, size: int) -> None:
        """Remember what a page held before it was written."""
        self._lost.sizes.setdefault(name, size)
        if before:
            self._lost.pages.append((name, offset, before))

    def synced(self, name: str) -> None:
        """Forget what can't be lost any more."""
        self._lost.sync(name)


def _name_of(stream: BinaryIO) -> str:
    link = Path(f"/proc/self/fd/{stream.fileno()}").readlink()
    return str(link).removesuffix(" (deleted)")


_SQLITE = {errno.ENOSPC: apsw.FullError, errno.EIO: apsw.IOError}


class _System(apsw.VFS):
    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._base = apsw.vfs_names()[0]
        super().__init__(_NAME, self._base, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> "_File":
        return _File(self, self._base, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.strike("xDelete")
        if Path(filename).exists():  # a missing one is no fault, yet would be raised as one
            super().xDelete(filename, syncdir)
        self.faults.synced(filename)

    def strike(self, name: str) -> None:
        error = self.faults.point(name)
        if error is not None:
            raise _SQLITE[error.errno or errno.EIO](os.strerror(error.errno or errno.EIO))


class _File(apsw.VFSFile):
    def __init__(self, system: _System, base: str, name: Any, flags: list[int]) -> None:
        super().__init__(base, name, flags)
        self._system = system
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else str(name or "")

    def xWrite(self, data: bytes, offset: int) -> None:
        self._system.strike("xWrite")
        size = self.xFileSize()
        within = max(0, min(len(data), size - offset))
        before = self.xRead(within, offset) if within and self._name else b""
        super().xWrite(data, offset)
        if self._name:
            self._system.faults.written(self._name, offset, before, size)

    def xTruncate(self, newsize: int) -> None:
        self._system.strike("xTruncate")
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._system.strike("xSync")
        super().xSync(flags)
        self._system.faults.synced(self._name)
