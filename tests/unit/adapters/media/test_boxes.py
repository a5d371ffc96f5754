"""Boxes inside the unit square, words without stray spaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.adapters.media.boxes import (
    box_of,
    collapse_han_spaces,
    corners_of,
    is_noise,
    overlap_share,
    quad_of,
    words_key,
)
from muniment.adapters.ports import OcrLine


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("部 署 方 案", "部署方案"),
        ("部署 plan B 方案", "部署 plan B 方案"),
        ("你好 ， 世界", "你好，世界"),
        ("東 京　タ ワ ー", "東京タワー"),
        ("two  words", "two  words"),
    ],
)
def test_only_spaces_between_han_characters_go(text: str, expected: str) -> None:
    assert collapse_han_spaces(text) == expected


def test_a_line_is_known_by_its_letters_and_digits() -> None:
    assert words_key("  Total: 42 items! ") == "total42items"
    assert words_key("——·") == ""


def test_one_unsure_mark_is_noise_and_one_sure_character_is_not() -> None:
    assert is_noise("", 1.0)
    assert is_noise("i", 0.6)
    assert not is_noise("西", 0.99)
    assert not is_noise("ok", 0.6)


@pytest.mark.parametrize(("rise", "kept"), [(0.0, False), (1.0, False), (5.0, True)])
def test_corners_are_kept_only_beyond_a_degree(rise: float, kept: bool) -> None:
    line = OcrLine("x", 1.0, ((0, 10), (100, 10 + rise), (100, 30 + rise), (0, 30)))

    assert (quad_of(line, (200, 200)) is not None) is kept


def test_a_line_that_stands_on_end_is_not_askew() -> None:
    line = OcrLine("x", 1.0, ((30, 0), (30, 100), (10, 100), (10, 0)))

    assert quad_of(line, (200, 200)) is None


def test_equal_boxes_overlap_wholly_and_apart_ones_not_at_all() -> None:
    assert overlap_share((0, 0, 1, 1), (0, 0, 1, 1)) == 1
    assert overlap_share((0, 0, 0.4, 0.4), (0.5, 0.5, 1, 1)) == 0
    assert overlap_share((0, 0, 0, 0), (0, 0, 0, 0)) == 0


coordinate = st.floats(-1e4, 1e4, allow_nan=False)


@given(st.lists(st.tuples(coordinate, coordinate), min_size=4, max_size=4))
def test_every_box_lies_in_the_picture(quad: list[tuple[float, float]]) -> None:
    box = box_of(corners_of(OcrLine("x", 1.0, tuple(quad)), (640, 480)))

    assert box.x + box.w <= 1 + 1e-6
    assert box.y + box.h <= 1 + 1e-6
