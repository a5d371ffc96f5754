"""What every executor does: in this process, in processes of this machine, on a Ray cluster."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from itertools import count
from pathlib import Path

import pytest
from support.service_ray import RayNodes

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Derived, Draft, Limits, Outcome, ReaderSpec, Source
from muniment.pipeline.cluster.connection import connected
from muniment.pipeline.cluster.executor import RayExecutor
from muniment.pipeline.cluster.settings import ClusterSettings
from muniment.pipeline.executor import InProcess, Pool
from muniment.pipeline.tasks import Executor, ReaderSetup, Task, TaskResult

SUPPORT = Path(__file__).parent.parent / "support"
MOST_AHEAD = 128
ENGINES = ("in_process", "pool", pytest.param("ray", marks=pytest.mark.services))

Tasks = Callable[..., Task]


@pytest.fixture(autouse=True)
def _readers_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.syspath_prepend(SUPPORT)


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Name the engine; the cluster is connected to once, for that takes seconds."""
    name: str = request.param
    if name != "ray":
        yield name
        return
    nodes: RayNodes = request.getfixturevalue("ray_cluster")
    with connected(nodes.address):
        yield name


@pytest.fixture
def executor(engine: str) -> Iterator[Executor]:
    with closing(made(engine)) as executor:
        yield executor


def made(engine: str, tick: Callable[[], None] = lambda: None) -> Executor:
    setup = ReaderSetup(ModelSettings(), Limits(worker_memory_bytes=1024**3))
    if engine == "in_process":
        return InProcess(setup)
    if engine == "pool":
        return Pool(setup, jobs=2, tick=tick)
    import ray

    return RayExecutor(ray, setup, ClusterSettings(retries=1), tick=tick)


@pytest.fixture
def task(tmp_path: Path) -> Tasks:
    numbers = count()

    def make(reader: str, data: bytes = b"hi", path: Path | None = None) -> Task:
        spec = ReaderSpec(
            reader, "1", frozenset({"text"}), "parse", ("text",), f"worker_readers:{reader}"
        )
        key = f"{reader}-{next(numbers)}"
        scratch = tmp_path / key
        scratch.mkdir()
        given = None if path is not None else data
        source = Source(
            "sha256:00", len(data), "text/plain", "text", "a.txt", scratch, path, given
        )  # fmt: skip
        return Task(key, spec, source)

    return make


def texts(result: TaskResult) -> list[str]:
    return [finding.text for finding in result.findings if isinstance(finding, Draft)]


def one(executor: Executor, asked: Task) -> TaskResult:
    (result,) = executor.run([asked])
    return result


def leave(results: Iterator[TaskResult]) -> None:
    """Leave results early, as a command does that is interrupted."""
    assert isinstance(results, AbstractContextManager) or hasattr(results, "close")
    results.close()


def test_every_task_gives_one_result_with_its_key_in_any_order(
    executor: Executor, task: Tasks
) -> None:
    asked = [task("Good", str(number).encode()) for number in range(20)]

    results = {result.key: texts(result) for result in executor.run(asked)}

    assert results == {one.key: [str(number)] for number, one in enumerate(asked)}


def test_no_tasks_give_no_results(executor: Executor) -> None:
    assert list(executor.run([])) == []


def test_bytes_are_read_from_where_the_asset_lies(
    executor: Executor, task: Tasks, tmp_path: Path
) -> None:
    kept = tmp_path / "kept"
    kept.write_bytes(b"in a file")

    assert texts(one(executor, task("Good", path=kept))) == ["in a file"]


def test_what_a_reader_raises_is_a_result_and_what_came_before_it_is_kept(
    executor: Executor, task: Tasks
) -> None:
    bad, good = task("Raising"), task("Good")

    results = {result.key: result for result in executor.run([bad, good])}

    failure = results[bad.key].failure
    assert failure is not None
    assert (failure.code, failure.transient) == ("reader_error", False)
    assert texts(results[bad.key]) == ["one"]
    assert results[good.key].failure is None


def test_a_fault_of_the_input_keeps_its_code_status_and_hint(
    executor: Executor, task: Tasks
) -> None:
    failure = one(executor, task("Encrypted")).failure

    assert failure is not None
    assert (failure.code, failure.status, failure.hint) == ("encrypted", "encrypted", "unlock it")


def test_a_fault_of_the_machine_is_transient(executor: Executor, task: Tasks) -> None:
    failure = one(executor, task("Toolless")).failure

    assert failure is not None
    assert (failure.code, failure.transient) == ("missing_tool", True)


def test_a_reader_that_can_not_be_loaded_fails_its_task_alone(
    executor: Executor, task: Tasks
) -> None:
    absent, good = task("Absent"), task("Good")

    results = {result.key: result.failure for result in executor.run([absent, good])}

    assert results[absent.key] is not None
    assert results[good.key] is None


