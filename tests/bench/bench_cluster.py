"""Measure what bounds a library that outgrows one machine: ``python tests/bench/bench_cluster.py``.

``commits``: how many observations a second the driver, the only writer, makes durable when results
come as fast as it takes them. ``nodes``: how ``observe`` scales over 1, 2 and 4 node processes of a
Ray cluster on this machine, with a stand-in that sleeps as long as the model would work.
"""

import argparse
import json
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support import service_ray

from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Draft, Finding, Limits, Print
from muniment.pipeline.cluster.connection import connected
from muniment.pipeline.cluster.executor import RayExecutor
from muniment.pipeline.cluster.settings import ClusterSettings
from muniment.pipeline.executor import InProcess
from muniment.pipeline.progress import ProgressLine
from muniment.pipeline.settings import load
from muniment.pipeline.stages.observe import Observation, setup_of
from muniment.pipeline.stages.register import Registration
from muniment.pipeline.stages.run import Run, Tally, new_run_id
from muniment.pipeline.stages.walk import Filters, walk
from muniment.pipeline.tasks import Executor, Task, TaskResult
from muniment.pipeline.workspace import Workspace
from muniment.store.records import BboxLocator
from muniment.store.scratch import scratch

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00"
WORDS = ("the", "quarterly", "report", "names", "a", "plumber", "and", "a", "boiler", "inside")


class ReadyMade:
    """An executor whose results are there at once, as they come from a worker: pickled."""

    def __init__(self, lines: int) -> None:
        self._page = pickle.dumps(page(lines), pickle.HIGHEST_PROTOCOL)

    def run(self, tasks: Iterable[Task]) -> Iterator[TaskResult]:
        """Yield a result a task."""
        for task in tasks:
            found = pickle.loads(self._page) if task.reader.name == "picture" else PRINTED
            yield TaskResult(task.key, found, None, 0.5)

    def close(self) -> None:
        """Do nothing."""


def page(lines: int) -> list[Finding]:
    """Return the drafts of a page of text."""
    made: list[Finding] = [
        Draft(
            kind="ocr", text=" ".join([*WORDS[at % 7 :], str(at)]), confidence=0.93, language="en",
            locator=BboxLocator(x=0.1, y=at / lines, w=0.8, h=0.9 / lines),
        )
        for at in range(lines)
    ]  # fmt: skip
    for draft in made:
        assert isinstance(draft, Draft)
        assert draft.locator.canonical  # as workers do, before they send it
    return made


PAGE_LINES = 20
PRINTED: list[Finding] = [Print("picture", "dct:" + "0" * 16)]


@contextmanager
def run_over(folder: Path) -> Iterator[Run]:
    """Open a store in a folder for one run of stages."""
    settings = load({"root": str(folder / "store"), "cache": str(folder / "cache")}, {})
    workspace = Workspace(settings)
    with workspace.writing() as ledger, scratch(workspace.root, workspace.scope) as temporary:
        run = Run(
            ledger=ledger, settings=settings, tally=Tally(new_run_id()),
            progress=ProgressLine(StringIO(), "never"), scratch=temporary, cache=settings.cache,
            limits=Limits(),
        )  # fmt: skip
        with ledger.unit():
            ledger.attempts.start_run(run.id, "observe")
        yield run


def register(run: Run, folder: Path, count: int) -> float:
    """Register pictures without content; return how many a second."""
    folder.mkdir()
    for number in range(count):
        (folder / f"{number:06}.png").write_bytes(PNG + number.to_bytes(8, "big"))
    began = time.perf_counter()
    Registration(run, "folder", "external", False).take(
        walk([os.fsencode(folder)], Filters((), ()))
    )
    return count / (time.perf_counter() - began)


