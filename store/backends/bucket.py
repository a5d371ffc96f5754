"""One prefix of a bucket through ``obstore``: whole objects in and out, every upload proven.

The server proves what it took by an ETag that is the MD5 of what was sent (or of its parts); where
it is anything else, the object is read back and hashed. Requests are retried by the client; what
fails then becomes ``RemoteError``.
"""

import hashlib
from collections.abc import Generator, Iterable, Iterator
from datetime import timedelta
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

from muniment.store.asset_places import Location
from muniment.store.backends.access import Access, access
from muniment.store.backends.client import faults, library_of_stores, status_of
from muniment.store.backends.uploads import Sent, part_of
from muniment.store.errors import RemoteError

_PARTS_AT_ONCE = 2
_STREAM_BYTES = 1024 * 1024
_RETRIES: Any = {
    "max_retries": 4, "retry_timeout": timedelta(seconds=30),
    "backoff": {"init_backoff": timedelta(milliseconds=200),
                "max_backoff": timedelta(seconds=4), "base": 2},
}  # fmt: skip
# Of a whole request; a part of 8 MiB has to pass in it.
_CLIENT = {"timeout": "120s", "connect_timeout": "5s", "read_timeout": "30s"}
_UNKNOWN = "501"  # what a server says to a condition, or anything else, that it does not know


class Object(NamedTuple):
    """One object as the server lists it; ``stamp`` changes with every writing."""

    name: str
    size: int
    stamp: str
    modified_ns: int


