"""Readers that misbehave, each in one way; loaded by the reading processes of the pool's tests."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from muniment.adapters.ports import Derived, Draft, Finding, Outcome, Source, Tools
from muniment.store.errors import InputError, MissingToolError
from muniment.store.records import BboxLocator, CharLocator


def draft(text: str) -> Draft:
    locator = CharLocator(start=0, end=len(text), line_start=1, line_end=1)
    return Draft(kind="text", text=text, locator=locator, confidence=1.0)


def words(source: Source) -> str:
    with source.open() as stream:
        return stream.read().decode()


class Good:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield draft(words(source))
        yield Outcome(status="ok", code="ok", message=str(os.getpid()))


class Aborting:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield draft("before the fall")
        os.abort()


class Segfaulting:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        ctypes.string_at(0)
        yield draft("never")


class KilledFromOutside:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        os.kill(os.getpid(), signal.SIGKILL)
        yield draft("never")


class Leaving:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        sys.exit(0)
        yield draft("never")


class Hanging:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        program = subprocess.Popen(["sleep", "600"], start_new_session=True)
        (source.scratch / "pids").write_text(f"{os.getpid()} {program.pid}")
        yield draft("before the wait")
        time.sleep(600)


class Greedy:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        held = []
        while True:
            held.append(bytearray(50_000_000))
            yield draft("more")


class Deep:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield from self.read(source, tools)


class Raising:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield draft("one")
        raise ValueError("bad\nheader \x1b[31m" + "x" * 1000)


class Encrypted:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield draft("cover")
        raise InputError("needs a password", code="encrypted", status="encrypted", hint="unlock it")


class Toolless:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        raise MissingToolError("ffmpeg was not found", hint="install ffmpeg")
        yield draft("never")


class Unpicklable:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield lambda: None  # type: ignore[misc]  # the fault


class Many:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        for number in range(100_000):
            yield draft(str(number))


class Talkative:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        sys.stdout.write("noise on stdout")
        os.write(1, b"noise on descriptor 1")
        yield draft("said: " + sys.stdin.read())


class Large:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        with (source.scratch / "large").open("wb") as stream:
            stream.truncate(2_000_000)
            stream.seek(2_000_000)
            stream.write(b"x")
        yield draft("never")


class Environment:
    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        for name in ("OMP_NUM_THREADS", "ORT_DISABLE_TELEMETRY", "OMP_WAIT_POLICY"):
            yield draft(f"{name}={os.environ[name]}")
        yield draft(f"cwd on path: {'' in sys.path or str(Path.cwd()) in sys.path}")


class Deriving:
    """Makes a file of each size that the bytes name."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        for size in map(int, words(source).split()):
            path = source.scratch / f"{size}.bin"
            path.write_bytes(bytes([size % 251]) * size)
            yield Derived("member", name=path.name, path=path)


class Beating:
    """Writes the time into the file that the bytes name, again and again."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        beat = Path(words(source))
        until = time.monotonic() + 600
        while time.monotonic() < until:
            beat.write_text(str(time.monotonic()))
            time.sleep(0.02)
        yield draft("done")


class Sleeping:
    """Sleeps as many seconds as the bytes say, and tells from when to when."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        yield draft(str(time.time()))
        time.sleep(float(words(source)))
        yield draft(str(time.time()))
        yield Outcome(status="ok", code="ok")


class Modelled:
    """Finds a page of lines after as many seconds as the bytes say a model would take."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        time.sleep(float(words(source)))
        for at in range(20):
            place = BboxLocator(x=0.1, y=at / 20, w=0.8, h=0.04)
            yield Draft(kind="ocr", text=f"line {at} of the page", locator=place, confidence=0.9)
