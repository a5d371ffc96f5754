"""A backup destination in an S3-compatible bucket."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from muniment.store.asset_places import Location
from muniment.store.backends.bucket import Bucket
from muniment.store.backends.leases import FOLDER, Leases
from muniment.store.backends.versions import Versions
from muniment.store.errors import DamageError
from muniment.store.ports import Held, Region

_WHOLE_BYTES = 8 * 1024 * 1024


class RemoteRegion:
    """The bytes of one object: a small one is read at once, a large one as far as it is asked for.

    Reading on from where the last reading ended goes on with the same answer of the server.
    """

    def __init__(self, bucket: Bucket, name: str, size: int) -> None:
        self._bucket, self._name = bucket, name
        self.size = size
        self._held = b""
        self._start = 0
        self._coming: Generator[bytes, None, None] | None = None

    def read_at(self, offset: int, size: int) -> bytes:
        """Return the bytes there, fewer only at the end of the object."""
        end = min(offset + size, self.size)
        if offset >= end:
            return b""
        if self._coming is None or not self._start <= offset <= self._start + len(self._held):
            self._begin(offset)
        while self._start + len(self._held) < end:
            chunk = next(self._coming, None) if self._coming is not None else None
            if chunk is None:
                break
            self._held = self._held[self._passed(offset) :] + chunk
        return self._held[offset - self._start : end - self._start]

    def close(self) -> None:
        """Let the answer of the server go."""
        if self._coming is not None:
            self._coming.close()

    def _begin(self, offset: int) -> None:
        self.close()
        self._start, self._held = (0 if self.size <= _WHOLE_BYTES else offset), b""
        self._coming = self._chunks(self._start)

    def _passed(self, offset: int) -> int:
        """Move the start past what a large object will hardly be asked for again."""
        if self.size <= _WHOLE_BYTES:
            return 0
        passed = min(max(0, offset - self._start), len(self._held))
        self._start += passed
        return passed

    def _chunks(self, offset: int) -> Generator[bytes, None, None]:
        try:
            yield from self._bucket.chunks(self._name, offset)
        except FileNotFoundError:
            raise _missing(self._name) from None


class RemoteDestination:
    """One prefix of a bucket; a name below it is a key."""

    temporary: Path | None = None

    def __init__(self, url: str) -> None:
        self._bucket = Bucket(Location.parse(url))
        self._versions = Versions(self._bucket)
        self._leases = Leases(self._bucket)
        self.name = self._bucket.location.url

    def read(self, name: str) -> bytes | None:
        """Read an object."""
        try:
            return b"".join(self._bucket.chunks(name))
        except FileNotFoundError:
            self._bucket.head(name)  # tells a bucket that is missing
            return None

    def is_free(self) -> bool:
        """Tell whether nothing lies below the prefix but leases."""
        return all(found.name.startswith(FOLDER) for found in self._bucket.list())

    def make(self) -> None:
        """Do nothing: keys need no folders."""

    def size(self, name: str) -> int | None:
        """Ask for the object's size."""
        found = self._bucket.head(name)
        return None if found is None else found.size

    def names(self, folder: str) -> Iterator[Held]:
        """List a folder."""
        for found in self._bucket.list(f"{folder}/"):
            yield Held(found.name, found.size)

    @contextmanager
    def opened(self, name: str) -> Iterator[Region]:
        """Open an object."""
        found = self._bucket.head(name)
        if found is None:
            raise _missing(name)
        region = RemoteRegion(self._bucket, name, found.size)
        try:
            yield region
        finally:
            region.close()

    def put(
        self, name: str, chunks: Iterable[bytes], *, over: bool = False,
        check: Callable[[Region], None] | None = None,
    ) -> None:  # fmt: skip
        """Upload an object; the upload itself proves what the server holds."""
        self._leases.require()
        self._bucket.put(name, chunks, create=not over)

    def remove(self, name: str) -> None:
        """Remove an object and every version of it."""
        self._leases.require()
        self._bucket.delete(name)
        for version in list(self._versions.all(name)):
            self._versions.remove(version)

    @contextmanager
    def writing(self, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold the lease alone; uploads that nobody goes on with are dropped."""
        with self._leases.hold("write", wait_seconds):
            for key, upload in list(self._versions.uploads()):
                self._versions.abort(key, upload)
            yield

    def reading(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Share the lease with other readers."""
        return self._leases.hold("read", wait_seconds)


def _missing(name: str) -> DamageError:
    return DamageError(f"object {name.rpartition('/')[2]} is missing", code="object_missing")
