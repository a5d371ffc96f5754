from collections.abc import Iterator

import pytest
from support.album import Album


@pytest.fixture(scope="module")
def album(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Album]:
    made = Album(tmp_path_factory.mktemp("album"))
    yield made
    made.store.close()
