"""Boxes and words of text lines that were read in a picture."""

import math
import re
from typing import TYPE_CHECKING, TypeAlias

from muniment.adapters.ports import OcrLine

if TYPE_CHECKING:
    from muniment.store.records import Box

Corners: TypeAlias = tuple[float, float, float, float]
SKEW_DEGREES = 1.0
SURE_CONFIDENCE = 0.9
_CORNERS = 4
_DIGITS = 6
_HAN = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_HAN_GAP = re.compile(rf"(?<=[{_HAN}])[ \t\u3000]+(?=[{_HAN}])")


def collapse_han_spaces(text: str) -> str:
    """Take out the spaces that OCR sets between Chinese or Japanese characters."""
    return _HAN_GAP.sub("", text).strip()


def words_key(text: str) -> str:
    """Return the letters and digits of a line, by which repeats of it are known."""
    return "".join(character for character in text.casefold() if character.isalnum())


def is_noise(key: str, confidence: float) -> bool:
    """Tell a mark taken for a letter: edges and leaves are, one at a time and unsurely."""
    return not key or (len(key) == 1 and confidence < SURE_CONFIDENCE)


def corners_of(line: OcrLine, size: tuple[int, int]) -> Corners:
    """Return (left, top, right, bottom) of a line, 0..1 of the picture that it was read in."""
    width, height = size
    across = [min(1.0, max(0.0, x / width)) for x, _ in line.quad]
    down = [min(1.0, max(0.0, y / height)) for _, y in line.quad]
    return min(across), min(down), max(across), max(down)


def box_fields(corners: Corners) -> tuple[float, float, float, float]:
    """Return x, y, w, h, rounded so that they stay inside the unit square."""
    left, top, right, bottom = (round(min(1.0, max(0.0, value)), _DIGITS) for value in corners)
    return left, top, round(max(0.0, right - left), _DIGITS), round(max(0.0, bottom - top), _DIGITS)


def box_of(corners: Corners) -> "Box":
    """Build the record of a box."""
    from muniment.store.records import Box

    x, y, w, h = box_fields(corners)
    return Box(x=x, y=y, w=w, h=h)


def quad_of(line: OcrLine, size: tuple[int, int]) -> tuple[tuple[float, float], ...] | None:
    """Return the four corners (0..1) of a line that runs askew, else null."""
    if len(line.quad) != _CORNERS or _askew(line.quad) <= SKEW_DEGREES:
        return None
    width, height = size
    return tuple(
        (
            round(min(1.0, max(0.0, x / width)), _DIGITS),
            round(min(1.0, max(0.0, y / height)), _DIGITS),
        )
        for x, y in line.quad
    )


def overlap_share(one: Corners, other: Corners) -> float:
    """Return intersection over union."""
    common = intersection(one, other)
    union = area(one) + area(other) - common
    return common / union if union > 0 else 0.0


def intersection(one: Corners, other: Corners) -> float:
    """Return the area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0


def area(corners: Corners) -> float:
    """Return the area of a box."""
    return max(0.0, corners[2] - corners[0]) * max(0.0, corners[3] - corners[1])


def union_of(corners: "list[Corners]") -> Corners:
    """Return the smallest box around all of them."""
    return (
        min(box[0] for box in corners),
        min(box[1] for box in corners),
        max(box[2] for box in corners),
        max(box[3] for box in corners),
    )


def _askew(quad: tuple[tuple[float, float], ...]) -> float:
    """Return by how many degrees the longer side leaves the nearest axis."""
    sides = [
        (quad[1][0] - quad[0][0], quad[1][1] - quad[0][1]),
        (quad[3][0] - quad[0][0], quad[3][1] - quad[0][1]),
    ]
    across, down = max(sides, key=lambda side: math.hypot(*side))
    angle = math.degrees(math.atan2(down, across)) % 90
    return min(angle, 90 - angle)
