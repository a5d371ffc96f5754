"""Memory as a container sees it, and tiers that fall at once and rise slowly."""

from pathlib import Path

import pytest

from muniment.pipeline.machine import (
    GIB,
    MEASURE_SECONDS,
    TIERS,
    UPGRADE_SECONDS,
    Memory,
    Watch,
    measure,
    reason_for,
    tier_named,
    tier_of,
)
from muniment.store.errors import UsageError


@pytest.mark.parametrize(
    ("total", "free", "name"),
    [
        (32, 20.0, "full"),
        (16, 6.0, "full"),
        (16, 5.9, "standard"),
        (15.9, 15.0, "standard"),
        (8, 2.5, "standard"),
        (8, 2.4, "lite"),
        (4, 4.0, "lite"),
        (0.5, 0.0, "lite"),
    ],
)
def test_a_tier_needs_memory_in_all_and_memory_free(total: float, free: float, name: str) -> None:
    assert tier_of(Memory(int(total * GIB), int(free * GIB), "machine")).name == name


def test_every_tier_has_a_floor_that_works() -> None:
    assert all(tier.jobs_on(1) == 1 and tier.readers >= 1 for tier in TIERS)
    assert all(tier.texts >= 1 and tier.hops >= 1 and tier.depth > 0 for tier in TIERS)
    assert [tier.jobs_on(8) for tier in TIERS] == [8, 2, 1]
    for name in ("texts", "hops", "depth"):
        sizes = [getattr(tier, name) for tier in TIERS]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]


@pytest.mark.parametrize(
    ("total", "free", "said"),
    [
        (32, 20, "enough memory"),
        (32, 4, "4.0 of 6 GiB free, full needs"),
        (12, 9, "12.0 of 16 GiB in all, full needs"),
        (4, 1, "4.0 of 8 GiB in all and 1.0 of 2.5 GiB free, standard needs"),
    ],
)
def test_a_tier_says_why_it_is_the_one(total: int, free: int, said: str) -> None:
    memory = Memory(total * GIB, free * GIB, "machine")

    assert said in reason_for(tier_of(memory), memory)


def group(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text + "\n")


def test_the_tightest_limit_of_the_groups_above_counts(tmp_path: Path) -> None:
    (tmp_path / "membership").write_text("0::/outer/inner\n")
    group(tmp_path / "fs" / "outer", memory__max=str(GIB), memory__current=str(GIB // 2),
          memory__stat=f"anon 1\ninactive_file {GIB // 4}")  # fmt: skip
    group(tmp_path / "fs" / "outer" / "inner", memory__max="max", memory__current="1")

    found = measure(tmp_path / "membership", tmp_path / "fs")

    assert found == Memory(GIB, GIB - GIB // 4, "cgroup")


def test_the_older_layout_is_read_too_and_its_largest_number_is_no_limit(tmp_path: Path) -> None:
    (tmp_path / "membership").write_text("5:cpu:/x\n4:memory:/box\n")
    group(tmp_path / "fs" / "memory", memory__limit_in_bytes="9223372036854771712",
          memory__usage_in_bytes="5")  # fmt: skip
    group(tmp_path / "fs" / "memory" / "box", memory__limit_in_bytes=str(GIB),
          memory__usage_in_bytes=str(GIB // 2))  # fmt: skip

    assert measure(tmp_path / "membership", tmp_path / "fs") == Memory(GIB, GIB // 2, "cgroup")


def test_memory_is_read_off_the_systems_file_else_asked_of_psutil(tmp_path: Path) -> None:
    said = tmp_path / "meminfo"
    said.write_text("MemTotal:       2048 kB\nMemFree: 1 kB\nMemAvailable:    1024 kB\n")

    assert measure(tmp_path / "none", tmp_path, said) == Memory(2 << 20, 1 << 20, "machine")
    assert measure(tmp_path / "none", tmp_path, tmp_path / "no").total > GIB // 4


def test_without_groups_the_machine_counts(tmp_path: Path) -> None:
    found = measure(tmp_path / "none", tmp_path)

    assert found.limited_by == "machine"
    assert found.total > found.free > 0


class Machine:
    """Memory and time as a test wants them."""

    def __init__(self) -> None:
        self.free = 10.0
        self.now = 0.0
        self.measured = 0

    def probe(self) -> Memory:
        self.measured += 1
        return Memory(16 * GIB, int(self.free * GIB), "machine")

    def watch(self, pinned: str | None = None) -> Watch:
        return Watch(pinned, probe=self.probe, clock=lambda: self.now)


def test_it_falls_at_once_and_rises_when_it_has_lasted() -> None:
    machine = Machine()
    watch = machine.watch()
    assert watch.tier().name == "full"

    machine.free, machine.now = 1.0, MEASURE_SECONDS
    assert watch.tier().name == "lite"

    machine.free = 10.0
    machine.now += MEASURE_SECONDS
    assert watch.tier().name == "lite"
    machine.now += UPGRADE_SECONDS - 1
    assert watch.tier().name == "lite"
    machine.free, machine.now = 1.0, machine.now + MEASURE_SECONDS
    assert watch.tier().name == "lite"
    machine.free, machine.now = 10.0, machine.now + MEASURE_SECONDS
    assert watch.tier().name == "lite"
    machine.now += UPGRADE_SECONDS
    assert watch.tier().name == "full"


def test_memory_is_not_measured_all_the_time() -> None:
    machine = Machine()
    watch = machine.watch()

    for _ in range(100):
        watch.tier()

    assert machine.measured == 1


def test_a_pinned_tier_is_not_measured_and_must_exist() -> None:
    machine = Machine()

    assert machine.watch("lite").tier().name == "lite"
    assert machine.measured == 0
    with pytest.raises(UsageError):
        tier_named("huge")
