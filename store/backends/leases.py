"""Who uses a prefix of a bucket, in a place that knows no locks: small objects with a time limit.

Each user puts an object of its own and then looks for others that stand in its way, so of two who
come at once at least one sees the other. Times are the server's. A lease is put again while it is
in use; that of a process that died is ignored once it is old, and removed by the next writer.
"""

import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from muniment.store.backends.bucket import Bucket, Object
from muniment.store.errors import LockedError, RemoteError

FOLDER = "leases/"
SECONDS = 120.0
_RENEWALS = 4  # in that time
_POLL_SECONDS = 0.5
_NANOSECONDS = 1_000_000_000


class Leases:
    """The leases on one prefix, and the one that this process holds for writing."""

    def __init__(self, bucket: Bucket, seconds: float = SECONDS) -> None:
        self._bucket = bucket
        self._seconds = seconds
        self._good_until: float | None = None

    @contextmanager
    def hold(self, kind: str, wait_seconds: float = 0.0) -> Iterator[None]:
        """Hold a lease, ``write`` alone or ``read`` with others; raise ``LockedError``."""
        name = self._take(kind, time.monotonic() + wait_seconds)
        ended = threading.Event()
        keeper = threading.Thread(target=self._keep, args=(name, ended), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            ended.set()
            keeper.join()
            if kind == "write":
                self._good_until = None
            with suppress(RemoteError):  # it will be too old soon
                self._bucket.delete(name)

    def require(self) -> None:
        """Raise ``LockedError`` when the lease for writing could not be renewed in time."""
        if self._good_until is not None and time.monotonic() > self._good_until:
            raise LockedError(
                "the lease on the repository has run out",
                code="lease_lost",
                hint="run the same command again",
            )

    def _take(self, kind: str, deadline: float) -> str:
        while True:
            name = f"{FOLDER}{kind}-{secrets.token_hex(8)}"
            self._put(name)
            others = self._in_the_way(name, kind)
            if others is None:
                if kind == "write":
                    self._good_until = time.monotonic() + self._seconds * 3 / 4
                return name
            self._bucket.delete(name)
            if time.monotonic() >= deadline:
                raise self._locked(others)
            # Two who came at once may both have given way.
            time.sleep(_POLL_SECONDS * (1 + secrets.randbelow(100) / 100))

    def _in_the_way(self, own: str, kind: str) -> Object | None:
        found = list(self._bucket.list(FOLDER))
        now = max((one.modified_ns for one in found if one.name == own), default=None)
        if now is None:
            raise RemoteError("the object store does not list what was just written to it")
        for other in found:
            if other.name == own or not (kind == "write" or _is_writer(other)):
                continue
            if now - other.modified_ns <= self._seconds * _NANOSECONDS:
                return other
            if kind == "write":
                self._bucket.delete(other.name)
        return None

    def _keep(self, name: str, ended: threading.Event) -> None:
        while not ended.wait(self._seconds / _RENEWALS):
            begun = time.monotonic()
            with suppress(RemoteError):
                self._put(name)
                if self._good_until is not None:
                    self._good_until = begun + self._seconds * 3 / 4

    def _put(self, name: str) -> None:
        said = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:2]])}
        self._bucket.put(name, [json.dumps(said).encode()])

    def _locked(self, other: Object) -> LockedError:
        holder = "another process"
        with suppress(RemoteError, FileNotFoundError, ValueError, KeyError, TypeError):
            said = json.loads(b"".join(self._bucket.chunks(other.name)))
            holder = f"process {int(said['pid'])} ({said['command']}), here or elsewhere"
        return LockedError(
            f"locked by {holder}", hint="try again later, or wait with --lock-wait SECONDS",
            path=self._bucket.location.url,
        )  # fmt: skip


def _is_writer(lease: Object) -> bool:
    return lease.name.startswith(f"{FOLDER}write-")
