"""A store of its own for each test, and a folder for its input."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.ingesting import Store


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("MUNIMENT_CACHE", str(tmp_path / "cache"))
    return Store(tmp_path / "root")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an empty folder for the input."""
    made = tmp_path / "in"
    made.mkdir()
    return made


@pytest.fixture(scope="module")
def module_store(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], tuple[Store, Path]]:
    """Return a maker of a store and a folder that the tests of one module share."""

    def make() -> tuple[Store, Path]:
        top = tmp_path_factory.mktemp("case")
        (top / "in").mkdir()
        return Store(top / "root"), top / "in"

    return make
