"""A picture is read as it is seen, however it is stored (C13, C37)."""

from pathlib import Path

import pytest
from PIL import Image
from support.media import BlindTools, findings, photo

from muniment.adapters.ports import Draft, OcrLine

# What to do to the upright picture so that each Orientation value shows it upright again.
STORED = {
    2: [Image.Transpose.FLIP_LEFT_RIGHT],
    3: [Image.Transpose.ROTATE_180],
    4: [Image.Transpose.FLIP_TOP_BOTTOM],
    5: [Image.Transpose.ROTATE_90, Image.Transpose.FLIP_TOP_BOTTOM],
    6: [Image.Transpose.ROTATE_90],
    7: [Image.Transpose.ROTATE_270, Image.Transpose.FLIP_TOP_BOTTOM],
    8: [Image.Transpose.ROTATE_270],
}
QUAD = ((32.0, 24.0), (160.0, 24.0), (160.0, 48.0), (32.0, 48.0))


def stored(path: Path, orientation: int) -> Path:
    image = photo(5)
    for step in STORED[orientation]:
        image = image.transpose(step)
    exif = Image.Exif()
    exif[0x0112] = orientation
    image.save(path, exif=exif.tobytes(), quality=95)
    return path


@pytest.mark.parametrize("orientation", sorted(STORED))
def test_the_reader_sees_it_upright_and_boxes_are_of_what_it_sees(
    tmp_path: Path, orientation: int
) -> None:
    tools = BlindTools(lines=[OcrLine("north gate", 0.9, QUAD)])

    found = findings("picture", stored(tmp_path / "turned.jpg", orientation), tools)

    (line,) = [one for one in found if isinstance(one, Draft) and one.kind == "ocr"]
    assert tools.seen[0].size == (320, 240)
    seen, upright = (image.resize((4, 3)).convert("L") for image in (tools.seen[0], photo(5)))
    assert seen.getpixel((0, 0)) == pytest.approx(upright.getpixel((0, 0)), abs=8)
    box = line.locator.model_dump()
    assert (box["x"], box["y"], box["w"], box["h"]) == pytest.approx((0.1, 0.1, 0.4, 0.1), abs=0.01)


def test_an_orientation_that_makes_no_sense_changes_nothing(tmp_path: Path) -> None:
    tools = BlindTools()
    exif = Image.Exif()
    exif[0x0112] = 9
    photo(5).save(tmp_path / "odd.jpg", exif=exif.tobytes())

    findings("picture", tmp_path / "odd.jpg", tools)

    assert tools.seen[0].size == (320, 240)


@pytest.mark.corpus
def test_a_heic_is_decoded_upright_and_never_turned_again(corpus: Path) -> None:
    tagged = sorted((corpus / "images").rglob("*.heic"))
    if not tagged:
        pytest.skip("no HEIC among the public files")
    import pi_heif

    pi_heif.register_heif_opener()
    for path in tagged[:4]:
        tools = BlindTools()
        with Image.open(path) as plain:
            expected = plain.size
        try:
            findings("picture", path, tools)
        except Exception:  # (some are broken on purpose; their reason is tested elsewhere)
            continue
        assert tools.seen[0].size == expected or max(tools.seen[0].size) == 4000
