"""``ingest --watch``: look at the folders again and again, and take what has stopped changing.

Plain polling works on every file system. A file is taken once its size, times and inode have stood
still for the settling time; what it is was decided by its bytes, so a rename reads nothing again.
"""

import base64
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TypeAlias

from muniment.pipeline.stages.run import Tally
from muniment.pipeline.stages.walk import Found, Walked
from muniment.store.assets import Stat
from muniment.store.errors import LockedError

POLL_SECONDS = 1.0
# Looking takes a small part of the time, however large the folders are.
_PAUSE_FACTOR = 10
# These say that the file was not still after all.
_UNSETTLED = frozenset({"changed", "missing"})

Walk: TypeAlias = Callable[[], Iterable[Walked]]
Ingest: TypeAlias = Callable[[Iterable[Walked]], Tally]


@dataclass(slots=True)
class Settling:
    """What is known of the files of the watched folders; times are of a monotonic clock."""

    seconds: float
    _done: dict[bytes, Stat] = field(default_factory=dict)
    _waiting: dict[bytes, tuple[Stat, float]] = field(default_factory=dict)

    def ready(self, seen: Iterable[tuple[bytes, Stat]], now: float) -> list[bytes]:
        """Return the paths, in their order, that are new or changed and stand still since."""
        waiting, ready, there = {}, [], set()
        for path, stat in seen:
            there.add(path)
            if self._done.get(path) == stat:
                continue
            before = self._waiting.get(path)
            since = before[1] if before is not None and before[0] == stat else now
            waiting[path] = stat, since
            if now - since >= self.seconds:
                ready.append(path)
        self._waiting = waiting
        self._done = {path: stat for path, stat in self._done.items() if path in there}
        return ready

    def took(self, paths: Iterable[bytes]) -> None:
        """Remember files as they were when they were found to be ready."""
        for path in paths:
            self._done[path] = self._waiting.pop(path)[0]

    def forget(self, paths: Iterable[bytes]) -> None:
        """Look at files again that were not still after all."""
        for path in paths:
            self._done.pop(path, None)


@dataclass(slots=True)
class Watch:
    """One watch: ``walk`` finds the files, ``ingest`` takes some through the stages."""

    walk: Walk
    ingest: Ingest
    tally: Tally
    settle_seconds: float
    warn: Callable[[str], None]
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        """Follow the folders until asked to stop; what is in hand then is finished."""
        settling = Settling(self.settle_seconds)
        while not self.stop.is_set():
            started = time.monotonic()
            ready = settling.ready(self._look(), started)
            took = time.monotonic() - started
            if ready and not self.stop.is_set():
                self._take(settling, ready)
            self.stop.wait(max(POLL_SECONDS, took * _PAUSE_FACTOR))

    def _look(self) -> Iterator[tuple[bytes, Stat]]:
        for item in self.walk():
            if isinstance(item, Found):
                try:
                    yield item.path, Stat.of(os.lstat(item.path))
                except OSError:
                    continue  # gone since; its next name is found by itself

    def _take(self, settling: Settling, ready: list[bytes]) -> None:
        settling.took(ready)
        try:
            done = self.ingest(map(Found, ready))
        except LockedError as error:
            settling.forget(ready)
            self.warn(f"muniment: {error.message} ({error.code}); trying again")
            return
        moved = [fault for fault in done.failed if fault["code"] in _UNSETTLED]
        settling.forget(map(_path, moved))
        done.failed = [fault for fault in done.failed if fault not in moved]
        _join(self.tally, done)


def _path(fault: dict[str, str]) -> bytes:
    encoded = fault.get("path_b64")
    return base64.b64decode(encoded) if encoded else os.fsencode(fault["path"])


def _join(whole: Tally, part: Tally) -> None:
    for name, count in part.counts.items():
        whole.add(name, count)
    whole.failed += part.failed
    whole.skipped += part.skipped
    whole.standing_failures = part.standing_failures
    whole.warnings += [note for note in part.warnings if note not in whole.warnings]


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[list[int]]:
    """Let the first Ctrl-C or SIGTERM set an event, a second one end at once; yield which came."""
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        event.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in before:
        signal.signal(number, ask)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
