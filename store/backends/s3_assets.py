"""The asset store of one scope in an S3-compatible bucket, with a cache beside the ledger."""

import contextlib
import os
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.store import files
from muniment.store.asset_places import Elsewhere
from muniment.store.assets import CHUNK_BYTES, Stat
from muniment.store.backends.asset_cache import AssetCache
from muniment.store.backends.bucket import Bucket, Object
from muniment.store.backends.versions import Versions
from muniment.store.errors import DamageError, RemoteError
from muniment.store.ports import Stored

if TYPE_CHECKING:
    from muniment.store.seals import Seals

_DIGEST_LENGTH = 64
_AWAY_SECONDS = 15.0
_UPLOAD = "?uploadId="


class RemoteAssets:
    """Assets as objects ``tenants/…/namespaces/…/sha256/ab/<digest>`` below a prefix."""

    def __init__(self, elsewhere: Elsewhere, temporary: Path) -> None:
        place, scope = elsewhere.place, elsewhere.scope
        folder = place.location.below(
            "tenants", scope.tenant, "users", scope.user, "namespaces", scope.namespace, "sha256"
        )
        self.elsewhere: Elsewhere | None = elsewhere
        self.bucket = Bucket(folder, offline=elsewhere.offline)
        self._versions = Versions(self.bucket)
        self._away: RemoteError | None = None
        self._ask_again = 0.0
        self._cache = AssetCache(elsewhere.cache, temporary, place.cache_bytes)

    def keep(self, partial: Path, asset: str, size: int) -> None:
        """Upload a file unless the object is there and sound; then it serves as the cached copy."""
        name = _name(asset)
        found = self.bucket.head(name)
        if found is None or not self._sound(found, asset, partial, size):
            if found is not None:  # Swift would keep the parts of what is only written over
                self.bucket.delete(name)
            self.bucket.put(name, _read(partial), size=size)
        self._cache.take(asset, partial)

    def file(self, asset: str) -> Path:
        """Return the cached copy, fetched if need be."""
        with contextlib.suppress(DamageError):
            return self._cache.find(asset) or self._fetch(asset)
        return self._cache.path(asset)

    def lend(self, asset: str, scratch: Path) -> Path:
        """Return a second name for the cached copy, which it outlives."""
        cached, lent = self.file(asset), scratch / "asset"
        try:
            os.link(cached, lent)
        except FileExistsError:
            return lent
        except OSError:
            return cached  # no such file, or another file system
        return lent

    def chunks(self, asset: str) -> Iterator[bytes]:
        """Yield the cached copy, else the object, which is not kept."""
        cached = self._cache.find(asset)
        if cached is not None:
            yield from _read(cached)
            return
        digest = sha256()
        with _missing(asset):
            for chunk in self.bucket.chunks(_name(asset)):
                digest.update(chunk)
                yield chunk
        if f"sha256:{digest.hexdigest()}" != asset:
            raise _damaged(asset)

    def read(self, asset: str, start: int, length: int) -> bytes:
        """Return a part of the cached copy, else of the object."""
        cached = self._cache.find(asset)
        if cached is not None:
            with files.open_plain(cached) as stream:
                stream.seek(start)
                return stream.read(length)
        with _missing(asset):
            return self.bucket.read(_name(asset), start, length)

    def check(self, asset: str, size: int, *, whole: bool = True) -> None:
        """Look at the object, and hash all of it as it lies there."""
        found = self._head(asset, size)
        if whole:
            digest = sha256()
            with _missing(asset):
                for chunk in self.bucket.chunks(found.name):
                    digest.update(chunk)
            if f"sha256:{digest.hexdigest()}" != asset:
                raise _damaged(asset)

    def intact(self, asset: str, size: int, seals: "Seals") -> bool:
        """Ask the seal of the object as it is now, else fetch it; away from it the cache will do.

        Raises ``RemoteError`` when neither can be had. A store that did not answer is not asked
        again at once: each asking waits for a while.
        """
        try:
            if self._away is not None and time.monotonic() < self._ask_again:
                raise self._away
            stat = _stat(self._head(asset, size))
            if not seals.holds(asset, stat):
                self._cache.remove(asset)  # it may be older than what became of the object
                self._fetch(asset)
                seals.seal(asset, stat)
        except DamageError:
            return False
        except RemoteError as error:
            self._away, self._ask_again = error, time.monotonic() + _AWAY_SECONDS
            if self._cache.find(asset) is None:
                raise
        return True

    def remove(self, asset: str) -> bool:
        """Remove the cached copy, every version and marker, and what uploads left unfinished."""
        name = _name(asset)
        was_there = self.bucket.head(name) is not None
        for key, upload in self._versions.uploads(name):
            self._versions.abort(key, upload)
        for version in list(self._versions.all(name)):
            self._versions.remove(version)
        if self.bucket.head(name) is not None:
            self.bucket.delete(name)
            # Where the bucket keeps versions without listing them, a marker is all that this adds.
            for version in list(self._versions.all(name)):
                self._versions.remove(version)
        self._cache.remove(asset)
        return was_there

    def left(self, asset: str) -> list[str]:
        """Name the cached copy, the object, each version and each unfinished upload."""
        name = _name(asset)
        url = f"s3://{self.bucket.location.bucket}/{self.bucket.key(name)}"
        cached = self._cache.path(asset)
        return [
            *([str(cached)] if cached.exists() else []),
            *([url] if self.bucket.head(name) is not None else []),
            *(f"{url}?versionId={version.id}" for version in self._versions.all(name)),
            *(f"{url}{_UPLOAD}{upload}" for _, upload in self._versions.uploads(name)),
        ]

    def stored(self) -> Iterator[Stored]:
        """Yield every object of the scope, and the uploads that were not finished."""
        for found in self.bucket.list():
            digest = found.name.rpartition("/")[2]
            asset = f"sha256:{digest}"
            named = len(digest) == _DIGEST_LENGTH and found.name == _name(asset)
            yield Stored(found.name, asset if named else None)
        for key, upload in self._versions.uploads():
            yield Stored(f"{key.removeprefix(self.bucket.location.prefix)}{_UPLOAD}{upload}", None)

    def discard(self, place: str) -> None:
        """Remove an object, or the parts of an upload."""
        name, marked, upload = place.partition(_UPLOAD)
        if marked:
            self._versions.abort(self.bucket.key(name), upload)
        else:
            self.bucket.delete(name)

    def _head(self, asset: str, size: int) -> Object:
        found = self.bucket.head(_name(asset))
        if found is None:
            raise DamageError(f"{asset} is missing", code="asset_missing")
        if found.size != size:
            raise DamageError(
                f"{asset} has {found.size} bytes, {size} were kept", code="asset_damaged"
            )
        return found

    def _fetch(self, asset: str) -> Path:
        with _missing(asset):
            return self._cache.add(asset, self.bucket.chunks(_name(asset)))

    def _sound(self, found: Object, asset: str, partial: Path, size: int) -> bool:
        """Tell whether an object is what it should be, by its ETag where that can be known."""
        if found.size != size:
            return False
        if found.stamp in self.bucket.tags_of(_read(partial), size):
            return True
        with contextlib.suppress(DamageError):
            self.check(asset, size)
            return True
        return False


def _name(asset: str) -> str:
    digest = asset.removeprefix("sha256:")
    return f"{digest[:2]}/{digest}"


def _stat(found: Object) -> Stat:
    stamp = int(sha256(found.stamp.encode()).hexdigest()[:15], 16)
    return Stat(found.size, found.modified_ns, 0, stamp)


def _read(path: Path) -> Iterator[bytes]:
    with files.open_plain(path) as stream:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def _damaged(asset: str) -> DamageError:
    return DamageError(f"{asset} no longer matches its hash", code="asset_damaged")


@contextlib.contextmanager
def _missing(asset: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise DamageError(f"{asset} is missing", code="asset_missing") from None
