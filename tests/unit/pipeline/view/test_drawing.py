"""Pictures on a terminal: the very bytes of each way to draw them."""

import base64
import io
import re

import pytest
from PIL import Image

from muniment.pipeline.view.drawing import CELL_WIDTH, draw, way_of

RED, BLUE = (255, 0, 0), (0, 0, 255)


def two_rows(width: int = 2) -> Image.Image:
    image = Image.new("RGB", (width, 2), RED)
    image.paste(BLUE, (0, 1, width, 2))
    return image


@pytest.mark.parametrize(
    ("environment", "way"),
    [
        ({}, None),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, None),
        ({"TERM": "vt100"}, None),
        ({"TERM": "xterm-256color"}, "blocks"),
        ({"TERM": "xterm", "COLORTERM": "24bit"}, "blocks"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, None),
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "kitty"),
        ({"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "blocks"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}, "iterm"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "foot"}, "sixel"),
    ],
)
def test_the_environment_tells_how_a_terminal_draws(
    environment: dict[str, str], way: str | None
) -> None:
    assert way_of(environment) == way


def test_half_blocks_hold_two_pixels_a_cell() -> None:
    cell = "\x1b[38;2;255;0;0m\x1b[48;2;0;0;255m▀"

    assert draw(two_rows(), "blocks", 10, 10) == f"{cell}{cell}\x1b[0m\n"


def test_half_blocks_keep_to_256_colours_where_there_are_no_more() -> None:
    cell = "\x1b[38;5;196m\x1b[48;5;21m▀"

    assert draw(two_rows(1), "blocks", 10, 10, deep=False) == f"{cell}\x1b[0m\n"


def test_a_last_row_without_a_lower_half_has_no_ground() -> None:
    drawn = draw(Image.new("RGB", (1, 1), RED), "blocks", 10, 10)

    assert drawn == "\x1b[38;2;255;0;0m▀\x1b[0m\n"


def test_blocks_never_need_more_cells_than_they_are_given() -> None:
    lines = draw(Image.new("RGB", (900, 1600)), "blocks", 30, 12).splitlines()

    assert len(lines) <= 12
    assert max(line.count("▀") for line in lines) <= 30


def test_kitty_gets_a_png_in_chunks_that_say_whether_more_follow() -> None:
    noise = Image.effect_noise((400, 200), 80)

    drawn = draw(noise, "kitty", 60, 20)

    parts = re.findall(r"\x1b_G([^;]*);([^\x1b]*)\x1b\\", drawn)
    assert "".join(f"\x1b_G{head};{data}\x1b\\" for head, data in parts) + "\n" == drawn
    assert [head for head, _ in parts] == ["a=T,f=100,q=2,m=1", *["m=1"] * (len(parts) - 2), "m=0"]
    assert all(len(data) <= 4096 for _, data in parts)
    found = Image.open(io.BytesIO(base64.b64decode("".join(data for _, data in parts))))
    assert found.size == (400, 200)


def test_iterm_gets_a_png_with_its_size() -> None:
    drawn = draw(two_rows(), "iterm", 10, 10)

    head, _, data = drawn.partition(":")
    png = base64.b64decode(data.removesuffix("\x07\n"))
    assert head == f"\x1b]1337;File=inline=1;size={len(png)};preserveAspectRatio=1"
    assert Image.open(io.BytesIO(png)).size == (2, 2)


def decoded(sixels: str) -> Image.Image:
    """Read sixels back, as a terminal does."""
    body = sixels.removeprefix("\x1bPq").removesuffix("\x1b\\\n")
    raster = re.match(r'"1;1;(\d+);(\d+)', body)
    assert raster is not None
    image = Image.new("RGB", (int(raster[1]), int(raster[2])))
    colours: dict[int, tuple[int, int, int]] = {}
    x = y = colour = 0
    tokens = r"#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)([?-~])|([?-~])|([$-])"
    for found in re.finditer(tokens, body[raster.end() :]):
        if found[1]:
            colour = int(found[1])
            if found[2]:
                red, green, blue = (round(int(found[part]) * 2.55) for part in (2, 3, 4))
                colours[colour] = (red, green, blue)
        elif found[8]:
            x, y = 0, y + (6 if found[8] == "-" else 0)
        else:
            sign = ord(found[6] or found[7]) - 63
            count = int(found[5] or 1)
            for row in (row for row in range(6) if sign >> row & 1):
                image.paste(colours[colour], (x, y + row, x + count, y + row + 1))
            x += count
    return image


def test_sixels_read_back_as_the_picture() -> None:
    image = Image.new("RGB", (50, 20), RED)
    image.paste(BLUE, (7, 3, 31, 16))

    assert decoded(draw(image, "sixel", 60, 20)).tobytes() == image.tobytes()


def test_a_large_picture_is_made_to_fit_in_pixels() -> None:
    drawn = draw(Image.new("RGB", (4_000, 1_000), RED), "sixel", 60, 20)

    assert decoded(drawn).size == (60 * CELL_WIDTH, 120)


def test_a_frame_is_one_pixel_of_the_blocks_around_the_place() -> None:
    drawn = draw(Image.new("RGB", (8, 8)), "blocks", 8, 4, box=(0.25, 0.25, 0.75, 0.75))

    pixels = [
        [match == "232;89;12" for match in re.findall(r"38;2;([\d;]+)m", line)]
        for line in drawn.splitlines()
    ]
    assert pixels[1] == [False, True, False, False, False, False, True, False]
    assert not any(pixels[0])
