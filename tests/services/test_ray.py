"""Whole runs over a Ray cluster of several node processes: the ledger is that of a local run."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from support.cli import SCRIPT, Answer, execute
from support.contents import contents_of
from support.lost_calls import dies_until
from support.s3_servers import Server
from support.service_ray import RayNodes

from muniment.pipeline.cluster import node
from muniment.pipeline.processes import descendants
from muniment.store.layout import Root, Scope

pytestmark = pytest.mark.services

SCOPE = Scope()
PAGES = 10
HEAVY = "SELECT count(*) FROM attempt WHERE stage = 'observe' AND reader IN ('picture', 'speech')"
TWICE = (
    "SELECT asset, reader, fingerprint FROM attempt WHERE stage = 'observe' "
    "GROUP BY asset, reader, fingerprint HAVING count(*) > 1"
)


class Place:
    """A store of its own, and a configuration that names the cluster."""

    def __init__(self, folder: Path, address: str) -> None:
        self.root = folder / "root"
        self.config = folder / "config.toml"
        folder.mkdir()
        self.config.write_text(f'ray_address = "{address}"\n[ray]\nretries = 5\n')
        self.environment = {
            **os.environ, "MUNIMENT_ROOT": str(self.root),
            "MUNIMENT_CACHE": str(folder / "cache"), "MUNIMENT_CONFIG": str(self.config),
        }  # fmt: skip

    def run(self, *arguments: str | Path) -> Answer:
        return execute(*arguments, environment=self.environment, timeout=900)

    def begin(self, *arguments: str | Path) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(SCRIPT), *map(str, arguments)], env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def rows(self, query: str) -> list[tuple[object, ...]]:
        ledger = next(self.root.rglob("ledger.sqlite3"), None)
        if ledger is None:
            return []
        with sqlite3.connect(f"file:{ledger}?mode=ro", uri=True) as database:
            found = database.execute(query).fetchall()
        database.close()
        return found

    def contents(self) -> dict[str, list[object]]:
        return contents_of(Root(self.root), SCOPE)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """Every sample, so every lane, and some more pages to read."""
    from PIL import Image, ImageDraw, ImageFont

    folder = tmp_path_factory.mktemp("inputs")
    for sample in samples.iterdir():
        if sample.suffix in {".md", ".txt", ".png", ".ogg", ".mp4", ".pdf"}:
            (folder / sample.name).write_bytes(sample.read_bytes())
    font = ImageFont.load_default(40)
    for number in range(PAGES):
        page = Image.new("RGB", (640, 120), "white")
        ImageDraw.Draw(page).text((20, 30), f"Page {number} of the inventory", "black", font)
        page.save(folder / f"page-{number}.png")
    return folder


@pytest.fixture(scope="module")
def local(inputs: Path, tmp_path_factory: pytest.TempPathFactory, ray_cluster: RayNodes) -> Place:
    """Return a store that processes of this machine read."""
    place = Place(tmp_path_factory.mktemp("local") / "place", ray_cluster.address)
    assert place.run("ingest", inputs, "--until", "observe").code == 0
    return place


@pytest.fixture
def place(tmp_path: Path, ray_cluster: RayNodes) -> Place:
    return Place(tmp_path / "place", ray_cluster.address)


def wait_for(true: Callable[[], object], seconds: float = 300) -> None:
    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.1)


def readers_of(cluster: RayNodes) -> list[psutil.Process]:
    """Return the reading processes that nodes of the cluster have started."""
    found = []
    for process in descendants(os.getpid()):
        with contextlib.suppress(psutil.NoSuchProcess):  # it ended meanwhile, or is a zombie
            one = psutil.Process(process)
            found += [one] if "muniment.pipeline.worker" in one.cmdline() else []
    return found


def test_a_node_that_is_killed_in_mid_run_costs_nothing_and_doubles_nothing(
    local: Place, place: Place, inputs: Path, ray_cluster: RayNodes
) -> None:
    lost = ray_cluster.add()
    running = place.begin(
        "--json", "ingest", inputs, "--until", "observe", "--engine", "ray"
    )  # fmt: skip
    wait_for(lambda: place.rows(HEAVY) and place.rows(HEAVY)[0][0])
    ray_cluster.kill(lost)
    out, err = running.communicate(timeout=900)

    assert running.returncode == 0, err.decode()
    assert json.loads(out)["failed"] == []
    assert place.contents() == local.contents()
    assert place.rows(TWICE) == []
    again = place.run("--json", "ingest", inputs, "--until", "observe", "--engine", "ray").json
    assert again["observed"] == 0


def test_an_interrupt_ends_what_runs_on_the_nodes_and_the_next_run_finishes(
    local: Place, place: Place, inputs: Path, ray_cluster: RayNodes
) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background
    wait_for(lambda: not readers_of(ray_cluster), 60)
    running = place.begin("ingest", inputs, "--until", "observe", "--engine", "ray")
    wait_for(lambda: readers_of(ray_cluster))
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=900)

    assert running.returncode == 130
    wait_for(lambda: not readers_of(ray_cluster), 60)

    assert place.run("observe", "--engine", "ray").code == 0
    assert place.contents() == local.contents()
    assert place.rows(TWICE) == []


def test_vectors_made_on_nodes_are_those_made_here(
    local: Place, place: Place, inputs: Path
) -> None:
    notes = [path for path in inputs.iterdir() if path.suffix in {".md", ".txt"}]
    assert place.run("ingest", *notes).code == 0
    here = vectors(place)

    said = place.run("--json", "reindex", "--embeddings", "--engine", "ray")

    assert said.code == 0, said.err
    assert said.json["embedded"] == len(here) > 0
    np.testing.assert_allclose(vectors(place), here, atol=1e-3)


def vectors(place: Place) -> np.ndarray:
    """Return the rows of the live vectors, sorted so that their order does not matter."""
    from muniment.pipeline.stages.embed import vectors_held
    from muniment.pipeline.stages.index import open_live

    index = open_live(Root(place.root).scope(SCOPE).index)
    try:
        held = vectors_held(index)
        assert held is not None
        rows = np.concatenate([np.asarray(block) for _, block in held.blocks()])
    finally:
        index.close()
    return rows[np.lexsort(np.round(rows, 2).T)]


def test_nodes_read_from_the_object_store_what_the_driver_has_no_key_for(
    place: Place, tmp_path: Path, ray_cluster: RayNodes, object_store: Server,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pictures = tmp_path / "pictures"
    noisy(pictures, 3)
    here = Place(tmp_path / "here", ray_cluster.address)
    assert here.run("ingest", pictures, "--until", "observe").code == 0
    for name, value in object_store.environment().items():
        monkeypatch.setenv(name, value)
        place.environment[name] = value
    assert place.run("init", "--assets", object_store.url("library")).code == 0
    assert place.run("ingest", pictures, "--until", "register").code == 0
    for copy in Root(place.root).scope(SCOPE).cache.iterdir():
        copy.unlink()
    place.environment["AWS_SECRET_ACCESS_KEY"] = "none of the server's"

    said = place.run("--json", "observe", "--engine", "ray")

    assert said.code == 0, said.err
    assert said.json["failed"] == []
    assert place.rows(HEAVY) == [(3,)]
    assert place.contents() == here.contents()


def noisy(folder: Path, count: int) -> None:
    """Write pictures that are too large for the ledger, each with a line to read."""
    from PIL import Image, ImageDraw, ImageFont

    folder.mkdir()
    font = ImageFont.load_default(40)
    for number in range(count):
        page = Image.effect_noise((640, 480), 60).convert("RGB")
        page.paste("white", (0, 0, 640, 120))
        ImageDraw.Draw(page).text((20, 30), f"Plate {number} of the herbarium", "black", font)
        page.save(folder / f"plate-{number}.png")


def test_doctor_asks_every_node_what_it_is_made_of(place: Place) -> None:
    place.config.write_text('engine = "ray"\n' + place.config.read_text())

    checks = [
        one for one in place.run("--json", "doctor").json["checks"] if one["area"] == "engine"
    ]

    assert all(one["ok"] for one in checks)
    names = [one["name"] for one in checks]
    assert names[0] == "ray"
    assert names.count(next(name for name in names if name.startswith("node"))) == 2
    assert {"parse", "ocr", "transcribe", "embed"} <= set(names)


def test_an_address_where_nobody_answers_is_said_at_once(place: Place) -> None:
    began = time.monotonic()

    said = place.run("observe", "--engine", "ray", "--ray-address", "127.0.0.1:9")

    assert said.code != 0
    assert time.monotonic() - began < 60
    place.run("ingest", place.config, "--until", "register")
    said = place.run("observe", "--engine", "ray", "--ray-address", "127.0.0.1:9")
    assert "cluster_unreachable" in said.err


class TestCalls:
    """What is told of single calls, with a driver in this process."""

    @pytest.fixture
    def calls(self, ray_cluster: RayNodes) -> Iterator[Callable[..., object]]:
        from muniment.pipeline.cluster.calls import Call, Calls
        from muniment.pipeline.cluster.connection import connected
        from muniment.pipeline.cluster.settings import ClusterSettings, Needs

        with connected(ray_cluster.address) as ray:

            def made(function: Callable[..., object], *arguments: object, **needs: float) -> object:
                chosen = ClusterSettings(
                    retries=2,
                    wait_seconds=1,
                    needs={"parse": Needs(**needs)},  # type: ignore[arg-type]  # sizes, too
                )
                asked: Calls[str] = Calls(ray, chosen)
                call = Call("key", "parse", function, arguments)
                ((_, found),) = asked.run([call], lambda _, answer: answer)
                return found

            yield made

    def test_a_process_that_is_lost_once_is_asked_again(
        self, calls: Callable[..., object], tmp_path: Path
    ) -> None:
        assert calls(dies_until, tmp_path, 2) == "alive"
        assert len(list(tmp_path.iterdir())) == 2

    def test_one_that_is_always_lost_is_a_transient_failure(
        self, calls: Callable[..., object], tmp_path: Path
    ) -> None:
        failure = calls(dies_until, tmp_path, 9)

        assert (failure.code, failure.transient) == ("worker_lost", True)  # type: ignore[attr-defined]
        assert len(list(tmp_path.iterdir())) == 3

    def test_a_node_of_another_make_stops_the_run(self, calls: Callable[..., object]) -> None:
        from muniment.adapters.models.settings import ModelSettings
        from muniment.store.errors import StateError

        with pytest.raises(StateError, match="other versions"):
            calls(node.embed, ModelSettings(), "another build", ["text"])

    def test_what_no_node_can_bear_is_said(self, calls: Callable[..., object]) -> None:
        from muniment.pipeline.cluster.connection import ClusterError

        with pytest.raises(ClusterError, match="64 CPUs"):
            calls(dies_until, Path("/"), 0, cpus=64.0)
