from pathlib import Path

import pytest

from muniment.store import seals
from muniment.store.assets import hash_file
from muniment.store.seals import Seals


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "large"
    path.write_bytes(b"content")
    return path


def test_a_file_is_hashed_once_and_then_trusted(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asset = hash_file(file)
    assert Seals(tmp_path / "index").intact(file, asset, 7)
    monkeypatch.setattr(seals, "hash_file", lambda _: "sha256:never")

    assert Seals(tmp_path / "index").intact(file, asset, 7)


def test_a_touched_file_is_hashed_again(file: Path, tmp_path: Path) -> None:
    asset = hash_file(file)
    one = Seals(tmp_path / "index")
    assert one.intact(file, asset, 7)
    file.write_bytes(b"contens")

    assert not one.intact(file, asset, 7)
    file.write_bytes(b"content")
    assert one.intact(file, asset, 7)


def test_a_missing_or_shorter_file_is_not_intact(file: Path, tmp_path: Path) -> None:
    one = Seals(tmp_path / "index")

    assert not one.intact(tmp_path / "absent", hash_file(file), 7)
    assert not one.intact(file, hash_file(file), 8)


def test_seals_that_can_not_be_kept_cost_only_another_reading(file: Path, tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file where the folder should be")

    assert Seals(tmp_path / "index").intact(file, hash_file(file), 7)


def test_a_forgotten_seal_is_gone(file: Path, tmp_path: Path) -> None:
    asset = hash_file(file)
    one = Seals(tmp_path / "index")
    one.intact(file, asset, 7)
    one.forget(asset)
    one.close()

    assert asset.encode() not in (tmp_path / "index" / seals.FILE).read_bytes()
