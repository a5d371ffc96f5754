import json
from collections.abc import Callable
from pathlib import Path

import pytest

Compare = Callable[[str, str], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option; it is known whenever this folder is collected from the command line."""
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Compare:
    """Compare a text with the file of that name here, or write the file."""

    def compare(name: str, text: str) -> None:
        path = Path(__file__).with_name(name)
        if request.config.getoption("--update-golden", default=False):
            path.write_text(text, "utf-8")
        expected = path.read_text("utf-8")
        if name.endswith(".json"):
            assert json.loads(text) == json.loads(expected)
        assert text == expected

    return compare
