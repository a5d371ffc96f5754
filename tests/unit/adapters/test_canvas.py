from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from muniment.adapters.models import canvas


@given(width=st.integers(1, 900), height=st.integers(1, 12_000))
def test_tiles_cover_a_picture_and_each_point_is_kept_once(width: int, height: int) -> None:
    tiles = list(canvas.tiles(Image.new("1", (width, height))))

    kept = [keep for _, keep in tiles]
    assert kept[0][1] == 0
    assert kept[-1][3] > height
    assert all(one[3] == other[1] for one, other in pairwise(kept))
    for tile, keep in tiles:
        assert 0 <= tile[1] <= keep[1] < keep[3]
        assert keep[3] <= tile[3] + 1


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_points_of_a_turned_picture_are_mapped_back(turn: int) -> None:
    image = Image.new("L", (40, 30))
    image.putpixel((7, 3), 255)
    turned = canvas.turned(image, turn)
    x, y = next(
        (x, y)
        for x in range(turned.width)
        for y in range(turned.height)
        if turned.getpixel((x, y)) == 255
    )

    ((back_x, back_y),) = canvas.unturned(((x + 0.5, y + 0.5),), turn, (40.0, 30.0))

    assert (back_x, back_y) == (7.5, 3.5)


@pytest.mark.parametrize("size", [(5000, 3000), (640, 480), (300, 20), (9, 9), (20, 1500)])
def test_a_fitted_picture_maps_its_corners_back_to_the_given_ones(size: tuple[int, int]) -> None:
    fitted = canvas.fitted(Image.new("RGB", size, "white"))

    width, height = fitted.image.size
    (left, top), (right, bottom) = fitted.back(((0.0, 0.0), (float(width), float(height))))

    assert max(width, height) <= 2 * canvas.MAX_SIDE
    assert (left, top) == (0.0, 0.0)
    assert (right, bottom) == pytest.approx(size, abs=1)


def test_what_is_transparent_becomes_white() -> None:
    flat = canvas.flat(Image.new("RGBA", (2, 2), (0, 0, 0, 0)))

    assert (flat.mode, flat.getpixel((0, 0))) == ("RGB", (255, 255, 255))
