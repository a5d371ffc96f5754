"""What several suites of a port share: models loaded once a session, and a running service."""

from pathlib import Path

import pytest

from muniment.adapters.tools import LocalTools

SERVER = Path(__file__).parents[1] / "support" / "openai_server.py"


@pytest.fixture(scope="session")
def tools() -> LocalTools:
    """Return the default models, each loaded at its first use."""
    return LocalTools()
