"""What every test may rely on: a quiet environment, the samples, the corpus where it exists."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

# Before any model runtime is imported, here and in the processes that tests start.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", "1")
for _name in [name for name in os.environ if name.startswith("MUNIMENT_")]:
    if _name != "MUNIMENT_FFMPEG" and not _name.startswith("MUNIMENT_TEST_"):
        del os.environ[_name]

import pytest  # noqa: E402  # the environment comes first
from hypothesis import HealthCheck, settings  # noqa: E402

if TYPE_CHECKING:
    from support.s3_servers import Server
    from support.service_ray import RayNodes

# Other work on the machine makes single examples slow without their being wrong.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, database=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")

CHECKOUT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs real services unless they were asked for; they take a while to start."""
    if os.environ.get("MUNIMENT_TEST_SERVICES") == "1":
        return
    skipped = pytest.mark.skip(reason="needs real services: make test-services")
    for item in items:
        if item.get_closest_marker("services") is not None:
            item.add_marker(skipped)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """Return the folder that holds pyproject.toml."""
    return CHECKOUT


@pytest.fixture(scope="session")
def samples() -> Path:
    """Return the folder of committed samples; treat it as read-only."""
    return CHECKOUT / "samples"


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of public files beside the checkout, or skip; treat it as read-only."""
    named = os.environ.get("MUNIMENT_TEST_CORPUS")
    folder = Path(named) if named else CHECKOUT.parent / "shared" / "corpus"
    if not (folder / "manifest.tsv").is_file():
        pytest.skip("the corpus of public files is not on this machine")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test an empty home of its own, so that no command touches the person's."""
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture(scope="session")
def postgres_database() -> Iterator[str]:
    """Run a PostgreSQL server with pgvector and return the address of a database, or skip."""
    from support.postgres import databases, running_server

    with running_server() as socket:
        yield databases(socket)()


@pytest.fixture(scope="session")
def object_store(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Server]":
    """Run an S3-compatible server with a bucket, or skip."""
    from support.s3_servers import rclone_server

    with rclone_server(tmp_path_factory.mktemp("object-store")) as running:
        yield running


@pytest.fixture(scope="session")
def ray_cluster(object_store: "Server") -> "Iterator[RayNodes]":
    """Return a running cluster of one head and two nodes with two cores each, or skip.

    The environment of the nodes opens the object store.
    """
    from support.service_ray import cluster

    with cluster(nodes=2, environment=object_store.environment()) as running:
        yield running


@pytest.fixture(scope="session")
def openai_port() -> Iterator[int]:
    """Run the OpenAI-compatible server in a process of its own and return its port."""
    with subprocess.Popen(
        [sys.executable, str(CHECKOUT / "tests" / "support" / "openai_server.py")],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()