class Bucket:
    """The objects below one prefix; names are relative to it."""

    def __init__(
        self, location: Location, granted: Access | None = None, *, offline: bool = False
    ) -> None:
        self.location = location
        self._offline = offline
        self._granted = granted
        self._known = False
        self._conditional = True  # until the server says that it knows no conditions

    @cached_property
    def access(self) -> Access:
        """What opens the server, read when it is first needed; ``RemoteError`` when offline."""
        if self._offline:
            raise RemoteError(
                f"{self.location.url} is not asked: offline", code="offline",
                hint="leave --offline out",
            )  # fmt: skip
        return self._granted or access()

    @cached_property
    def _store(self) -> Any:
        library_of_stores()
        from obstore.store import S3Store

        own = self.access
        client: Any = {**_CLIENT, "allow_http": own.plain_http}
        config: dict[str, Any] = {
            "access_key_id": own.key, "secret_access_key": own.secret, "region": own.region,
            "virtual_hosted_style_request": False, "disable_bulk_delete": True,
        }  # fmt: skip
        config |= {"session_token": own.token} if own.token else {}
        config |= {"endpoint": own.endpoint} if own.endpoint else {}
        return S3Store(self.location.bucket, **config, client_options=client, retry_config=_RETRIES)

    def key(self, name: str) -> str:
        """Return the whole key of a name."""
        return self.location.prefix + name

    def head(self, name: str) -> Object | None:
        """Return what an object is; null when it does not exist."""
        library = library_of_stores()
        try:
            with faults(self.location.bucket):
                return self._object(library.head(self._store, self.key(name)))
        except FileNotFoundError:
            self._require_bucket()
            return None

    def chunks(self, name: str, offset: int = 0) -> Generator[bytes, None, None]:
        """Yield an object from a place on; raise ``FileNotFoundError`` when it does not exist.

        A server that sends the whole object for a part of it is borne with.
        """
        library = library_of_stores()
        options: Any = {"range": {"offset": offset}} if offset else None
        with faults(self.location.bucket):
            try:
                found = library.get(self._store, self.key(name), options=options)
            except library.exceptions.GenericError as error:
                if not offset or "non-partial" not in str(error):
                    raise
                found = library.get(self._store, self.key(name))
                yield from _from(offset, found.stream(min_chunk_size=_STREAM_BYTES))
                return
            for chunk in found.stream(min_chunk_size=_STREAM_BYTES):
                yield bytes(chunk)

    def read(self, name: str, start: int, length: int) -> bytes:
        """Return a part of an object; raise ``FileNotFoundError`` when it does not exist."""
        if length <= 0:
            return b""
        library = library_of_stores()
        with faults(self.location.bucket):
            try:
                return bytes(
                    library.get_range(self._store, self.key(name), start=start, length=length)
                )
            except library.exceptions.GenericError as error:
                if "non-partial" not in str(error):
                    raise
        found = bytearray()
        for chunk in self.chunks(name, start):
            found += chunk
            if len(found) >= length:
                break
        return bytes(found[:length])

    def list(self, folder: str = "") -> Iterator[Object]:
        """Yield every object below a folder, sorted by name."""
        library = library_of_stores()
        with faults(self.location.bucket):
            for page in library.list(self._store, self.key(folder) or None, chunk_size=1000):
                yield from map(self._object, page)

    def put(
        self, name: str, chunks: Iterable[bytes], *, create: bool = False, size: int = 0
    ) -> None:
        """Upload an object and prove it; ``size``, if known, sets how large its parts are.

        With ``create``, raises ``FileExistsError`` when there is one, by the server's own condition
        where it knows one and the object is small, and by looking first in any case.
        """
        if create and self.head(name) is not None:
            raise FileExistsError(name)
        part = part_of(size)
        source = iter(chunks)
        first = _take(source, part)
        sent = Sent(part)
        if len(first) < part:
            tag = self._send(name, sent.watch([first]), part, create=create, whole=first)
        else:
            tag = self._send(name, sent.watch(chain([first], source)), part, create=create)
        self._prove(name, sent, tag)

    def refuses_second(self, name: str, data: bytes) -> bool:
        """Tell whether the server itself refuses to write over a name when asked to."""
        try:
            self._send(name, iter([data]), len(data) + 1, create=True, whole=data)
        except FileExistsError:
            return True
        return False

    def tags_of(self, chunks: Iterable[bytes], size: int) -> set[str]:
        """Return the ETags that an object of these bytes has when :meth:`put` wrote it."""
        sent = Sent(part_of(size))
        for _ in sent.watch(chunks):
            pass
        return sent.tags()

    def delete(self, name: str) -> None:
        """Remove an object, or put a marker over it where the bucket keeps versions."""
        library = library_of_stores()
        with faults(self.location.bucket):
            try:
                library.delete(self._store, self.key(name))
            except FileNotFoundError:
                self._require_bucket()

    def _send(
        self, name: str, watched: Iterator[bytes], part: int, *, create: bool,
        whole: bytes | None = None,
    ) -> str:  # fmt: skip
        library = library_of_stores()
        with faults(self.location.bucket):
            try:
                if whole is not None:
                    answer = self._send_whole(name, b"".join(watched), create=create)
                else:
                    answer = library.put(
                        self._store, self.key(name), watched, use_multipart=True, chunk_size=part,
                        max_concurrency=_PARTS_AT_ONCE,
                    )  # fmt: skip
            except (library.exceptions.AlreadyExistsError, library.exceptions.PreconditionError):
                raise FileExistsError(name) from None
        return str(answer["e_tag"] or "").strip('"')

    def _send_whole(self, name: str, data: bytes, *, create: bool) -> Any:
        library = library_of_stores()
        if create and self._conditional:
            try:
                return library.put(self._store, self.key(name), data, mode="create")
            except library.exceptions.GenericError as error:
                if status_of(str(error)) != _UNKNOWN:
                    raise
                self._conditional = False
        return library.put(self._store, self.key(name), data, mode="overwrite")

    def _prove(self, name: str, sent: "Sent", tag: str) -> None:
        found = self.head(name)
        if found is None or found.size != sent.size:
            raise _unproven(self, name)
        if tag in sent.tags():
            return
        digest = hashlib.sha256()
        for chunk in self.chunks(name):
            digest.update(chunk)
        if digest.digest() != sent.whole.digest():
            raise _unproven(self, name)

    def _object(self, said: Any) -> Object:
        moment = said["last_modified"]
        return Object(
            said["path"].removeprefix(self.location.prefix), said["size"],
            (said["e_tag"] or "").strip('"') or moment.isoformat(),
            int(moment.timestamp()) * 1_000_000_000,
        )  # fmt: skip

    def _require_bucket(self) -> None:
        """Tell an object that is missing from a bucket that is: the answers look the same."""
        if not self._known:
            next(iter(self.list("muniment-probe/")), None)
            self._known = True


def _take(source: Iterator[bytes], amount: int) -> bytes:
    held = bytearray()
    while len(held) < amount:
        chunk = next(source, None)
        if chunk is None:
            break
        held += chunk
    return bytes(held)


def _from(offset: int, stream: Iterable[Any]) -> Iterator[bytes]:
    for chunk in stream:
        data = bytes(chunk)
        if offset < len(data):
            yield data[offset:]
        offset = max(0, offset - len(data))


def _unproven(bucket: Bucket, name: str) -> RemoteError:
    return RemoteError(
        f"s3://{bucket.location.bucket} did not keep {name} as it was sent", code="upload_damaged",
        hint="run the same command again; if it goes on, check the server",
    )  # fmt: skip
