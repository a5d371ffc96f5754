from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from muniment.adapters.ports import Ocr, OcrLine
from muniment.adapters.tools import LocalTools

FONT = Path("/usr/share/fonts/truetype/wqy/wqy-microhei.ttc")
TEXT = ("Meeting notes for Tuesday", "王小明在上海虹桥火车站", "Total: 42 items")
STEP, LEFT = 90, 60


@pytest.fixture(scope="module")
def ocr(tools: LocalTools) -> Ocr:
    return tools.ocr()


def page(lines: tuple[str, ...] = TEXT, size: tuple[int, int] = (700, 340)) -> Image.Image:
    if not FONT.is_file():
        pytest.skip("the font wqy-microhei is not installed")
    image = Image.new("RGB", size, "white")
    font = ImageFont.truetype(FONT, 36)
    for number, line in enumerate(lines):
        ImageDraw.Draw(image).text((LEFT, 40 + number * STEP), line, font=font, fill="black")
    return image


def texts(lines: list[OcrLine]) -> list[str]:
    return [line.text.replace(" ", "") for line in lines]


def plain(lines: tuple[str, ...] = TEXT) -> list[str]:
    return [line.replace(" ", "") for line in lines]


def test_english_and_chinese_are_read_in_order_with_confidence(ocr: Ocr) -> None:
    lines = ocr.read(page())

    assert texts(lines) == plain()
    assert all(0.9 < line.confidence <= 1.0 for line in lines)


def test_a_quad_surrounds_its_line_in_pixels_of_the_image(ocr: Ocr) -> None:
    quad = ocr.read(page())[1].quad

    (left, top), (right, _), (_, bottom), _ = quad
    assert left == pytest.approx(LEFT, abs=15)
    assert right == pytest.approx(LEFT + 11 * 36, abs=15)
    assert top < 40 + STEP + 10 < bottom


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_a_page_on_its_side_or_head_is_read_in_its_own_order(ocr: Ocr, turn: int) -> None:
    upright = ocr.read(page())
    turned = page().rotate(turn, expand=True)

    lines = ocr.read(turned)

    assert texts(lines) == plain()
    for line, other in zip(lines, upright, strict=True):
        for corner, (x, y) in zip(line.quad, other.quad, strict=True):
            assert corner == pytest.approx(moved(x, y, turn, page().size), abs=8)


def moved(x: float, y: float, turn: int, size: tuple[int, int]) -> tuple[float, float]:
    """Return where a point goes when its image is turned counter-clockwise."""
    width, height = size
    return {90: (y, width - x), 180: (width - x, height - y), 270: (height - y, x)}[turn]


def test_a_single_short_word_upside_down_is_read(ocr: Ocr) -> None:
    (line,) = ocr.read(page(("Muniment",), (420, 160)).rotate(180))

    assert line.text == "Muniment"


def test_a_picture_without_text_gives_an_empty_list(ocr: Ocr) -> None:
    gradient = Image.linear_gradient("L").resize((640, 480))

    assert ocr.read(gradient) == []
    assert ocr.read(Image.new("RGB", (300, 300), "navy")) == []


@pytest.mark.parametrize("size", [(1, 1), (3, 400), (400, 2)])
def test_a_picture_too_small_for_text_gives_an_empty_list(ocr: Ocr, size: tuple[int, int]) -> None:
    assert ocr.read(Image.new("RGB", size, "white")) == []


def test_a_tiny_strip_that_its_text_fills_is_read(ocr: Ocr) -> None:
    strip = page(("中国网络空间安全",), (420, 160)).crop((LEFT, 40, LEFT + 8 * 36, 82))
    small = strip.resize((strip.width // 3, strip.height // 3), Image.Resampling.LANCZOS)

    (line,) = ocr.read(small)

    assert line.text == "中国网络空间安全"
    assert all(0 <= x <= small.width and 0 <= y <= small.height for x, y in line.quad)


def test_a_long_screenshot_is_read_whole_and_each_line_once(ocr: Ocr) -> None:
    spoken = tuple(f"Message number {number:02}" for number in range(30))
    long = page(spoken, (600, 30 * STEP + 40))

    lines = ocr.read(long)

    assert texts(lines) == plain(spoken)
    assert lines[-1].quad[0][1] == pytest.approx(40 + 29 * STEP, abs=20)


@pytest.mark.parametrize("mode", ["1", "P", "LA", "CMYK", "I;16"])
def test_every_colour_mode_is_read(ocr: Ocr, mode: str) -> None:
    image = page(("Total: 42 items",), (420, 160))
    image = (
        image.convert("I").point(lambda value: value * 257).convert("I;16")
        if (mode == "I;16")
        else image.convert(mode)
    )

    assert texts(ocr.read(image)) == plain(("Total: 42 items",))


def test_text_on_a_transparent_ground_is_read(ocr: Ocr) -> None:
    image = page(("Total: 42 items",), (420, 160))
    ink = image.convert("L").point(lambda value: 255 - value)
    image.putalpha(ink)
    bare = Image.new("RGBA", image.size, (0, 0, 0, 0))
    bare.alpha_composite(image)

    assert texts(ocr.read(bare)) == plain(("Total: 42 items",))
