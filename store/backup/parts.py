"""Open a database that lies in a repository as it lies there: over its parts, copying nothing.

A small file system for SQLite reads pages straight from the objects (deciphering them on the
way), so that a check needs no room on any disk and leaves no plain bytes behind.
"""

import secrets
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import apsw

from muniment.store.backup.cipher import Reader
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Entry
from muniment.store.errors import DamageError

# Small enough that a day's few new rows touch few parts; a manifest says what it was cut into.
PART_BYTES = 256 * 1024
_MOST_OPEN = 32
_CACHE_KIB = 64 * 1024


class _Pages:
    """The bytes of one database, part by part."""

    def __init__(self, repository: Repository, entry: Entry) -> None:
        self.size = entry.size
        self._repository = repository
        self._parts = entry.parts
        self._stride = max(entry.parts[0].size if entry.parts else 1, 1)
        self._open: OrderedDict[int, tuple[Reader, ExitStack]] = OrderedDict()
        self.fault: DamageError | None = None

    def read(self, amount: int, offset: int) -> bytes:
        found = b""
        while amount > 0 and offset < self.size:
            number, inside = divmod(offset, self._stride)
            piece = self._reader(number).read_at(inside, min(amount, self._stride - inside))
            if not piece:
                break
            found += piece
            offset, amount = offset + len(piece), amount - len(piece)
        return found

    def close(self) -> None:
        for _, stack in self._open.values():
            stack.close()
        self._open.clear()

    def _reader(self, number: int) -> Reader:
        if number not in self._open:
            if len(self._open) >= _MOST_OPEN:
                self._open.popitem(last=False)[1][1].close()
            stack = ExitStack()
            reader = stack.enter_context(self._repository.reader(self._parts[number].sha256))
            self._open[number] = (reader, stack)
        self._open.move_to_end(number)
        return self._open[number][0]


class _File:
    """What SQLite asks of a file that can only be read."""

    def __init__(self, pages: _Pages) -> None:
        self._pages = pages

    def xRead(self, amount: int, offset: int) -> bytes:
        try:
            return self._pages.read(amount, offset)
        except DamageError as error:
            self._pages.fault = error
            raise apsw.IOError(error.message) from error

    def xFileSize(self) -> int:
        return self._pages.size

    def xFileControl(self, _operation: int, _pointer: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return 4096

    def xDeviceCharacteristics(self) -> int:
        return apsw.SQLITE_IOCAP_IMMUTABLE

    def _nothing(self, *_: Any) -> bool:
        return False

    xLock = xUnlock = xCheckReservedLock = xClose = _nothing


class _System(apsw.VFS):
    """A file system that holds one file."""

    def __init__(self, name: str, pages: _Pages) -> None:
        self._pages = pages
        super().__init__(name, "")

    def xOpen(self, _name: Any, flags: list[int]) -> Any:
        flags[1] = flags[0]
        return _File(self._pages)

    def xAccess(self, _name: str, _flags: int) -> bool:
        return False

    def xFullPathname(self, name: str) -> str:
        return name


def _never(*_: object) -> int:
    return 0


@contextmanager
def opened_over_parts(repository: Repository, entry: Entry) -> Iterator[apsw.Connection]:
    """Open a database of a snapshot for reading; raise ``DamageError`` when it can't be read."""
    pages = _Pages(repository, entry)
    name = f"parts-{secrets.token_hex(8)}"
    system = _System(name, pages)
    try:
        connection = apsw.Connection(
            "file:/snapshot.sqlite3?immutable=1",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            vfs=name,
        )
        try:
            connection.create_scalar_function("erasing", _never, 0)
            connection.pragma("temp_store", "memory")
            connection.pragma("cache_size", -_CACHE_KIB)
            yield connection
        finally:
            connection.close()
    except apsw.Error as error:
        raise pages.fault or DamageError(
            f"{entry.path} can't be read: {error}", code="database_damaged"
        ) from error
    finally:
        system.unregister()
        pages.close()
