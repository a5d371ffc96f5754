from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageOps

from muniment.adapters.models.settings import ModelSettings, RoleSettings
from muniment.adapters.ports import Label, Labeller, OcrLine
from muniment.adapters.tools import LocalTools


@pytest.fixture(scope="module")
def labeller(tools: LocalTools) -> Labeller:
    found = tools.labeller()
    assert found is not None
    return found


def photo(corpus: Path, name: str) -> Image.Image:
    with Image.open(corpus / "images" / name) as image:
        upright: Image.Image = ImageOps.exif_transpose(image).convert("RGB")
        return upright


def said(labels: list[Label]) -> dict[str, str]:
    return {label.english: label.chinese for label in labels}


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "english", "chinese"),
    [
        ("photo/az_dog.jpg", "dog", "狗"),
        ("sidecar/IMG_5910.jpg", "fox squirrel", "狐松鼠"),
        ("photo/az_house.jpg", "building or house", "建筑或房子"),
        ("photo/el_torcal_rocks.jpg", "cliff", "悬崖"),
        ("photo/prairie_falcon.jpg", "animal", "动物"),
        ("offsettime/HMD_Nokia_8.3_5G.jpg", "boat or ship", "船"),
        ("avif/Irvine_CA.avif", "landscape", "风景"),
    ],
)
def test_a_photo_is_named_in_both_languages(
    labeller: Labeller, corpus: Path, name: str, english: str, chinese: str
) -> None:
    labels = labeller.label(photo(corpus, name), [])

    assert said(labels)[english] == chinese
    confidences = [label.confidence for label in labels]
    assert confidences == sorted(confidences)
    assert all(0.4 < confidence <= 1.0 for confidence in confidences)


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name",
    [
        "ocr-en/linn.png", "ocr-en/bill.png", "ocr-en/phototest.tif", "ocr-en/simple.png",
        "ocr-zh/short.png", "ocr-zh/tj_chinese.png", "ocr-ja/jpn-vert.jpeg", "png16/abc.png",
        "receipt/qr_bill_example.jpg", "receipt/SammyMaystoneLinesTest.png",
        "screenshot/multi-line_cn1.png", "screenshot/multi-line_cn2.png", "diagram/CLIP.png",
        "photo-text/en_easyocr_english.png", "caption/test_llm.jpg", "orientation/f1t.jpg",
        "tiff/G31D_MULTI.TIF", "palette/p_trns_single.png", "photo/duck_and_truck.jpg",
    ],
)  # fmt: skip
def test_pages_screens_and_drawings_are_not_named_even_unread(
    labeller: Labeller, corpus: Path, name: str
) -> None:
    assert labeller.label(photo(corpus, name), []) == []


@pytest.mark.corpus
def test_a_photo_that_text_covers_is_not_named(labeller: Labeller, corpus: Path) -> None:
    image = photo(corpus, "photo/az_dog.jpg")
    wide, high = image.width, image.height / 10
    line = OcrLine("SALE", 0.9, ((0, 0), (wide, 0), (wide, high), (0, high)))
    small = OcrLine("7", 0.9, ((0, 0), (20, 0), (20, 20), (0, 20)))

    assert labeller.label(image, [line]) == []
    assert "dog" in said(labeller.label(image, [small]))


@pytest.mark.corpus
@pytest.mark.parametrize("mode", ["L", "P", "CMYK", "RGBA"])
def test_other_colour_modes_are_looked_at_too(labeller: Labeller, corpus: Path, mode: str) -> None:
    image = photo(corpus, "sidecar/IMG_5910.jpg")

    assert "animal" in said(labeller.label(image.convert(mode), []))


@pytest.mark.parametrize("size", [(1, 1), (95, 4000), (4000, 3)])
def test_a_small_picture_or_strip_is_not_named(labeller: Labeller, size: tuple[int, int]) -> None:
    assert labeller.label(Image.new("RGB", size, "white"), []) == []


def test_shapes_and_gradients_are_not_named(labeller: Labeller) -> None:
    gradient = Image.linear_gradient("L").resize((640, 480))
    chart = Image.new("RGB", (640, 480), "white")
    for number in range(6):
        ImageDraw.Draw(chart).rectangle(
            (60 + 90 * number, 400 - 50 * number, 120 + 90 * number, 440), "navy"
        )

    assert labeller.label(gradient, []) == []
    assert labeller.label(chart, []) == []


def test_the_same_picture_gives_the_same_labels(labeller: Labeller) -> None:
    image = Image.effect_noise((300, 300), 90)

    assert labeller.label(image, []) == labeller.label(image, [])


def test_a_labeller_that_is_switched_off_is_none() -> None:
    off = ModelSettings(roles={"label": RoleSettings(adapter="none")})

    assert LocalTools(off).labeller() is None
