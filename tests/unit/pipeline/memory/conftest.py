from collections.abc import Iterator
from pathlib import Path

import pytest
from support.remembering import Talk


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()
