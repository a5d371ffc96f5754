"""Columns before rows, but figures beside their labels."""

from hypothesis import given
from hypothesis import strategies as st

from muniment.adapters.media.boxes import Corners
from muniment.adapters.media.reading_order import reading_order


def row(y: float, left: float, right: float) -> Corners:
    return left, y, right, y + 0.02


def test_one_column_is_read_from_top_to_bottom() -> None:
    assert reading_order([row(0.5, 0.1, 0.9), row(0.1, 0.1, 0.9), row(0.3, 0.1, 0.5)]) == [1, 2, 0]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [row(0.1 * i, 0.1, 0.48) for i in range(1, 6)]
    right = [row(0.1 * i + 0.003, 0.52, 0.9) for i in range(1, 6)]
    mixed = [box for pair in zip(left, right, strict=True) for box in pair]

    assert reading_order(mixed) == [0, 2, 4, 6, 8, 1, 3, 5, 7, 9]


def test_a_heading_over_both_columns_comes_first_and_a_foot_last() -> None:
    boxes = [row(0.02, 0.2, 0.8)]
    boxes += [row(0.1 * i, 0.1, 0.48) for i in range(1, 5)]
    boxes += [row(0.1 * i, 0.52, 0.9) for i in range(1, 5)]
    boxes += [row(0.95, 0.49, 0.51)]

    assert reading_order(boxes) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_three_columns_are_read_in_turn() -> None:
    boxes = [
        row(0.1 * i, 0.05 + 0.32 * column, 0.33 + 0.32 * column)
        for i in range(1, 6)
        for column in range(3)
    ]

    assert reading_order(boxes) == [0, 3, 6, 9, 12, 1, 4, 7, 10, 13, 2, 5, 8, 11, 14]


def test_the_amounts_of_a_receipt_stay_beside_their_items() -> None:
    boxes = [box for i in range(1, 6) for box in (row(0.1 * i, 0.1, 0.4), row(0.1 * i, 0.8, 0.9))]

    assert reading_order(boxes) == list(range(10))


def test_nothing_has_an_order_too() -> None:
    assert reading_order([]) == []


unit = st.floats(0, 1, allow_nan=False)


@given(st.lists(st.tuples(unit, unit, unit, unit), max_size=40))
def test_every_box_is_read_exactly_once(raw: list[Corners]) -> None:
    boxes = [(min(a, c), min(b, d), max(a, c), max(b, d)) for a, b, c, d in raw]

    assert sorted(reading_order(boxes)) == list(range(len(boxes)))
