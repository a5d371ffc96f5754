from collections.abc import Iterator
from pathlib import Path

import pytest
from support.album import Album


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Album]:
    made = Album(tmp_path_factory.mktemp("album"))
    yield made
    made.store.close()


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    return tmp_path
