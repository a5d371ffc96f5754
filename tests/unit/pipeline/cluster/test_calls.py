"""The bookkeeping of calls, against a stand-in for Ray that answers at once or loses them."""

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from muniment.pipeline.cluster.calls import LEAST_IN_FLIGHT, Call, Calls
from muniment.pipeline.cluster.connection import ClusterError
from muniment.pipeline.cluster.settings import ClusterSettings, Needs
from muniment.pipeline.tasks import Failure
from muniment.store.errors import StateError

ERRORS = (
    "WorkerCrashedError", "NodeDiedError", "ObjectLostError", "OwnerDiedError",
    "OutOfMemoryError", "LocalRayletDiedError", "RaySystemError", "ObjectFetchTimedOutError",
)  # fmt: skip


class TaskError(Exception):
    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Ray:
    """As much of Ray as calls use; ``losses`` says how often each argument is lost first."""

    def __init__(self, cpus: float = 2.0, losses: dict[str, int] | None = None) -> None:
        self.losses = losses or {}
        self.cancelled: list[Any] = []
        self.options: list[dict[str, Any]] = []
        self.most = self.sent = 0
        self._answers: dict[int, Callable[[], Any]] = {}
        self._nodes = [{"Alive": True, "Resources": {"CPU": cpus}}]
        lost = {name: type(name, (Exception,), {}) for name in ERRORS}
        self.exceptions = SimpleNamespace(**lost, RayTaskError=TaskError)

    def nodes(self) -> list[dict[str, Any]]:
        return self._nodes

    def remote(self, **options: Any) -> Callable[[Callable[..., Any]], Any]:
        self.options.append(options)
        return lambda function: SimpleNamespace(remote=lambda *given: self._send(function, given))

    def _send(self, function: Callable[..., Any], given: tuple[Any, ...]) -> int:
        self.sent += 1
        self._answers[self.sent] = lambda: function(*given)
        self.most = max(self.most, len(self._answers))
        if self.losses.get(given[0], 0):
            self.losses[given[0]] -= 1
            self._answers[self.sent] = self._lose
        return self.sent

    def _lose(self) -> Any:
        raise self.exceptions.NodeDiedError

    def wait(self, waiting: list[int], num_returns: int, timeout: float) -> tuple[Any, Any]:
        return waiting[:num_returns], waiting[num_returns:]

    def get(self, reference: int) -> Any:
        answer = self._answers.pop(reference)
        try:
            return answer()
        except (self.exceptions.NodeDiedError, TaskError):
            raise
        except Exception as error:
            raise TaskError(error) from error

    def cancel(self, reference: int, force: bool) -> None:
        assert force
        self.cancelled.append(reference)


def run(ray: Ray, names: Iterator[str], function: Callable[..., Any], **more: Any) -> Any:
    calls: Calls[str] = Calls(ray, ClusterSettings(retries=2, wait_seconds=0, **more))
    return calls.run(
        (Call(name, "ocr", function, (name,)) for name in names), lambda _, answer: answer
    )


def test_a_call_that_is_lost_is_made_again_and_answers_once() -> None:
    ray = Ray(losses={"b": 2})

    assert sorted(run(ray, iter("abc"), str.upper)) == [("a", "A"), ("b", "B"), ("c", "C")]
    assert ray.sent == 5


def test_one_that_is_always_lost_is_a_transient_failure_after_its_retries() -> None:
    found = dict(run(Ray(losses={"b": 99}), iter("ab"), str.upper))

    assert found["a"] == "A"
    assert isinstance(found["b"], Failure)
    assert (found["b"].code, found["b"].transient) == ("worker_lost", True)
    assert "3 times" in found["b"].message


def test_what_is_lost_while_it_lands_counts_as_lost_before_it_answered() -> None:
    ray, landings = Ray(), []

    def land(_: str, answer: str) -> str:
        landings.append(answer)
        if len(landings) == 1:
            raise ray.exceptions.ObjectLostError
        return answer

    calls: Calls[str] = Calls(ray, ClusterSettings(retries=1))
    found = list(calls.run([Call("a", "ocr", str.upper, ("a",))], land))

    assert found == [("a", "A")]
    assert landings == ["A", "A"]


def test_no_more_is_in_flight_than_there_is_room_for() -> None:
    few, many = Ray(cpus=1), Ray(cpus=50)

    assert len(list(run(few, iter(map(str, range(200))), str.upper))) == 200
    assert len(list(run(many, iter(map(str, range(200))), str.upper))) == 200

    assert few.most == LEAST_IN_FLIGHT
    assert many.most == 100


def test_what_is_in_flight_is_made_up_for_one_by_one() -> None:
    class Slow(Ray):
        def wait(self, waiting: list[int], num_returns: int, timeout: float) -> tuple[Any, Any]:
            return (waiting[:1], waiting[1:]) if timeout else ([], waiting)

    ray, seen = Slow(cpus=50), []
    for _ in run(ray, iter(map(str, range(300))), str.upper):
        seen.append(len(ray._answers))

    assert set(seen[:200]) == {99}


def test_leaving_early_cancels_what_is_in_flight() -> None:
    ray = Ray()
    found = run(ray, iter("abcdefgh"), str.upper)
    next(found)

    found.close()

    assert ray.sent == LEAST_IN_FLIGHT
    assert ray.cancelled == [2, 3, 4]


def test_a_fault_of_the_function_is_the_calls_failure() -> None:
    ((key, failure),) = run(Ray(), iter(["x"]), int)

    assert key == "x"
    assert isinstance(failure, Failure)
    assert failure.code == "reader_error"


def test_a_node_that_must_not_be_used_stops_everything() -> None:
    def refuse(_: str) -> None:
        raise StateError("other versions", code="cluster_differs")

    with pytest.raises(StateError, match="other versions"):
        list(run(Ray(), iter("ab"), refuse))


def test_resources_are_asked_for_and_what_no_node_offers_is_said() -> None:
    ray = Ray(cpus=4)
    needs = {"ocr": Needs(cpus=2, memory=1024)}
    with pytest.raises(ClusterError, match="1024 bytes of memory for ocr") as said:
        list(run(ray, iter("a"), str.upper, needs=needs))
    assert said.value.code == "cluster_too_small"

    ray.nodes()[0]["Resources"]["memory"] = 4096.0
    assert list(run(ray, iter("a"), str.upper, needs=needs)) == [("a", "A")]
    (options,) = ray.options
    assert (options["num_cpus"], options["memory"], options["max_retries"]) == (2, 1024, 0)
