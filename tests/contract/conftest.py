"""What several suites of a port share: models loaded once a session, and a running service."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.adapters.tools import LocalTools

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"


@pytest.fixture(scope="session")
def tools() -> LocalTools:
    """Return the default models, each loaded at its first use."""
    return LocalTools()


@pytest.fixture(scope="session")
def openai_port() -> Iterator[int]:
    """Run the OpenAI-compatible server in a process of its own and return its port."""
    with subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()
