"""Open, make and use a repository: objects by digest, manifests by id."""

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from muniment.store.asset_places import is_remote
from muniment.store.backup.cipher import (
    READ_BYTES,
    Codec,
    Plain,
    Reader,
    Secret,
    new_encryption,
    opened,
)
from muniment.store.backup.local import LocalDestination
from muniment.store.backup.snapshot import Snapshot, decode, encode, is_id, next_id
from muniment.store.errors import DamageError, NotFoundError, StateError, UsageError
from muniment.store.ports import Destination, Held, Region
from muniment.store.times import now

VERSION = 1
_FORMAT = "muniment.backup"
_SUFFIX = ".json"
_HEADER = "repository.json"


class Repository:
    """One repository, open."""

    def __init__(self, place: Destination, identity: str, codec: Codec, *, encrypted: bool) -> None:
        self.place = place
        self.id = identity
        self.encrypted = encrypted
        self._codec = codec

    @classmethod
    def open(cls, where: Path | str, secret: Secret | None = None) -> "Repository":
        """Open what is there; raise ``NotFoundError`` when it is no repository."""
        place = destination(where)
        said = _header(place)
        encryption = said.get("encryption")
        if encryption is None:
            return cls(place, said["id"], Plain(), encrypted=False)
        return cls(place, said["id"], opened(encryption, secret, said["id"]), encrypted=True)

    @classmethod
    def create(cls, where: Path | str, secret: Secret | None = None) -> "Repository":
        """Make a repository in a missing or empty place; its header comes last."""
        require_free(where)
        place = destination(where)
        identity = secrets.token_hex(16)
        said: dict[str, Any] = {
            "format": _FORMAT, "version": VERSION, "id": identity, "created_at": now(),
            "encryption": None,
        }  # fmt: skip
        codec: Codec = Plain()
        if secret is not None:
            said["encryption"], codec = new_encryption(secret, identity)
        place.make()
        with place.writing(wait_seconds=10):
            try:
                place.put(_HEADER, [(json.dumps(said, indent=1) + "\n").encode()])
            except FileExistsError:  # another process was quicker
                return cls.open(where, secret)
        return cls(place, identity, codec, encrypted=secret is not None)

    def writing(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Be the only one who uses it; what a killed one left unfinished goes first."""
        return self.place.writing(wait_seconds)

    def reading(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Use it with other readers; a copy on a medium without a lock needs none."""
        return self.place.reading(wait_seconds)

    # objects

    def has(self, digest: str, size: int) -> bool:
        """Tell whether an object is there in full size."""
        return self.place.size(self._name(digest)) == self._codec.stored_size(size)

    def put(self, digest: str, chunks: Iterable[bytes]) -> None:
        """Write an object, read it back, and only then give it its name.

        Raises ``DamageError`` when the chunks are not what the digest says.
        """
        label = self._codec.name(digest)

        def check(written: Region) -> None:
            if _hash(self._codec.reader(label, written)) != digest:
                raise _other(digest)

        sealed = self._codec.encode(label, _of_digest(chunks, digest))
        self.place.put(self._name(digest), sealed, over=True, check=check)

    @contextmanager
    def reader(self, digest: str) -> Iterator[Reader]:
        """Open an object; raise ``DamageError`` when it is missing or no plain file."""
        with self.place.opened(self._name(digest)) as written:
            yield self._codec.reader(self._codec.name(digest), written)

    def chunks(self, digest: str) -> Iterator[bytes]:
        """Yield an object's content; the caller compares digests."""
        with self.reader(digest) as reader:
            yield from _chunks(reader)

    def check(self, digest: str, size: int, *, whole: bool = True) -> None:
        """Raise ``DamageError`` unless the object is there and holds what its digest says."""
        found = self.place.size(self._name(digest))
        if found is None:
            raise DamageError(f"object {digest} is missing", code="object_missing")
        if found != self._codec.stored_size(size):
            raise DamageError(f"object {digest} has another size", code="object_damaged")
        if whole:
            with self.reader(digest) as reader:
                if _hash(reader) != digest:
                    raise DamageError(
                        f"object {digest} no longer matches its hash", code="object_damaged"
                    )

    def stored(self) -> Iterator[Held]:
        """Yield every object as it lies there."""
        yield from self.place.names("objects")

    def file_name(self, digest: str) -> str:
        """Return the file name of an object."""
        return self._codec.name(digest)

    def remove(self, stored: Held) -> None:
        """Remove an object that :meth:`stored` gave."""
        self.place.remove(stored.name)

    # snapshots

    def ids(self) -> list[str]:
        """Return the ids of all snapshots, oldest first."""
        names = (held.name.removeprefix("snapshots/") for held in self.place.names("snapshots"))
        known = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
        return sorted(filter(is_id, known))

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
                    path=self.place.name,
                )
            identity = known[-1]
        if not is_id(identity) or self.place.size(_manifest(identity)) is None:
            raise NotFoundError(
                f"no snapshot {identity}",
                hint="see: muniment backup list DEST",
                path=self.place.name,
            )
        try:
            with self.place.opened(_manifest(identity)) as written:
                reader = self._codec.reader(f"snapshot {identity}", written)
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
        sealed = self._codec.encode(f"snapshot {snapshot.id}", [encode(snapshot)])
        try:
            self.place.put(_manifest(snapshot.id), sealed, over=over)
        except FileExistsError:
            raise StateError(f"snapshot {snapshot.id} exists", code="snapshot_exists") from None

    def drop(self, identity: str) -> None:
        """Remove a manifest, durably."""
        self.place.remove(_manifest(identity))

    def _name(self, digest: str) -> str:
        name = self._codec.name(digest)
        return f"objects/{name[:2]}/{name}"


