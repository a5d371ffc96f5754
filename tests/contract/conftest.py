"""What several suites of a port share: models loaded once a session, and a running service."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.s3_servers import (
    VERSIONED,
    Server,
    double_server,
    external_server,
    rclone_server,
    swift_server,
)

from muniment.adapters.tools import LocalTools

SERVERS = [
    "local", "rclone", "double", "external",
    pytest.param("swift", marks=pytest.mark.services),
    pytest.param("swift-versions", marks=pytest.mark.services),
]  # fmt: skip
SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"


@pytest.fixture(scope="session")
def tools() -> LocalTools:
    """Return the default models, each loaded at its first use."""
    return LocalTools()


@pytest.fixture(scope="session")
def swift(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run OpenStack Swift with its S3 API, or skip."""
    with swift_server(tmp_path_factory.mktemp("swift")) as running:
        yield running


@pytest.fixture(scope="module", params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server | None]:
    """Run each S3-compatible server in turn; null is this machine's own disk."""
    if request.param == "local":
        yield None
    elif request.param == "rclone":
        with rclone_server(tmp_path_factory.mktemp("rclone")) as running:
            yield running
    elif request.param == "double":
        with double_server() as running:
            yield running
    elif request.param == "external":
        yield external_server()
    else:
        running = request.getfixturevalue("swift")
        yield running if request.param == "swift" else replace(running, bucket=VERSIONED)
