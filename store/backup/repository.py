"""Open, make and use a repository: objects by digest, manifests by id."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from muniment.store import files, locks
from muniment.store.backup.cipher import (
    READ_BYTES,
    Codec,
    Plain,
    Reader,
    Secret,
    new_encryption,
    opened,
)
from muniment.store.backup.snapshot import Snapshot, decode, encode, is_id, next_id
from muniment.store.errors import DamageError, MunimentError, NotFoundError, StateError, UsageError
from muniment.store.times import now

VERSION = 1
_FORMAT = "muniment.backup"
_SUFFIX = ".json"
# What a making that was cut short leaves behind, and the folder of a fresh volume.
_OURS = {"lock", "tmp", "objects", "snapshots", "lost+found"}


class Repository:
    """One repository, open."""

    def __init__(self, path: Path, identity: str, codec: Codec, *, encrypted: bool) -> None:
        self.path = path
        self.id = identity
        self.encrypted = encrypted
        self.temporary = path / "tmp"
        self._objects = path / "objects"
        self._snapshots = path / "snapshots"
        self._codec = codec

    @classmethod
    def open(cls, path: Path, secret: Secret | None = None) -> "Repository":
        """Open what is there; raise ``NotFoundError`` when it is no repository."""
        said = _header(path)
        encryption = said.get("encryption")
        if encryption is None:
            return cls(path, said["id"], Plain(), encrypted=False)
        return cls(path, said["id"], opened(encryption, secret, said["id"]), encrypted=True)

    @classmethod
    def create(cls, path: Path, secret: Secret | None = None) -> "Repository":
        """Make a repository in a missing or empty folder; its header comes last."""
        require_free(path)
        identity = secrets.token_hex(16)
        said: dict[str, Any] = {
            "format": _FORMAT, "version": VERSION, "id": identity, "created_at": now(),
            "encryption": None,
        }  # fmt: skip
        codec: Codec = Plain()
        if secret is not None:
            said["encryption"], codec = new_encryption(secret, identity)
        for name in ("objects", "snapshots", "tmp"):
            files.make_directory(path / name)
        with locks.hold(path / "lock", wait_seconds=10):
            if (path / "repository.json").exists():  # another process was quicker
                return cls.open(path, secret)
            text = json.dumps(said, indent=1) + "\n"
            files.write_atomic(path / "repository.json", [text.encode()], folder=path / "tmp")
        return cls(path, identity, codec, encrypted=secret is not None)

    @contextmanager
    def writing(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Be the only one who uses it; what a killed one left in ``tmp`` goes first."""
        with locks.hold(self.path / "lock", wait_seconds=wait_seconds):
            files.make_directory(self.temporary)
            for left in self.temporary.iterdir():
                files.remove_tree(left) if left.is_dir() else files.remove(left)
            yield

    @contextmanager
    def reading(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Use it with other readers; a copy on a medium without a lock needs none."""
        lock = self.path / "lock"
        if not lock.exists():
            yield
            return
        with locks.hold(lock, shared=True, wait_seconds=wait_seconds):
            yield

    # objects

    def has(self, digest: str, size: int) -> bool:
        """Tell whether an object is there in full size."""
        with suppress(OSError):
            found = self._path(digest).lstat()
            return found.st_size == self._codec.stored_size(size)
        return False

    def put(self, digest: str, chunks: Iterable[bytes]) -> None:
        """Write an object, read it back, and only then give it its name.

        Raises ``DamageError`` when the chunks are not what the digest says.
        """
        final, name = self._path(digest), self._codec.name(digest)
        with files.temporary_file(self.temporary) as (temporary, stream):
            for chunk in self._codec.encode(name, chunks):
                files.write_chunk(stream, chunk)
            files.sync_file(stream)
            if self._hash(temporary, name) != digest:
                raise DamageError(
                    f"sha256:{digest} no longer matches its hash", code="asset_damaged"
                )
            files.make_directory(final.parent)
            files.publish(temporary, final)

    @contextmanager
    def reader(self, digest: str) -> Iterator[Reader]:
        """Open an object; raise ``DamageError`` when it is missing or no plain file."""
        with self._opened(self._path(digest), self._codec.name(digest)) as reader:
            yield reader

    def chunks(self, digest: str) -> Iterator[bytes]:
        """Yield an object's content; the caller compares digests."""
        with self.reader(digest) as reader:
            yield from _chunks(reader)

    def check(self, digest: str, size: int, *, whole: bool = True) -> None:
        """Raise ``DamageError`` unless the object is there and holds what its digest says."""
        try:
            found = self._path(digest).lstat().st_size
        except OSError:
            raise _lost(digest) from None
        if found != self._codec.stored_size(size):
            raise DamageError(f"object {digest} has another size", code="object_damaged")
        if whole and self._hash(self._path(digest), self._codec.name(digest)) != digest:
            raise DamageError(f"object {digest} no longer matches its hash", code="object_damaged")

    def stored(self) -> Iterator[Path]:
        """Yield the file of every object."""
        for folder in sorted(self._objects.iterdir()):
            yield from sorted(folder.iterdir()) if folder.is_dir() else [folder]

    def file_name(self, digest: str) -> str:
        """Return the file name of an object."""
        return self._codec.name(digest)

    # snapshots

    def ids(self) -> list[str]:
        """Return the ids of all snapshots, oldest first."""
        names = (path.name for path in self._snapshots.iterdir() if path.suffix == _SUFFIX)
        return sorted(name for name in (n.removesuffix(_SUFFIX) for n in names) if is_id(name))

    def next_id(self, created_at: str) -> str:
        """Return the id of the snapshot that comes next."""
        return next_id(self.ids(), created_at)

    def read(self, identity: str) -> Snapshot:
        """Read one manifest; ``latest`` is the newest one."""
        if identity == "latest":
            known = self.ids()
            if not known:
                raise NotFoundError(
                    "the repository holds no snapshot",
                    hint="make one with: muniment backup create DEST",
                    path=os.fsdecode(self.path),
                )
            identity = known[-1]
        path = self._snapshots / f"{identity}{_SUFFIX}"
        if not is_id(identity) or not path.exists():
            raise NotFoundError(
                f"no snapshot {identity}",
                hint="see: muniment backup list DEST",
                path=os.fsdecode(self.path),
            )
        try:
            with self._opened(path, f"snapshot {identity}") as reader:
                data = b"".join(_chunks(reader))
        except DamageError as error:
            raise DamageError(
                f"the manifest of snapshot {identity} is damaged: {error.message}",
                code="snapshot_damaged",
                hint="use another snapshot; see: muniment backup list DEST",
            ) from error
        return decode(data, identity)

    def write(self, snapshot: Snapshot, *, over: bool = False) -> None:
        """Publish a manifest under a name that must be new, unless it takes its own place."""
        final = self._snapshots / f"{snapshot.id}{_SUFFIX}"
        if final.exists() and not over:
            raise StateError(f"snapshot {snapshot.id} exists", code="snapshot_exists")
        sealed = self._codec.encode(f"snapshot {snapshot.id}", [encode(snapshot)])
        files.write_atomic(final, sealed, folder=self.temporary)

    def drop(self, identity: str) -> None:
        """Remove a manifest, durably."""
        files.remove(self._snapshots / f"{identity}{_SUFFIX}")
        files.sync_directory(self._snapshots)

    def _path(self, digest: str) -> Path:
        name = self._codec.name(digest)
        return self._objects / name[:2] / name

    def _hash(self, path: Path, label: str) -> str:
        hasher = hashlib.sha256()
        with self._opened(path, label) as reader:
            for chunk in _chunks(reader):
                hasher.update(chunk)
        return hasher.hexdigest()

    @contextmanager
    def _opened(self, path: Path, label: str) -> Iterator[Reader]:
        try:
            stream = files.open_plain(path)
        except OSError as error:
            raise _lost(path.name, error.strerror or "") from error
        with stream:
            try:
                yield self._codec.reader(label, stream)
            except OSError as error:
                raise DamageError(
                    f"{path.name} can't be read: {error.strerror}", code="object_unreadable"
                ) from error


def _chunks(reader: Reader) -> Iterator[bytes]:
    place = 0
    while chunk := reader.read_at(place, READ_BYTES):
        yield chunk
        place += len(chunk)


def _lost(name: str, why: str = "") -> DamageError:
    return DamageError(f"object {name} is missing{why and ': '}{why}", code="object_missing")


def _header(path: Path) -> dict[str, Any]:
    try:
        said = json.loads((path / "repository.json").read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(
            "no backup repository here",
            code="no_repository",
            hint="make one with: muniment backup create DEST",
            path=os.fsdecode(path),
        ) from None
    except OSError as error:
        raise MunimentError(
            f"the repository can't be read: {error.strerror}", code="io", path=os.fsdecode(path)
        ) from error
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("format") != _FORMAT or "id" not in said:
        raise DamageError(
            "repository.json is not whole", code="repository_damaged", path=os.fsdecode(path)
        )
    if said.get("version", 0) > VERSION:
        raise StateError(
            "the repository was written by a newer version",
            code="future",
            hint="upgrade muniment",
            path=os.fsdecode(path),
        )
    return said


def require_free(path: Path) -> None:
    """Refuse a place that is neither missing nor empty."""
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    held = any((path / name).is_dir() and any((path / name).iterdir())
               for name in ("objects", "snapshots"))  # fmt: skip
    if names - _OURS or held or (path.exists() and not path.is_dir()):
        raise UsageError(
            "this is not a backup repository, and not empty",
            code="not_a_repository",
            hint="choose another place",
            path=os.fsdecode(path),
        )
