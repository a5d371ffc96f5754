"""One input that is too large takes nothing from the others (C12)."""

import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from support.ingesting import Store
from support.media import findings

from muniment.store.errors import InputError


def bomb(path: Path, size: tuple[int, int] = (20_000, 20_000)) -> Path:
    Image.MAX_IMAGE_PIXELS, before = None, Image.MAX_IMAGE_PIXELS
    try:
        Image.new("1", size).save(path)
    finally:
        Image.MAX_IMAGE_PIXELS = before
    return path


def test_one_huge_picture_fails_alone_and_the_rest_is_done(store: Store, folder: Path) -> None:
    bomb(folder / "huge.png")
    (folder / "note.txt").write_text("The boiler was serviced in May.")

    said = store.ingest(folder, "--until", "observe")

    assert said["exit"] == 3
    assert [(one["code"], Path(one["path"]).name) for one in said["failed"]] == [
        ("pixel_limit", "huge.png")
    ]
    assert store.texts() == ["The boiler was serviced in May."]
    again = store.ingest(folder, "--until", "observe")
    assert (again["exit"], again["failed"], again["standing_failures"]) == (0, [], 1)


@pytest.mark.parametrize("suffix", ["png", "gif", "bmp", "tiff", "webp"])
def test_pixels_are_counted_before_they_are_decoded(tmp_path: Path, suffix: str) -> None:
    path = bomb(tmp_path / f"huge.{suffix}", (16_000, 8_000))

    with pytest.raises(InputError) as refused:
        findings("picture", path)

    assert refused.value.code == "pixel_limit"


def test_an_archive_that_swells_is_refused_and_the_rest_is_done(store: Store, folder: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", bytes(300 * 1024 * 1024))
    (folder / "swells.zip").write_bytes(packed.getvalue())
    (folder / "note.txt").write_text("The spare key hangs in the shed.")

    said = store.ingest(folder, "--until", "observe")

    assert said["exit"] == 3
    assert {one["code"] for one in said["failed"]} <= {"ratio", "unpacked_size"}
    assert "The spare key hangs in the shed." in store.texts()


def test_an_archive_of_itself_ends_at_the_depth_limit(store: Store, folder: Path) -> None:
    inner = b"The innermost word is plum."
    for level in range(8):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr(f"level{level}.zip" if level else "note.txt", inner)
        inner = packed.getvalue()
    (folder / "deep.zip").write_bytes(inner)

    said = store.ingest(folder, "--until", "observe")

    assert said["exit"] in (0, 3)
    assert not any("plum" in text for text in store.texts())
    codes = {one["code"] for item in store.items() for one in store.show(item["ref"])["attempts"]}
    assert "depth" in " ".join(str(code) for code in codes)
