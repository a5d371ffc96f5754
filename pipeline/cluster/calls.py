"""Make calls on a cluster: a bounded number in flight, made again when their node was lost.

Nothing a call does is kept on a node, and every id follows from content; so a call that was made
twice has the effect of one.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from muniment.pipeline.cluster.connection import ClusterError
from muniment.pipeline.cluster.settings import ClusterSettings
from muniment.pipeline.tasks import Failure, failure_of
from muniment.store.errors import StateError

TICK_SECONDS = 0.2
# Two for each place to run: one runs while the next one travels.
PER_SLOT = 2
LEAST_IN_FLIGHT = 4
CENSUS_SECONDS = 5.0

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Call(Generic[Key]):
    """One call of a function of ``node`` for a stage; ``key`` is the caller's own."""

    key: Key
    stage: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(slots=True)
class _Flight(Generic[Key]):
    call: Call[Key]
    losses: int = 0


class Calls(Generic[Key]):
    """Calls of one run; ``ray`` is the connected library, ``tick`` is called while waiting."""

    def __init__(
        self, ray: Any, settings: ClusterSettings, tick: Callable[[], None] = lambda: None
    ) -> None:
        self._ray = ray
        self._settings = settings
        self._tick = tick
        self._remote: dict[tuple[str, Callable[..., Any]], Any] = {}
        self._flying: dict[Any, _Flight[Key]] = {}
        self._nodes: list[dict[str, float]] = []
        self._counted = float("-inf")
        self._room = LEAST_IN_FLIGHT
        self._lost = (
            ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError,
            ray.exceptions.ObjectLostError, ray.exceptions.OwnerDiedError,
            ray.exceptions.OutOfMemoryError, ray.exceptions.LocalRayletDiedError,
            ray.exceptions.RaySystemError, ray.exceptions.ObjectFetchTimedOutError,
        )  # fmt: skip

    def run(
        self, calls: Iterable[Call[Key]], land: Callable[[Key, Any], Any]
    ) -> Iterator[tuple[Key, Any]]:
        """Yield (key, what ``land`` made of the answer) or (key, ``Failure``) as each call ends.

        ``land`` runs here and may fetch more from the node; a node that is lost meanwhile counts
        as lost before it answered. Leaving early cancels what is in flight.
        """
        source = iter(calls)
        try:
            while self._fill(source):
                yield from self._collect(land)
        finally:
            self._cancel()

    def slots(self, stage: str) -> int:
        """Return how many calls of a stage the cluster bears at once."""
        now = time.monotonic()
        if now - self._counted > CENSUS_SECONDS:
            self._counted = now
            self._nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        needs = self._settings.needs_of(stage)
        return sum(needs.fit(resources) for resources in self._nodes)

    def _fill(self, source: Iterator[Call[Key]]) -> bool:
        """Send calls while there is room; tell whether anything is in flight."""
        while len(self._flying) < self._room:
            call = next(source, None)
            if call is None:
                break
            self._room = max(LEAST_IN_FLIGHT, PER_SLOT * self._slots_at_last(call.stage))
            self._send(_Flight(call))
        return bool(self._flying)

    def _slots_at_last(self, stage: str) -> int:
        """Wait for a node that can bear the stage: a cluster may be growing."""
        until = time.monotonic() + self._settings.wait_seconds
        while not (slots := self.slots(stage)):
            if time.monotonic() > until:
                needs = self._settings.needs_of(stage)
                raise ClusterError(
                    f"no node of the cluster offers {needs.cpus:g} CPUs, {needs.gpus:g} GPUs and "
                    f"{needs.memory} bytes of memory for {stage}",
                    code="cluster_too_small", hint=f"add such a node, or change [ray.{stage}]",
                )  # fmt: skip
            self._counted = float("-inf")
            time.sleep(TICK_SECONDS)
            self._tick()
        return slots

    def _send(self, flight: _Flight[Key]) -> None:
        call = flight.call
        remote = self._remote.get((call.stage, call.function))
        if remote is None:
            needs = self._settings.needs_of(call.stage)
            # Ray makes nothing again by itself: what it would not count, nobody could bound.
            remote = self._ray.remote(
                num_cpus=needs.cpus, num_gpus=needs.gpus, memory=needs.memory or None,
                max_retries=0, name=f"muniment.{call.stage}",
            )(call.function)  # fmt: skip
            self._remote[call.stage, call.function] = remote
        self._flying[remote.remote(*call.arguments)] = flight

    def _collect(self, land: Callable[[Key, Any], Any]) -> Iterator[tuple[Key, Any]]:
        """Wait a tick for answers and yield those that came."""
        waiting = list(self._flying)
        ready, others = self._ray.wait(waiting, num_returns=1, timeout=TICK_SECONDS)
        if ready and others:
            ready += self._ray.wait(others, num_returns=len(others), timeout=0)[0]
        for reference in ready:
            flight = self._flying.pop(reference)
            answer = self._answer(reference, flight.call.key, land)
            if answer is not None:
                yield flight.call.key, answer
            elif flight.losses < self._settings.retries:
                flight.losses += 1
                self._counted = float("-inf")  # the cluster is not what it was
                self._send(flight)
            else:
                yield flight.call.key, _lost(flight.losses + 1)
        self._tick()

    def _answer(self, reference: Any, key: Key, land: Callable[[Key, Any], Any]) -> Any:
        """Return what came of a call, or null when its node or process was lost."""
        try:
            return land(key, self._ray.get(reference))
        except self._lost:
            return None
        except self._ray.exceptions.RayTaskError as error:
            cause = error.cause
            if isinstance(
                cause, StateError
            ):  # a node that must not be used is not one file's fault
                raise cause from error
            return failure_of(cause if isinstance(cause, Exception) else error)

    def _cancel(self) -> None:
        """End what is in flight; a process that is ended takes all that it started along."""
        for reference in self._flying:
            self._ray.cancel(reference, force=True)
        self._flying.clear()


def _lost(times: int) -> Failure:
    said = f"the node or its process was lost {times} times"
    return Failure("worker_lost", said, transient=True, hint="see the logs of the cluster")
