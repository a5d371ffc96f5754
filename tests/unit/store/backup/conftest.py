"""A filled root, built once, and a copy of it for each test."""

import shutil
from pathlib import Path

import pytest
from support.backups import filled

from muniment.store.backup import cipher
from muniment.store.layout import Root


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a filled root that nobody may change."""
    return filled(tmp_path_factory.mktemp("original") / "root").path


@pytest.fixture
def root(original: Path, tmp_path: Path) -> Root:
    """Return a filled root of the test's own."""
    shutil.copytree(original, tmp_path / "root")
    return Root(tmp_path / "root")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a passphrase cheap to try."""
    pytest.importorskip("cryptography")
    monkeypatch.setattr(cipher, "SCRYPT_N", 1 << 10)
