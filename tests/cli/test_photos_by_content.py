"""Photos without any text are found by what they show, in either language."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from support.cli import invoke
from support.ingesting import Store

pytestmark = pytest.mark.corpus

OFF = '[models.label]\nadapter = "none"\n'


@pytest.fixture
def photos(corpus: Path, tmp_path: Path) -> Path:
    """Return a folder with a photo of a dog and one of a shore, under names that say nothing."""
    folder = tmp_path / "photos"
    folder.mkdir()
    images = corpus / "images"
    shutil.copy(images / "photo" / "az_dog.jpg", folder / "IMG_0001.jpg")
    shutil.copy(images / "photo" / "el_torcal_rocks.jpg", folder / "IMG_0002.jpg")
    return folder


def recall(root: Path, question: str, *options: str) -> dict[str, Any]:
    pack: dict[str, Any] = invoke("--root", root, "--json", "recall", *options, question).json
    return pack


def cited(pack: dict[str, Any]) -> set[str]:
    return {citation["name"] for citation in pack["citations"]}


def test_a_photo_is_found_by_what_it_shows_and_cited_whole(tmp_path: Path, photos: Path) -> None:
    store = Store(tmp_path / "root")
    assert store.ingest(photos)["exit"] == 0

    for question in ("dog photo", "the photo of the dog", "狗", "有没有狗的照片"):
        pack = recall(store.root, question, "--kind", "observation")
        assert pack["coverage"] == "supported", question
        assert cited(pack) == {"IMG_0001.jpg"}, question
    for question in ("cat photo", "elephant", "猫的照片", "dog", "狗"):
        answered = recall(store.root, question)["coverage"] != "none"
        assert answered == (question in ("dog", "狗")), question

    (citation,) = recall(store.root, "狗", "--kind", "observation")["citations"]
    assert citation["locator"] == {
        "type": "bbox", "x": 0.0, "y": 0.0, "w": 1.0, "h": 1.0, "quad": None, "page": None,
    }  # fmt: skip
    assert (citation["origin"], citation["producer"]) == ("media", "efficientnet")
    assert 0.4 < citation["confidence"] < 1
    assert citation["quote"].startswith("Photo, seems to show: ")

    # A guess is evidence of what it looks like, and no memory.
    assert store.items("records") == []
    assert store.items("candidates") == []


def test_labels_are_switched_off_by_the_configuration_and_come_once_it_allows_them(
    tmp_path: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(OFF)
    monkeypatch.setenv("MUNIMENT_CONFIG", str(config))
    store = Store(tmp_path / "root")
    store.ingest(photos)

    assert recall(store.root, "dog")["coverage"] == "none"
    assert not any("seems to show" in text for text in store.texts())

    config.write_text("")
    assert store.ingest(photos)["observations"] == 2
    assert recall(store.root, "dog")["coverage"] == "supported"
