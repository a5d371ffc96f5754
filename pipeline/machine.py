"""What the machine can bear: memory as this process may use it, and the tier that follows from it.

A container's limit counts, not the host's memory. A tier goes down at once and up slowly, so that
work does not swing with each measurement. Every tier can do everything; lower ones do less at once.
"""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from muniment.store.errors import UsageError

GIB = 1024**3
UPGRADE_SECONDS = 300.0
MEASURE_SECONDS = 5.0
# A limit of about this much is none: version 1 writes the largest page count that there is.
_NO_LIMIT = 1 << 60


class Memory(NamedTuple):
    """Bytes: all that this process may use, what is free of it, and who sets the limit."""

    total: int
    free: int
    limited_by: str


@dataclass(frozen=True, slots=True)
class Tier:
    """How much is done at once. ``jobs`` null means one for each core.

    ``texts`` are embedded in one batch, ``hops`` followed from who a question names, ``depth`` is
    the share of the usual number of hits that a search looks through.
    """

    name: str
    least_total: int
    least_free: int
    jobs: int | None
    readers: int
    texts: int
    hops: int
    depth: float

    def jobs_on(self, cores: int) -> int:
        """Return how many workers may run."""
        return cores if self.jobs is None else min(cores, self.jobs)


TIERS = (
    Tier("full", 16 * GIB, 6 * GIB, None, 4, 64, 2, 1.0),
    Tier("standard", 8 * GIB, int(2.5 * GIB), 2, 2, 32, 1, 1.0),
    Tier("lite", 0, 0, 1, 1, 8, 1, 0.5),
)


def tier_named(name: str) -> Tier:
    """Return a tier by its name. Raises ``UsageError``."""
    for tier in TIERS:
        if tier.name == name:
            return tier
    known = ", ".join(tier.name for tier in TIERS)
    raise UsageError(f"there is no tier {name!r}", code="bad_value", hint=f"use one of: {known}")


def tier_of(memory: Memory) -> Tier:
    """Return the highest tier whose memory there is."""
    return next(
        tier
        for tier in TIERS
        if memory.total >= tier.least_total and memory.free >= tier.least_free
    )


def measure(
    membership: Path = Path("/proc/self/cgroup"),
    groups: Path = Path("/sys/fs/cgroup"),
    machine: Path = Path("/proc/meminfo"),
) -> Memory:
    """Return the memory that this process may use: the machine's, or the tightest limit's."""
    found = _of_machine(machine)
    for limit, used in _limits(membership, groups):
        if limit < found.total:
            found = Memory(limit, min(found.free, max(0, limit - used)), "cgroup")
        else:
            found = found._replace(free=min(found.free, max(0, limit - used)))
    return found


def _of_machine(path: Path) -> Memory:
    """Return the machine's memory. Linux says it in a file, which is far quicker than psutil."""
    with contextlib.suppress(OSError, ValueError, IndexError, KeyError):
        lines = (line.partition(":") for line in path.read_text("ascii").splitlines())
        said = {name: int(value.split()[0]) * 1_024 for name, _, value in lines}
        return Memory(said["MemTotal"], said["MemAvailable"], "machine")
    import psutil

    machine = psutil.virtual_memory()
    return Memory(int(machine.total), int(machine.available), "machine")


def _limits(membership: Path, groups: Path) -> list[tuple[int, int]]:
    """Return (limit, in use) of the group of this process and of each above it."""
    found = []
    for version, folder, path in _memory_groups(membership, groups):
        here = folder / path.lstrip("/")
        while here.is_relative_to(folder):
            limit = _number(here / _LIMIT[version])
            used = _number(here / _USED[version])
            if limit is not None and used is not None and limit < _NO_LIMIT:
                found.append((limit, max(0, used - _reclaimable(here, version))))
            if here == folder:
                break
            here = here.parent
    return found


_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
_USED = {1: "memory.usage_in_bytes", 2: "memory.current"}
_CACHE = {1: "total_inactive_file", 2: "inactive_file"}


def _memory_groups(membership: Path, groups: Path) -> list[tuple[int, Path, str]]:
    """Return (version, where it is mounted, path) of each memory group of this process."""
    try:
        lines = membership.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            found.append((2, groups, path))
        elif "memory" in controllers.split(","):
            found.append((1, groups / "memory", path))
    return found


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):  # there is no such file, or it says ``max``
        return None


def _reclaimable(group: Path, version: int) -> int:
    """Return the bytes of cached files that the kernel gives back when they are wanted."""
    with contextlib.suppress(OSError, ValueError):
        for line in (group / "memory.stat").read_text("ascii").splitlines():
            name, _, value = line.partition(" ")
            if name == _CACHE[version]:
                return int(value)
    return 0


def reason_for(tier: Tier, memory: Memory) -> str:
    """Say why a tier is the one, and what the next one up asks for."""
    above = TIERS[: TIERS.index(tier)]
    if not above:
        return "enough memory in all and free"
    wanted = above[-1]
    short = [
        f"{has / GIB:.1f} of {needs / GIB:g} GiB {what}"
        for has, needs, what in (
            (memory.total, wanted.least_total, "in all"),
            (memory.free, wanted.least_free, "free"),
        )
        if has < needs
    ]
    return f"{' and '.join(short) or 'not for long yet'}, {wanted.name} needs that"


class Watch:
    """Follows the memory: the tier falls as soon as it is short, and rises when it has lasted."""

    def __init__(
        self,
        pinned: str | None = None,
        *,
        probe: Callable[[], Memory] = measure,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pinned = tier_named(pinned) if pinned else None
        self._probe = probe
        self._clock = clock
        self._tier: Tier | None = None
        self._measured = 0.0
        self._better_since: float | None = None

    def tier(self) -> Tier:
        """Return the tier of this moment; memory is measured every few seconds at most."""
        if self._pinned is not None:
            return self._pinned
        at = self._clock()
        if self._tier is not None and at - self._measured < MEASURE_SECONDS:
            return self._tier
        self._measured = at
        self._tier = self._settled(tier_of(self._probe()), at)
        return self._tier

    def _settled(self, found: Tier, at: float) -> Tier:
        held = self._tier
        if held is None or TIERS.index(found) >= TIERS.index(held):
            self._better_since = None
            return found
        if self._better_since is None:
            self._better_since = at
        if at - self._better_since < UPGRADE_SECONDS:
            return held
        self._better_since = None
        return found

    def jobs(self) -> int:
        """Return how many workers may run at this moment."""
        return self.tier().jobs_on(cores())


def cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not every system tells
        return os.cpu_count() or 1