def commits(assets: int, lines: int) -> dict[str, Any]:
    """Measure the driver alone."""
    with tempfile.TemporaryDirectory() as name, run_over(Path(name)) as run:
        registered = register(run, Path(name) / "files", assets)
        models = ModelSettings()
        light = InProcess(setup_of(run, models))
        began, used = time.perf_counter(), time.process_time()
        Observation(run, models, light, ReadyMade(lines)).observe()
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
        made = run.tally.counts["observations"]
        assert made == assets * lines
    return {
        "assets": assets, "lines": lines, "registered_per_s": round(registered),
        "observations_per_s": round(made / seconds), "observations_per_cpu_s": round(made / cpu),
        "assets_per_s": round(assets / seconds),
    }  # fmt: skip


class StandIn:
    """Sends each picture to a cluster where a reader sleeps as long as the model would work."""

    def __init__(self, cluster: Executor, seconds: float) -> None:
        self._cluster = cluster
        self._seconds = str(seconds).encode()
        self.ready: list[TaskResult] = []

    def run(self, tasks: Iterable[Task]) -> Iterator[TaskResult]:
        """Yield a result a task."""
        for result in self._cluster.run(self._pictures(tasks)):
            yield from self._taken()
            yield result
        yield from self._taken()

    def close(self) -> None:
        """Do nothing."""

    def _pictures(self, tasks: Iterable[Task]) -> Iterator[Task]:
        for task in tasks:
            if task.reader.name != "picture":
                self.ready.append(TaskResult(task.key, PRINTED, None, 0.0))
                continue
            reader = replace(task.reader, target="worker_readers:Modelled")
            yield replace(task, reader=reader, source=replace(task.source, data=self._seconds))

    def _taken(self) -> list[TaskResult]:
        ready, self.ready = self.ready, []
        return ready


def scaling(counts: Sequence[int], rounds: int, seconds: float) -> list[dict[str, Any]]:
    """Observe on clusters of so many nodes with two cores each; the work grows with the nodes."""
    found = []
    with service_ray.cluster() as nodes, connected(nodes.address) as ray:
        running = 1
        for count in counts:
            while running < count:
                nodes.add()
                running += 1
            slots = count * service_ray.NODE_CPUS
            spread(ray, 2 * slots, 2.0)  # so that every process is there
            took = spread(ray, rounds * slots, seconds)
            found.append({
                "nodes": count, "slots": slots, "assets": rounds * slots, "seconds": round(took, 1),
                "assets_per_s": round(rounds * slots / took, 2),
                "efficiency": round(rounds * seconds / took, 3),
            })  # fmt: skip
    return found


def spread(ray: Any, assets: int, seconds: float) -> float:
    """Observe so many pictures on the cluster; return how long that took."""
    with tempfile.TemporaryDirectory() as name, run_over(Path(name)) as run:
        register(run, Path(name) / "files", assets)
        models = ModelSettings()
        setup = setup_of(run, models)

        def tick() -> None:
            observation.settle()

        cluster = RayExecutor(ray, setup, ClusterSettings(), tick=tick)
        observation = Observation(run, models, InProcess(setup), StandIn(cluster, seconds))
        began = time.perf_counter()
        observation.observe()
        took = time.perf_counter() - began
        assert run.tally.counts["observations"] == assets * PAGE_LINES
    return took


def main() -> None:
    """Run what was asked for and print one JSON document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--assets", type=int, default=2_000, help="how many to commit")
    parser.add_argument("--lines", type=int, default=PAGE_LINES, help="observations of each")
    parser.add_argument("--nodes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=8, help="pages each slot reads")
    parser.add_argument("--seconds", type=float, default=4.0, help="what the model takes a page")
    asked = parser.parse_args()
    found: dict[str, Any] = {"load": os.getloadavg()[0], "cores": os.cpu_count()}
    if asked.assets:
        found["commits"] = commits(asked.assets, asked.lines)
    if asked.nodes:
        found["nodes"] = scaling(asked.nodes, asked.rounds, asked.seconds)
    sys.stdout.write(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
