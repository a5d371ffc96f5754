"""Put boxes of text in the order in which a person reads them: columns first, then rows."""

from collections.abc import Sequence
from statistics import median
from typing import TypeAlias

from muniment.adapters.media.boxes import Corners

MIN_COLUMN_LINES = 3
MIN_FILL = 0.4
MIN_ROW_FILL = 0.8
MIN_COLUMN_SHARE = 0.15
MAX_CROSSING_SHARE = 0.6
MIN_GUTTER_SHARE = 0.01
# Beyond this many boxes a page is no text to be read in columns, and the search is quadratic.
MAX_BOXES = 1500
_MAX_DEPTH = 4

Gutter: TypeAlias = tuple[float, float]


def reading_order(boxes: Sequence[Corners]) -> list[int]:
    """Return the indices of the boxes in reading order.

    A gutter parts columns when both sides hold lines that fill them; figures beside their labels
    (a receipt, a table) do not, and stay in their row. A line across the gutter closes the
    columns above it.
    """
    return _ordered(list(range(len(boxes))), boxes, 0)


def _ordered(indices: list[int], boxes: Sequence[Corners], depth: int) -> list[int]:
    gutter = _gutter(indices, boxes) if depth < _MAX_DEPTH else None
    if gutter is None:
        return _rows(indices, boxes)
    before, crossing, after = _sides(indices, boxes, gutter)
    result: list[int] = []
    for bar in [*_rows(crossing, boxes), None]:
        limit = float("inf") if bar is None else _middle(boxes[bar])
        for column in (before, after):
            above = [i for i in column if _middle(boxes[i]) < limit]
            column[:] = [i for i in column if _middle(boxes[i]) >= limit]
            result += _ordered(above, boxes, depth + 1)
        if bar is not None:
            result.append(bar)
    return result


def _gutter(indices: list[int], boxes: Sequence[Corners]) -> Gutter | None:
    """Return the strip that parts the page in two, or null; the one that fewest boxes touch."""
    if not 2 * MIN_COLUMN_LINES <= len(indices) <= MAX_BOXES:
        return None
    left = min(boxes[i][0] for i in indices)
    right = max(boxes[i][2] for i in indices)
    width = MIN_GUTTER_SHARE * (right - left)
    margin = MIN_COLUMN_SHARE * (right - left)
    rows = _row_numbers(indices, boxes)
    found: list[tuple[int, float]] = []
    for edge in {boxes[i][2] for i in indices}:
        if left + margin <= edge <= right - margin:
            sides = _sides(indices, boxes, (edge, edge + width))
            spans = (edge - left, right - edge - width)
            if _are_columns(sides, boxes, spans, rows):
                found.append((len(sides[1]), edge))
    if not found:
        return None
    edge = min(found)[1]
    return edge, edge + width


def _are_columns(
    sides: tuple[list[int], list[int], list[int]],
    boxes: Sequence[Corners],
    spans: tuple[float, float],
    rows: dict[int, int],
) -> bool:
    before, crossing, after = sides
    if len(crossing) > MAX_CROSSING_SHARE * (len(before) + len(crossing) + len(after)):
        return False
    return all(
        len(side) >= MIN_COLUMN_LINES and _fills(side, boxes, width, rows)
        for side, width in zip((before, after), spans, strict=True)
    )


def _fills(side: list[int], boxes: Sequence[Corners], width: float, rows: dict[int, int]) -> bool:
    """Tell whether a side is a column of text, or several that fill their rows together."""
    widths = [boxes[i][2] - boxes[i][0] for i in side]
    if median(widths) >= MIN_FILL * width:
        return True
    return sum(widths) >= MIN_ROW_FILL * width * len({rows[i] for i in side})


def _row_numbers(indices: list[int], boxes: Sequence[Corners]) -> dict[int, int]:
    return {i: number for number, row in enumerate(_grouped(indices, boxes)) for i in row}


def _sides(
    indices: list[int], boxes: Sequence[Corners], gutter: Gutter
) -> tuple[list[int], list[int], list[int]]:
    before: list[int] = []
    crossing: list[int] = []
    after: list[int] = []
    for i in indices:
        side = (
            before if boxes[i][2] <= gutter[0] else after if boxes[i][0] >= gutter[1] else crossing
        )
        side.append(i)
    return before, crossing, after


def _rows(indices: list[int], boxes: Sequence[Corners]) -> list[int]:
    rows = _grouped(indices, boxes)
    return [index for row in rows for index in sorted(row, key=lambda i: (boxes[i][0], i))]


def _grouped(indices: list[int], boxes: Sequence[Corners]) -> list[list[int]]:
    rows: list[list[int]] = []
    for index in sorted(indices, key=lambda i: (_middle(boxes[i]), boxes[i][0])):
        if rows and _same_row(boxes[rows[-1][0]], boxes[index]):
            rows[-1].append(index)
        else:
            rows.append([index])
    return rows


def _same_row(one: Corners, other: Corners) -> bool:
    lower = min(one[3] - one[1], other[3] - other[1])
    return abs(_middle(one) - _middle(other)) < lower / 2


def _middle(box: Corners) -> float:
    return (box[1] + box[3]) / 2
