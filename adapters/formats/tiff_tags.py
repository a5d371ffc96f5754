"""The directories of a TIFF structure, which raw photos are built on."""

from collections.abc import Iterator, Mapping
from typing import BinaryIO, NamedTuple

_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 12: 8, 13: 4}
_NUMBERS = (1, 3, 4, 13)
_ENTRY = 12
_INLINE = 4
_VALUE_BYTES = 64 * 1024
_MOST_ENTRIES = 2_000
_MOST_DIRECTORIES = 64
SUB_DIRECTORIES = 0x014A


class Tag(NamedTuple):
    """One entry: its type, its value (of large ones the beginning), and where that stands."""

    kind: int
    data: bytes
    offset: int
    length: int
    order: str

    @property
    def numbers(self) -> tuple[int, ...]:
        """The value as whole numbers; none when it is of another type."""
        size = _SIZES.get(self.kind, 1)
        if self.kind not in _NUMBERS:
            return ()
        cut = range(0, len(self.data) - size + 1, size)
        big = self.order == "big"
        return tuple(
            int.from_bytes(self.data[at : at + size], "big" if big else "little") for at in cut
        )

    @property
    def number(self) -> int | None:
        """The first number of the value."""
        return next(iter(self.numbers), None)

    @property
    def words(self) -> str:
        """The value as plain text."""
        return self.data.split(b"\0")[0].decode("ascii", "replace").strip()


def directories(stream: BinaryIO) -> Iterator[Mapping[int, Tag]]:
    """Yield the tags of each directory: the chain from the header, each with its sub-directories.

    A loop is walked once; what lies outside of the file is left out.
    """
    stream.seek(0)
    head = stream.read(8)
    if head[:2] not in (b"II", b"MM"):
        return
    order = "little" if head[:2] == b"II" else "big"
    waiting = [_whole(head[4:8], order)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_DIRECTORIES:
        at = waiting.pop(0)
        if at == 0 or at in seen:
            continue
        seen.add(at)
        found, following = _directory(stream, at, order)
        yield found
        waiting[:0] = [*(found[SUB_DIRECTORIES].numbers if SUB_DIRECTORIES in found else ()),
                       following]  # fmt: skip


def _directory(stream: BinaryIO, at: int, order: str) -> tuple[dict[int, Tag], int]:
    stream.seek(at)
    count = _whole(stream.read(2), order)
    if count > _MOST_ENTRIES:
        return {}, 0
    table = stream.read(count * _ENTRY)
    following = stream.read(4)
    found = {}
    for start in range(0, len(table) - _ENTRY + 1, _ENTRY):
        entry = table[start : start + _ENTRY]
        number, kind = _whole(entry[:2], order), _whole(entry[2:4], order)
        length = _whole(entry[4:8], order) * _SIZES.get(kind, 1)
        offset = at + 2 + start + 8 if length <= _INLINE else _whole(entry[8:], order)
        stream.seek(offset)
        data = stream.read(min(length, _VALUE_BYTES))
        found[number] = Tag(kind, data, offset, length, order)
    return found, _whole(following, order) if len(following) == _INLINE else 0


def _whole(data: bytes, order: str) -> int:
    return int.from_bytes(data, "little" if order == "little" else "big")
