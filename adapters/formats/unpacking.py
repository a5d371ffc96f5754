"""Open zip files within budgets: what they say of themselves is checked before anything is read."""

import contextlib
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from muniment.adapters.formats.encodings import decode
from muniment.adapters.ports import Limits
from muniment.store.errors import InputError

# Below this many bytes no ratio is held against anybody: a page of spaces is no bomb.
RATIO_FREE_BYTES = 64 * 1024 * 1024
BLOCK_BYTES = 1 << 20
_UTF8_NAME = 0x800
_ENCRYPTED = 0x1
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    ValueError,
    OSError,
)


@contextlib.contextmanager
def unpacking(what: str) -> Iterator[None]:
    """Turn what the unpackers raise for broken bytes into ``InputError`` ``unreadable``."""
    try:
        yield
    except InputError:
        raise
    except _BROKEN as fault:
        if isinstance(fault, OSError) and fault.errno is not None:
            raise  # the machine's fault, not the file's
        raise InputError(f"not a whole {what}", code="unreadable") from fault


def open_zip(stream: BinaryIO, limits: Limits, what: str = "zip file") -> zipfile.ZipFile:
    """Open a zip file whose list of members keeps to the budgets.

    Raises ``InputError`` ``unreadable``, ``too_many_members``, ``unpacked_size`` or ``ratio``.
    """
    with unpacking(what):
        opened = zipfile.ZipFile(stream)
    members = opened.infolist()
    if len(members) > limits.max_members:
        raise InputError(f"it has {len(members)} members", code="too_many_members")
    # Members may lie over each other: what they claim to take up can be more than there is.
    packed = min(stream.seek(0, 2), sum(member.compress_size for member in members))
    check_sizes(sum(member.file_size for member in members), packed, limits)
    return opened


def check_sizes(unpacked: int, packed: int, limits: Limits) -> None:
    """Raise ``InputError`` when unpacking would give too many bytes, or too many for so few."""
    if unpacked > limits.max_unpacked_bytes:
        raise InputError(f"it unpacks to {unpacked} bytes", code="unpacked_size")
    if unpacked > RATIO_FREE_BYTES and unpacked > limits.max_ratio * max(1, packed):
        raise InputError(f"{packed} bytes unpack to {unpacked}", code="ratio")


def is_encrypted(member: zipfile.ZipInfo) -> bool:
    """Tell whether a member asks for a password."""
    return bool(member.flag_bits & _ENCRYPTED)


def member_name(member: zipfile.ZipInfo) -> str:
    """Return the name of a member as it was meant: old programs wrote it in their own encoding."""
    name = member.orig_filename or member.filename
    if member.flag_bits & _UTF8_NAME or name.isascii():
        return member.filename
    try:
        return decode(name.encode("cp437")).text.replace("\x00", "")
    except UnicodeEncodeError:
        return member.filename


def member_named(members: Sequence[zipfile.ZipInfo], path: str) -> zipfile.ZipInfo:
    """Return the first member of a name; ``InputError`` ``no_such_member`` if there is none."""
    for member in members:
        if member_name(member) == path:
            return member
    raise InputError(f"it has no member {path}", code="no_such_member")