def destination(where: Path | str) -> Destination:
    """Return the place that an address names: a folder, or a prefix of an object store."""
    if isinstance(where, Path) or not is_remote(where):
        return LocalDestination(Path(where))
    from muniment.store.backends.s3_destination import RemoteDestination

    return RemoteDestination(where)


def _manifest(identity: str) -> str:
    return f"snapshots/{identity}{_SUFFIX}"


def _chunks(reader: Reader) -> Iterator[bytes]:
    place = 0
    while chunk := reader.read_at(place, READ_BYTES):
        yield chunk
        place += len(chunk)


def _hash(reader: Reader) -> str:
    hasher = hashlib.sha256()
    for chunk in _chunks(reader):
        hasher.update(chunk)
    return hasher.hexdigest()


def _of_digest(chunks: Iterable[bytes], digest: str) -> Iterator[bytes]:
    """Yield chunks; at their end raise ``DamageError`` unless they are what a digest says."""
    hasher = hashlib.sha256()
    for chunk in chunks:
        hasher.update(chunk)
        yield chunk
    if hasher.hexdigest() != digest:
        raise _other(digest)


def _other(digest: str) -> DamageError:
    return DamageError(f"sha256:{digest} no longer matches its hash", code="asset_damaged")


def is_repository(where: Path | str) -> bool:
    """Tell whether there is a repository, whole or not."""
    return destination(where).read(_HEADER) is not None


def _header(place: Destination) -> dict[str, Any]:
    text = place.read(_HEADER)
    if text is None:
        raise NotFoundError(
            "no backup repository here",
            code="no_repository",
            hint="make one with: muniment backup create DEST",
            path=place.name,
        )
    try:
        said = json.loads(text)
    except ValueError:
        said = None
    if not isinstance(said, dict) or said.get("format") != _FORMAT or "id" not in said:
        raise DamageError(
            "repository.json is not whole", code="repository_damaged", path=place.name
        )
    if said.get("version", 0) > VERSION:
        raise StateError(
            "the repository was written by a newer version",
            code="future",
            hint="upgrade muniment",
            path=place.name,
        )
    return said


def require_free(where: Path | str) -> None:
    """Refuse a place that is neither missing nor empty."""
    place = destination(where)
    if not place.is_free():
        raise UsageError(
            "this is not a backup repository, and not empty",
            code="not_a_repository",
            hint="choose another place",
            path=place.name,
        )