def test_derived_files_arrive_whole(executor: Executor, task: Tasks) -> None:
    sizes = (10, 5_000_000, 20_000_001)

    result = one(executor, task("Deriving", " ".join(map(str, sizes)).encode()))

    found = [finding for finding in result.findings if isinstance(finding, Derived)]
    arrived = [one.path.read_bytes() if one.path is not None else one.data for one in found]
    assert arrived == [bytes([size % 251]) * size for size in sizes]
    assert [finding.name for finding in found] == [f"{size}.bin" for size in sizes]


def test_many_findings_arrive_in_order(executor: Executor, task: Tasks) -> None:
    assert texts(one(executor, task("Many"))) == [str(number) for number in range(100_000)]


def test_tasks_are_pulled_only_as_needed(executor: Executor, task: Tasks) -> None:
    pulled = 0

    def tasks() -> Iterator[Task]:
        nonlocal pulled
        while True:
            pulled += 1
            yield task("Good")

    results = iter(executor.run(tasks()))
    for _ in range(3):
        next(results)

    assert 3 <= pulled <= MOST_AHEAD
    leave(results)


def test_leaving_early_pulls_no_more_and_the_next_run_starts_clean(
    executor: Executor, task: Tasks
) -> None:
    results = iter(executor.run(task("Good") for _ in range(1_000)))
    next(results)
    leave(results)

    again = task("Good", b"again")

    assert [(result.key, texts(result)) for result in executor.run([again])] == [
        (again.key, ["again"])
    ]


def test_an_error_of_whoever_names_the_tasks_passes_through(
    executor: Executor, task: Tasks
) -> None:
    def tasks() -> Iterator[Task]:
        yield task("Good")
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        list(executor.run(tasks()))

    assert one(executor, task("Good")).failure is None


def test_closing_twice_is_harmless(engine: str, task: Tasks) -> None:
    executor = made(engine)
    assert one(executor, task("Good")).failure is None

    executor.close()
    executor.close()


class TestElsewhere:
    """Executors that read outside this process bear what would end it."""

    @pytest.fixture(autouse=True)
    def _not_here(self, engine: str) -> None:
        if engine == "in_process":
            pytest.skip("a reader that ends its process would end the tests'")

    @pytest.mark.parametrize(
        ("reader", "transient"),
        [("Aborting", False), ("Segfaulting", False), ("KilledFromOutside", True)],
    )
    def test_a_process_that_dies_costs_its_task_alone(
        self, executor: Executor, task: Tasks, reader: str, transient: bool
    ) -> None:
        fallen, others = task(reader), [task("Good") for _ in range(6)]

        results = {result.key: result.failure for result in executor.run([fallen, *others])}

        failure = results.pop(fallen.key)
        assert failure is not None
        assert (failure.code, failure.transient) == ("worker_died", transient)
        assert list(results.values()) == [None] * 6

    def test_a_reader_that_needs_too_much_memory_is_told_so(
        self, executor: Executor, task: Tasks
    ) -> None:
        failure = one(executor, task("Greedy")).failure

        assert failure is not None
        assert failure.code == "memory_limit"

    def test_a_task_over_its_time_is_ended(self, executor: Executor, task: Tasks) -> None:
        hanging = task("Hanging")

        failure = one(executor, Task(hanging.key, hanging.reader, hanging.source, 2.0)).failure

        assert failure is not None
        assert (failure.code, failure.transient) == ("time_limit", True)

    def test_leaving_early_ends_what_is_running(
        self, executor: Executor, task: Tasks, tmp_path: Path
    ) -> None:
        beat = tmp_path / "beat"
        results = iter(executor.run([task("Good"), task("Beating", bytes(beat))]))
        next(results)
        wait_for(beat.exists)
        leave(results)

        time.sleep(0.5)  # the time to die
        last = beat.read_text()
        time.sleep(0.5)

        assert beat.read_text() == last

    def test_while_it_waits_it_ticks(self, engine: str, task: Tasks) -> None:
        ticks: list[float] = []
        with closing(made(engine, lambda: ticks.append(time.monotonic()))) as executor:
            one(executor, task("Sleeping", b"1"))

        assert 2 <= len(ticks) <= 100

    def test_two_tasks_are_read_at_once(self, executor: Executor, task: Tasks) -> None:
        list(executor.run([task("Good") for _ in range(8)]))  # so that everything is started

        results = list(executor.run([task("Sleeping", b"4"), task("Sleeping", b"4")]))

        (first, second) = (tuple(map(float, texts(result))) for result in results)
        assert max(first[0], second[0]) < min(first[1], second[1])
        assert all(isinstance(result.findings[-1], Outcome) for result in results)


def wait_for(true: Callable[[], bool], seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.05)
