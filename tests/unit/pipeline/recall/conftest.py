from collections.abc import Iterator
from pathlib import Path

import pytest
from support.asking import Asker
from support.stores import TinyStore

from muniment.store.text.segment import compile_dictionary


@pytest.fixture(scope="session")
def han_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("han-words")
    compile_dictionary(folder)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


@pytest.fixture
def asker(store: TinyStore, han_cache: Path) -> Asker:
    return Asker(store, han_cache)
