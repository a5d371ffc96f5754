"""Content-addressed bytes: small ones inside the ledger, large ones as files beside it.

A large asset is written to a temporary name while it is hashed, made durable, handed to the asset
store, and only then named by a row (invariant 1). Nothing here reads a whole file into memory.
"""

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from muniment.store import files
from muniment.store.errors import DamageError, InputError

if TYPE_CHECKING:
    from muniment.store.ports import AssetStore

INLINE_BYTES = 64 * 1024
CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Stat:
    """What a file looked like when it was read."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, found: os.stat_result) -> "Stat":
        """Take the parts that tell one state of a file from another."""
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


@dataclass(frozen=True, slots=True)
class Taken:
    """Bytes that were hashed, and kept if large: ``data`` is set for inline ones only.

    ``head`` holds the first bytes, for sniffing.
    """

    asset: str
    size: int
    data: bytes | None
    head: bytes
    stat: Stat | None = None


def take_file(path: bytes, store: "AssetStore | None", temporary: Path) -> Taken:
    """Read a file once: hash it, and keep it when it is large.

    With ``store`` null nothing is written (a dry run). Raises ``InputError`` when it can't be
    read (``unreadable``), is not a regular file (``not_a_file``) or changed meanwhile.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (FileNotFoundError, ValueError):  # a name with a NUL in it can't exist
        raise InputError("the file does not exist", code="missing", transient=True) from None
    except OSError as error:
        raise InputError(
            f"can't be opened: {error.strerror}", code="unreadable", transient=True
        ) from error
    before = os.fstat(handle)
    if not stat.S_ISREG(before.st_mode):
        os.close(handle)
        raise InputError("not a regular file", code="not_a_file", status="skipped")
    with os.fdopen(handle, "rb") as stream:
        taken = take_stream(stream, store, temporary)
        after = Stat.of(os.fstat(stream.fileno()))
    if after != Stat.of(before) or after.size != taken.size:
        raise InputError("it changed while it was read", code="changed", transient=True)
    return Taken(taken.asset, taken.size, taken.data, taken.head, after)


def take_stream(stream: BinaryIO, store: "AssetStore | None", temporary: Path) -> Taken:
    """Hash a stream from where it stands; hand it to the store when it is over 64 KiB."""
    first = _read(stream, INLINE_BYTES + 1)
    if len(first) <= INLINE_BYTES:
        digest = hashlib.sha256(first).hexdigest()
        return Taken(f"sha256:{digest}", len(first), first, first)
    if store is None:
        digest, size = _hash(first, stream)
        return Taken(f"sha256:{digest}", size, None, first)
    return _keep(first, stream, store, temporary)


def _keep(first: bytes, stream: BinaryIO, store: "AssetStore", temporary: Path) -> Taken:
    files.make_directory(temporary)
    with files.temporary_file(temporary) as (partial, out):
        digest, size = _hash(first, stream, out)
        files.sync_file(out)
        asset = f"sha256:{digest}"
        store.keep(partial, asset, size)
    return Taken(asset, size, None, first)


def _hash(first: bytes, stream: BinaryIO, out: BinaryIO | None = None) -> tuple[str, int]:
    digest = hashlib.sha256()
    size = 0
    chunk = first
    while chunk:
        digest.update(chunk)
        size += len(chunk)
        if out is not None:
            files.write_chunk(out, chunk)
        chunk = _read(stream, CHUNK_BYTES)
    return digest.hexdigest(), size


def _read(stream: BinaryIO, size: int) -> bytes:
    """Read up to ``size`` bytes, through short reads; an I/O fault is the input's."""
    try:
        return stream.read(size) or b""
    except OSError as error:
        raise InputError(
            f"can't be read: {error.strerror}", code="unreadable", transient=True
        ) from error


def hash_file(path: Path) -> str:
    """Return the asset id of a file's bytes."""
    with files.open_reading(path) as stream:
        return "sha256:" + hashlib.file_digest(stream, "sha256").hexdigest()


def check_file(path: Path, asset: str, size: int, *, whole: bool = True) -> None:
    """Raise ``DamageError`` unless the file holds the asset's bytes, or else is of their size."""
    try:
        found = path.stat().st_size
        if found != size:
            raise DamageError(f"{asset} has {found} bytes, {size} were kept", code="asset_damaged")
        if whole and hash_file(path) != asset:
            raise DamageError(f"{asset} no longer matches its hash", code="asset_damaged")
    except FileNotFoundError:
        raise DamageError(f"{asset} is missing", code="asset_missing") from None
    except OSError as error:
        raise DamageError(
            f"{asset} can't be read: {error.strerror}", code="asset_unreadable"
        ) from error
