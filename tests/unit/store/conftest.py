"""A small real store and the two things that every test of the store asks of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import TinyStore

from muniment.store import manifest
from muniment.store.layout import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    """Return an initialised root."""
    made = Root(tmp_path / "root")
    manifest.initialize(made)
    return made


@pytest.fixture
def tiny(root: Root) -> Iterator[TinyStore]:
    """Yield a store with one open scope."""
    store = TinyStore(root.path)
    yield store
    store.close()
