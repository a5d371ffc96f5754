import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, ReaderSpec, Source
from muniment.pipeline.executor import WINDOW, InProcess, Pool
from muniment.pipeline.tasks import ReaderSetup, Task, TaskResult

SUPPORT = Path(__file__).parent.parent / "support"
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def _readers_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.syspath_prepend(SUPPORT)


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(ReaderSetup(ModelSettings()), jobs=1) as made:
        yield made


def task(
    reader: str,
    scratch: Path,
    *,
    key: str = "",
    data: bytes = b"hi",
    lane: str = "parse",
    seconds: float | None = None,
) -> Task:
    spec = ReaderSpec(
        name=reader,
        version="1",
        families=frozenset({"text"}),
        lane=lane,
        kinds=("text",),
        target=f"worker_readers:{reader}",
    )
    source = Source("sha256:00", len(data), "text/plain", "text", "a.txt", scratch, data=data)
    return Task(key or reader, spec, source, seconds)


def one(pool: Pool, asked: Task) -> TaskResult:
    (result,) = pool.run([asked])
    return result


def texts(result: TaskResult) -> list[str]:
    return [finding.text for finding in result.findings if isinstance(finding, Draft)]


def pid(result: TaskResult) -> str:
    return next(found.message for found in result.findings if isinstance(found, Outcome))


