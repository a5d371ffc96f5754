"""Where readers run: in this process, or in a pool of processes of this machine.

Each process of the pool holds one lane (``parse``, ``ocr``, ``transcribe``), so one model role,
and one thread. They are started at first need, used for many tasks and given up when another lane
wants the slot. Only the parent writes the store.
"""

import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import islice
from multiprocessing.connection import wait

from muniment.adapters.ports import Finding
from muniment.pipeline.processes import Worker
from muniment.pipeline.tasks import Failure, ReaderSetup, Task, TaskResult, failure_of
from muniment.pipeline.worker import Readers

TICK_SECONDS = 0.2
WINDOW = 64  # tasks looked at ahead, so that one lane's tasks are served together
DEATHS = 2  # a task whose process dies before it begins is tried this often


class InProcess:
    """Read in this process, one task after the other: for light text and for debugging."""

    def __init__(self, setup: ReaderSetup) -> None:
        self._readers = Readers(setup)

    def run(self, tasks: Iterable[Task]) -> Iterator[TaskResult]:
        """Yield one result a task, in order."""
        for task in tasks:
            started = time.monotonic()
            findings: list[Finding] = []
            failure = None
            try:
                findings.extend(self._readers.read(task))
            except Exception as error:  # a reader may raise anything
                failure = failure_of(error)
            seconds = time.monotonic() - started
            yield TaskResult(task.key, findings, failure, seconds, self._readers.take_calls())

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""


class Pool:
    """Read in up to ``jobs`` processes; use it as a context manager or close it.

    ``jobs`` may change at any time: processes that are too many end when they have nothing in hand.
    ``tick`` is called about five times a second while waiting. ``show_errors`` lets the processes
    write to our stderr.
    """

    def __init__(
        self,
        setup: ReaderSetup,
        jobs: int | None = None,
        *,
        tick: Callable[[], None] | None = None,
        show_errors: bool = False,
    ) -> None:
        self.jobs = jobs or len(os.sched_getaffinity(0))
        self._setup = setup
        self._tick = tick
        self._show_errors = show_errors
        self._workers: list[Worker] = []
        self._waiting: list[Task] = []
        self._deaths: dict[str, int] = {}

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process, busy or not."""
        while self._workers:
            self._workers.pop().end()

    def run(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Yield one result a task as each ends; pull tasks a window ahead at most."""
        source = iter(tasks)
        try:
            while True:
                self._waiting.extend(islice(source, WINDOW - len(self._waiting)))
                self._assign()
                if not self._waiting and not self._busy():
                    return
                yield from self._collect()
        finally:
            self._waiting.clear()
            self._deaths.clear()
            for worker in self._busy():
                self._drop(worker)

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _assign(self) -> None:
        """Give waiting tasks, oldest first, to processes that can take them now."""
        left: list[Task] = []
        lanes = {task.reader.lane for task in self._waiting}
        for task in self._waiting:
            worker = self._worker_for(task.reader.lane, lanes)
            if worker is None:
                left.append(task)
            else:
                worker.give(task)
        self._waiting = left

    def _worker_for(self, lane: str, wanted: set[str]) -> Worker | None:
        """Return an idle process of the lane, starting one where a slot is or can be made free."""
        idle = [worker for worker in self._workers if worker.task is None]
        while len(self._workers) > self.jobs and idle:
            self._drop(idle.pop())
        for worker in idle:
            if worker.lane == lane:
                return worker
        if len(self._workers) >= self.jobs:
            unwanted = next((worker for worker in idle if worker.lane not in wanted), None)
            if unwanted is None:
                return None
            self._drop(unwanted)
        worker = Worker(lane, self._setup, show_errors=self._show_errors)
        self._workers.append(worker)
        return worker

    def _collect(self) -> Iterator[TaskResult]:
        """Wait a tick for messages and yield the tasks that ended meanwhile."""
        by_connection = {worker.connection: worker for worker in self._workers}
        for ready in wait(list(by_connection), TICK_SECONDS):
            worker = by_connection[ready]  # type: ignore[index]  # only connections were given
            result = self._receive(worker)
            if result is not None:
                yield result
        for worker in self._busy():
            if time.monotonic() - worker.started > self._seconds(worker):
                yield self._expire(worker)
        if self._tick is not None:
            self._tick()

    def _receive(self, worker: Worker) -> TaskResult | None:
        """Take one message of a process; return a result when its task has ended."""
        message = worker.receive()
        if message is None:
            return self._bury(worker)
        if message[0] == "begin":
            worker.begun = True
        elif message[0] == "batch":
            worker.findings.extend(message[1])
            worker.calls.extend(message[2])
        elif message[0] == "end":
            result = _result(worker, message[1])
            if not message[2]:
                self._drop(worker)
            return result
        return None

    def _bury(self, worker: Worker) -> TaskResult | None:
        """Account for a process that ended by itself, and for the task that it held."""
        status = self._drop(worker)
        task = worker.task
        if task is None:
            return None
        deaths = self._deaths[task.key] = self._deaths.get(task.key, 0) + 1
        if not worker.begun and deaths < DEATHS:  # it fell before it saw the task
            self._waiting.insert(0, task)
            return None
        return _result(worker, _death(status))

    def _expire(self, worker: Worker) -> TaskResult:
        """End a process whose task ran out of time."""
        seconds = self._seconds(worker)
        self._drop(worker)
        message = f"not read within {seconds:g} seconds"
        return _result(worker, Failure("time_limit", message, transient=True))

    def _seconds(self, worker: Worker) -> float:
        own = worker.task.seconds if worker.task is not None else None
        return self._setup.limits.item_seconds if own is None else own

    def _drop(self, worker: Worker) -> int:
        self._workers.remove(worker)
        return worker.end()


def _result(worker: Worker, failure: Failure | None) -> TaskResult:
    assert worker.task is not None
    seconds = time.monotonic() - worker.started
    result = TaskResult(worker.task.key, worker.findings, failure, seconds, worker.calls)
    worker.task, worker.findings, worker.calls = None, [], []
    return result


def _death(status: int) -> Failure:
    """Name how a process died: killed from outside is the machine's doing, a crash the file's."""
    if status >= 0:
        return Failure("worker_died", f"the reading process left with status {status}")
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    killed = -status in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)
    return Failure("worker_died", f"the reading process was ended by {name}", transient=killed)
