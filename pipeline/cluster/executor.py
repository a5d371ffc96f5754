"""Read on a Ray cluster: the same tasks and results as in processes of this machine."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from muniment.pipeline.cluster import node
from muniment.pipeline.cluster.calls import Call, Calls
from muniment.pipeline.cluster.settings import ClusterSettings
from muniment.pipeline.tasks import Failure, ReaderSetup, Task, TaskResult


class RayExecutor:
    """Read on the nodes of a cluster that this process is connected to (``ray``).

    A task whose node is lost is read again elsewhere, ``retries`` times at most; after that its
    failure is transient, so that the next run takes it up. ``tick`` is called while waiting.
    """

    def __init__(
        self,
        ray: Any,
        setup: ReaderSetup,
        settings: ClusterSettings,
        *,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self._ray = ray
        self._setup = setup
        self._settings = settings
        self._tick = tick
        self._build = node.build_of(setup.models)

    def run(self, tasks: Iterable[Task]) -> Generator[TaskResult, None, None]:
        """Yield one result a task as each ends; pull two tasks ahead for each place to run."""
        calls: Calls[Task] = Calls(self._ray, self._settings, self._tick)
        for task, found in calls.run(self._calls(tasks), self._landed):
            if isinstance(found, Failure):
                yield TaskResult(task.key, [], found, 0.0)
            else:
                yield found

    def close(self) -> None:
        """Do nothing: the processes of a cluster are its own."""

    def _calls(self, tasks: Iterable[Task]) -> Iterator[Call[Task]]:
        for task in tasks:
            yield Call(task, task.reader.lane, node.read, (self._setup, self._build, task))

    def _landed(self, task: Task, answer: node.Answer) -> TaskResult:
        return node.unpacked(answer, task.source.scratch, self._ray.get)