def alive(process: int) -> bool:
    """Tell whether a process runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until_dead(processes: list[int], seconds: float) -> list[int]:
    until = time.monotonic() + seconds
    while time.monotonic() < until and any(map(alive, processes)):
        time.sleep(0.05)
    return [process for process in processes if alive(process)]


def test_a_process_is_kept_for_the_next_task(pool: Pool, tmp_path: Path) -> None:
    results = list(pool.run(task("Good", tmp_path, key=str(n)) for n in range(3)))

    assert [result.failure for result in results] == [None] * 3
    assert [texts(result) for result in results] == [["hi"]] * 3
    assert len({pid(result) for result in results}) == 1


@pytest.mark.parametrize(
    ("reader", "word", "transient"),
    [
        ("Aborting", "SIGABRT", False),
        ("Segfaulting", "SIGSEGV", False),
        ("KilledFromOutside", "SIGKILL", True),
    ],
)
def test_a_process_that_dies_fails_its_item_and_the_pool_goes_on(
    pool: Pool, tmp_path: Path, reader: str, word: str, transient: bool
) -> None:
    fallen, good = pool.run([task(reader, tmp_path), task("Good", tmp_path)])

    assert fallen.failure is not None
    assert fallen.failure.code == "worker_died"
    assert word in fallen.failure.message
    assert fallen.failure.transient is transient
    assert good.failure is None


def test_an_item_over_its_time_is_ended_with_the_programs_it_started(
    pool: Pool, tmp_path: Path
) -> None:
    one(pool, task("Good", tmp_path))  # so that starting takes nothing of the time
    result = one(pool, task("Hanging", tmp_path, seconds=2))

    assert result.failure is not None
    assert (result.failure.code, result.failure.transient) == ("time_limit", True)
    assert texts(result) in ([], ["before the wait"])  # a batch is sent when full or at the end
    processes = [int(word) for word in (tmp_path / "pids").read_text().split()]
    assert wait_until_dead(processes, 2) == []


def test_a_reader_that_needs_too_much_memory_is_told_so_and_its_process_is_replaced(
    tmp_path: Path,
) -> None:
    limits = Limits(worker_memory_bytes=400 * MIB)
    with Pool(ReaderSetup(ModelSettings(), limits), jobs=1) as pool:
        before, greedy, after = pool.run(
            [task("Good", tmp_path), task("Greedy", tmp_path), task("Good", tmp_path)]
        )

    assert greedy.failure is not None
    assert greedy.failure.code == "memory_limit"
    assert after.failure is None
    assert pid(before) != pid(after)


def test_a_file_over_the_limit_is_a_failure_of_its_item(tmp_path: Path) -> None:
    limits = Limits(max_unpacked_bytes=MIB)
    with Pool(ReaderSetup(ModelSettings(), limits), jobs=1) as pool:
        result = one(pool, task("Large", tmp_path))

    assert result.failure is not None
    assert result.failure.code == "io_error"


def test_what_a_reader_raises_becomes_one_line_without_a_traceback(
    pool: Pool, tmp_path: Path
) -> None:
    result = one(pool, task("Raising", tmp_path))

    assert texts(result) == ["one"]
    assert result.failure is not None
    assert result.failure.code == "reader_error"
    assert result.failure.message.startswith("ValueError: bad header [31mxxx")
    assert len(result.failure.message) <= 300
    assert result.failure.message.isprintable()


def test_an_input_error_keeps_its_code_status_and_hint(pool: Pool, tmp_path: Path) -> None:
    failure = one(pool, task("Encrypted", tmp_path)).failure

    assert failure is not None
    assert (failure.code, failure.status, failure.transient) == ("encrypted", "encrypted", False)
    assert failure.hint == "unlock it"


def test_a_missing_tool_is_tried_again_by_the_next_run(pool: Pool, tmp_path: Path) -> None:
    failure = one(pool, task("Toolless", tmp_path)).failure

    assert failure is not None
    assert (failure.code, failure.transient) == ("missing_tool", True)


@pytest.mark.parametrize("reader", ["Deep", "Leaving", "Unpicklable"])
def test_recursion_exit_and_odd_findings_are_reader_errors(
    pool: Pool, tmp_path: Path, reader: str
) -> None:
    failure = one(pool, task(reader, tmp_path)).failure

    assert failure is not None
    assert failure.code == "reader_error"


def test_a_reader_that_can_not_be_loaded_fails_its_item(pool: Pool, tmp_path: Path) -> None:
    failure = one(pool, task("Absent", tmp_path)).failure

    assert failure is not None
    assert one(pool, task("Good", tmp_path)).failure is None


def test_a_hundred_thousand_drafts_arrive_in_order(pool: Pool, tmp_path: Path) -> None:
    found = texts(one(pool, task("Many", tmp_path)))

    assert found == [str(number) for number in range(100_000)]


def test_a_reader_gets_neither_our_stdin_nor_our_stdout(tmp_path: Path) -> None:
    program = SUPPORT / "pool_program.py"
    ended = subprocess.run(
        [sys.executable, program, tmp_path, "Talkative"],
        input=b"secret words",
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert ended.stdout == b"said: |stdin left: secret words"
    assert ended.stderr == b""


def test_the_model_runtimes_are_told_to_be_quiet_before_they_start(
    pool: Pool, tmp_path: Path
) -> None:
    assert texts(one(pool, task("Environment", tmp_path))) == [
        "OMP_NUM_THREADS=1",
        "ORT_DISABLE_TELEMETRY=1",
        "OMP_WAIT_POLICY=passive",
        "cwd on path: False",
    ]


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_parent_that_is_killed_leaves_no_process_behind(
    tmp_path: Path, how: signal.Signals
) -> None:
    program = SUPPORT / "pool_program.py"
    parent = subprocess.Popen([sys.executable, program, tmp_path, "Hanging"])
    pids = tmp_path / "pids"
    until = time.monotonic() + 30
    while time.monotonic() < until and not (pids.exists() and len(pids.read_text().split()) == 2):
        time.sleep(0.05)
    processes = [int(word) for word in pids.read_text().split()]

    parent.send_signal(how)
    parent.wait(timeout=10)

    assert wait_until_dead(processes, 5) == []


def test_an_interrupt_of_the_terminal_does_not_reach_the_processes(
    pool: Pool, tmp_path: Path
) -> None:
    first = one(pool, task("Good", tmp_path))
    process = int(pid(first))

    assert os.getsid(process) != os.getsid(0)
    os.kill(process, signal.SIGINT)

    assert pid(one(pool, task("Good", tmp_path))) == str(process)


def test_a_process_that_dies_while_idle_costs_no_item(pool: Pool, tmp_path: Path) -> None:
    process = int(pid(one(pool, task("Good", tmp_path))))
    os.kill(process, signal.SIGKILL)

    again = one(pool, task("Good", tmp_path))

    assert again.failure is None
    assert pid(again) != str(process)


def test_tasks_are_pulled_a_window_ahead_at_most(pool: Pool, tmp_path: Path) -> None:
    pulled = 0

    def tasks() -> Iterator[Task]:
        nonlocal pulled
        for number in range(1000):
            pulled += 1
            yield task("Good", tmp_path, key=str(number))

    results = pool.run(tasks())
    next(results)

    assert pulled <= 2 * WINDOW
    results.close()


def test_a_lane_holds_its_process_until_its_tasks_at_hand_are_done(
    pool: Pool, tmp_path: Path
) -> None:
    lanes = ["ocr", "parse"] * 4
    results = list(
        pool.run(task("Good", tmp_path, key=f"{n}", lane=lane) for n, lane in enumerate(lanes))
    )

    assert sorted(result.key for result in results) == [str(n) for n in range(8)]
    assert len({pid(result) for result in results}) == 2


def test_two_jobs_run_at_once_and_never_more(tmp_path: Path) -> None:
    with Pool(ReaderSetup(ModelSettings()), jobs=2) as pool:
        results = list(pool.run(task("Good", tmp_path, key=str(n)) for n in range(40)))

    assert len(results) == 40
    assert 1 <= len({pid(result) for result in results}) <= 2


def test_leaving_the_results_early_ends_what_is_running(pool: Pool, tmp_path: Path) -> None:
    results = pool.run([task("Good", tmp_path), task("Hanging", tmp_path)])
    next(results)
    results.close()

    assert one(pool, task("Good", tmp_path)).failure is None


def test_the_same_tasks_read_in_process_give_the_same_results(tmp_path: Path, pool: Pool) -> None:
    here = InProcess(ReaderSetup(ModelSettings()))
    for reader in ("Good", "Raising", "Encrypted"):
        (result,) = here.run([task(reader, tmp_path)])
        there = one(pool, task(reader, tmp_path))

        assert (result.failure, sizes(result.findings)) == (there.failure, sizes(there.findings))


def sizes(findings: list[Finding]) -> int:
    return len(findings)


def test_processes_that_are_too_many_end_when_they_are_idle(tmp_path: Path) -> None:
    with Pool(ReaderSetup(ModelSettings()), jobs=2) as pool:
        lanes = [task("Good", tmp_path, key=lane, lane=lane) for lane in ("parse", "ocr")]
        assert len(list(pool.run(lanes))) == 2
        processes = [worker.process for worker in pool._workers]
        assert len(processes) == 2

        pool.jobs = 1
        assert len(list(pool.run(lanes))) == 2

        assert len(pool._workers) == 1
        assert any(process.returncode is not None for process in processes)
