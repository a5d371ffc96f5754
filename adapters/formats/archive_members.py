"""The members of an archive as a stream, whatever packed them.

Their paths are names, never places.
"""

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from muniment.adapters.formats.unpacking import (
    is_encrypted,
    member_name,
    member_named,
    open_zip,
    unpacking,
)
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError
from muniment.store.times import moment_fields

if TYPE_CHECKING:
    from muniment.store.records import Moment

ZIP, TAR = "application/zip", "application/x-tar"
_PACKED: dict[str, Callable[..., Any]] = {
    "application/gzip": gzip.open,
    "application/x-bzip2": bz2.open,
    "application/x-xz": lzma.open,
}
_SUFFIXES = (".gz", ".bz2", ".xz", ".gzip", ".z")
_TAR_SUFFIXES = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg"}
_TAR_MARK, _TAR_MARK_AT = b"ustar", 257
_EXTRA_HEAD, _UNIX_TIME = 4, 0x5455
_UNSET = datetime(1980, 1, 1)  # noqa: DTZ001 (what a zip says when it was told no time)


class Member(NamedTuple):
    """A file in an archive; it must be read before the next one is asked for."""

    path: str
    open: Callable[[], AbstractContextManager[BinaryIO]]
    changed: datetime | None = None

    def modified(self) -> "Moment | None":
        """Return when it was last changed: wall time in a zip, an instant where that is known."""
        if self.changed is None:
            return None
        from muniment.store.records import Moment

        zone = None if self.changed.tzinfo is None else "utc"
        fields = moment_fields(self.changed, zone_source=zone, precision="second")
        return Moment(**fields)  # type: ignore[arg-type]  # strings of the right kinds


class Skipped(NamedTuple):
    """A member that can't be read, and why: ``encrypted_members``, ``truncated``."""

    path: str
    reason: str


def members(source: Source, limits: Limits) -> Iterator[Member | Skipped]:
    """Yield the files of an archive in order; folders, links and devices are left out.

    Raises ``InputError`` for what is no whole archive or over the budgets.
    """
    if source.media_type == ZIP:
        yield from _zip_members(source, limits)
    elif source.media_type == TAR or source.media_type in _PACKED:
        yield from _stream_members(source, limits)
    else:
        raise InputError(
            f"{source.media_type} is not unpacked", code="archive_format", status="unsupported"
        )


def member_bytes(source: Source, limits: Limits, path: str) -> bytes:
    """Return the bytes of one member; ``InputError`` ``no_such_member`` if there is none."""
    if source.media_type == ZIP:
        with (
            source.open() as stream,
            open_zip(stream, limits) as opened,
            unpacking("zip file"),
        ):
            return opened.read(member_named(opened.infolist(), path))
    for member in members(source, limits):
        if isinstance(member, Member) and member.path == path:
            with unpacking("archive"), member.open() as stream:
                return stream.read(limits.max_unpacked_bytes)
    raise InputError(f"it has no member {path}", code="no_such_member")


def _zip_members(source: Source, limits: Limits) -> Iterator[Member | Skipped]:
    with source.open() as stream, open_zip(stream, limits) as opened:
        for info in opened.infolist():
            name = member_name(info)
            if info.filename.endswith("/"):  # a name may be empty, which is_dir can't stand
                continue
            if is_encrypted(info):
                yield Skipped(name, "encrypted_members")
            else:
                yield Member(name, _opener(opened, info), _zip_time(info))


def _zip_time(info: zipfile.ZipInfo) -> datetime | None:
    """Return the instant in the extra field, else the wall time; 1980-01-01 is an unset one."""
    extra = info.extra
    while len(extra) >= _EXTRA_HEAD:
        kind, length = (int.from_bytes(extra[at : at + 2], "little") for at in (0, 2))
        field = extra[_EXTRA_HEAD : _EXTRA_HEAD + length]
        if kind == _UNIX_TIME and len(field) > _EXTRA_HEAD and field[0] & 1:
            return _instant(int.from_bytes(field[1:5], "little", signed=True))
        extra = extra[_EXTRA_HEAD + length :]
    try:
        wall = datetime(*info.date_time)  # noqa: DTZ001 (zip keeps wall times)
    except ValueError:
        return None
    return wall if wall > _UNSET else None


def _instant(seconds: float) -> datetime | None:
    if seconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _opener(
    opened: zipfile.ZipFile, info: zipfile.ZipInfo
) -> Callable[[], AbstractContextManager[BinaryIO]]:
    return lambda: cast("AbstractContextManager[BinaryIO]", opened.open(info))


def _stream_members(source: Source, limits: Limits) -> Iterator[Member | Skipped]:
    unpack = _PACKED.get(source.media_type)
    if unpack is not None and not _is_tar(source, unpack):
        name = _single_name(source.name)
        yield Member(name, lambda: unpack(source.open()))
        return
    with source.open() as stream:
        unpacked = stream if unpack is None else unpack(stream)
        yield from _tar_members(unpacked, limits)


def _is_tar(source: Source, unpack: Callable[..., Any]) -> bool:
    with source.open() as stream, unpacking("packed file"):
        head: bytes = unpack(stream).read(_TAR_MARK_AT + len(_TAR_MARK))
    return head[_TAR_MARK_AT:] == _TAR_MARK


def _tar_members(stream: BinaryIO, limits: Limits) -> Iterator[Member | Skipped]:
    """Walk a tar as a stream: one that ends early gives what came before."""
    count = 0
    try:
        with tarfile.open(fileobj=stream, mode="r|", errors="surrogateescape") as opened:
            for info in opened:
                count += 1
                if count > limits.max_members:
                    raise InputError(f"it has over {count - 1} members", code="too_many_members")
                if info.isreg():
                    yield Member(
                        _written(info.name), _tar_opener(opened, info), _instant(info.mtime)
                    )
                opened.members.clear()  # type: ignore[attr-defined]  # else it keeps every header
    except (tarfile.TarError, *_CUT_OFF) as fault:
        if isinstance(fault, OSError) and fault.errno is not None:
            raise  # the machine's fault, not the file's
        if not count:
            raise InputError("not a whole archive", code="unreadable") from fault
        yield Skipped(str(fault)[:80] or "the end", "truncated")


_CUT_OFF = (EOFError, lzma.LZMAError, gzip.BadGzipFile, OSError, ValueError)


def _tar_opener(
    opened: tarfile.TarFile, info: tarfile.TarInfo
) -> Callable[[], AbstractContextManager[BinaryIO]]:
    def extracted() -> AbstractContextManager[BinaryIO]:
        stream = opened.extractfile(info)
        if stream is None:
            raise InputError("no file", code="unreadable")
        return cast("AbstractContextManager[BinaryIO]", stream)

    return extracted


def _written(name: str) -> str:
    """Return a name of bytes as text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _single_name(name: str) -> str:
    """Return the name of the one file in a packed one."""
    lower = name.lower()
    for suffix, inner in _TAR_SUFFIXES.items():
        if lower.endswith(suffix):
            return name[: -len(suffix)] + inner
    for suffix in _SUFFIXES:
        if lower.endswith(suffix) and len(name) > len(suffix):
            return name[: -len(suffix)]
    return name or "content"
