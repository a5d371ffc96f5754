"""What several suites of a port share: models loaded once a session, and a running service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.s3_servers import Server, swift_server

from muniment.adapters.tools import LocalTools

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
