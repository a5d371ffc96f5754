"""The text layer of a PDF page: lines and paragraphs with boxes of the page as displayed."""

import ctypes
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from muniment.adapters.media.boxes import Corners, collapse_han_spaces, union_of
from muniment.adapters.media.reading_order import reading_order

MAX_CHARACTERS = 200_000
BLOCK_CHARACTERS = 1200
GARBAGE_SHARE = 0.3
PARAGRAPH_PITCH = 1.7
SIZE_CHANGE = 1.35
COLUMN_GAP = 3.0
LINE_SHIFT = 0.7
CELL_GAP = 12.0
CELL_SHARE = 0.15
MAX_CODE = 0x10FFFF
_DEVICE = 1_000_000
_HYPHENS = ("\x02", "\ufffe", "\u00ad")
_CID = re.compile(r"\(cid:\d+\)")
_WIDE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")

Mapping = Callable[[float, float], tuple[float, float]]


@dataclass(slots=True)
class TextLine:
    """A run of characters; ``height`` is that of its font, as a share of the page.

    ``flow`` is the box as the reading goes: itself, or turned upright for vertical writing.
    """

    text: str
    corners: Corners
    height: float
    flow: Corners


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Lines that belong together."""

    text: str
    corners: Corners


def displayed(page: Any) -> Mapping:
    """Return the map from PDF user space to the displayed page: 0..1, origin top left.

    Rotation and crop box are in it, because the library's own transform is measured.
    """
    import pypdfium2.raw as pdfium

    def device(x: float, y: float) -> tuple[float, float]:
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(page, 0, 0, _DEVICE, _DEVICE, 0, x, y, across, down)
        return across.value / _DEVICE, down.value / _DEVICE

    span = 1000.0
    origin, right, up = device(0, 0), device(span, 0), device(0, span)
    a, b = (right[0] - origin[0]) / span, (right[1] - origin[1]) / span
    c, d = (up[0] - origin[0]) / span, (up[1] - origin[1]) / span
    return lambda x, y: (origin[0] + a * x + c * y, origin[1] + b * x + d * y)


def mapped(place: Mapping, bounds: tuple[float, float, float, float]) -> Corners:
    """Map (left, bottom, right, top) of user space to corners of the displayed page."""
    one, other = place(bounds[0], bounds[1]), place(bounds[2], bounds[3])
    return (
        min(one[0], other[0]),
        min(one[1], other[1]),
        max(one[0], other[0]),
        max(one[1], other[1]),
    )


def text_lines(page: Any, place: Mapping) -> tuple[list[TextLine], float]:
    """Return the lines of a page in reading order, and which share of them is garbage (0..1)."""
    text_page = page.get_textpage()
    try:
        reader = _LineReader(text_page, place)
        lines = list(reader.lines())
    finally:
        text_page.close()
    # Text outside the displayed page (cropped away, or off the paper) is not on it.
    shown = [line for line in lines if _is_on_page(line.corners)]
    if _runs_down(shown):
        for line in shown:
            left, top, right, bottom = line.corners
            line.flow = (top, 1 - right, bottom, 1 - left)
    ordered = [shown[index] for index in reading_order([line.flow for line in shown])]
    return ordered, reader.garbage_share()


def blocks(lines: list[TextLine]) -> Iterator[TextBlock]:
    """Group lines into paragraphs of at most 1,200 characters."""
    current: list[TextLine] = []
    length = 0
    for line in lines:
        full = length + len(line.text) > BLOCK_CHARACTERS
        if current and (full or not _follows(current, line)):
            yield from _block(current)
            current, length = [], 0
        current.append(line)
        length += len(line.text) + 1
    yield from _block(current)


class _LineReader:
    """Walks the characters of a text page once."""

    def __init__(self, text_page: Any, place: Mapping) -> None:
        import pypdfium2.raw as pdfium

        self._pdfium = pdfium
        self._page = text_page
        self._place = place
        self._seen = 0
        self._garbage = 0
        self._units: list[int] = []
        self._boxes: list[Corners] = []
        self._height = 0.0

    def lines(self) -> Iterator[TextLine]:
        for index in range(min(self._page.count_chars(), MAX_CHARACTERS)):
            unit = self._pdfium.FPDFText_GetUnicode(self._page, index)
            if unit in (10, 13):
                yield from self._flush()
            elif unit in (9, 32, 160, 0):
                self._units.append(32)
            else:
                corners = self._corners(index)
                if self._boxes and self._far(corners):
                    yield from self._flush()
                self._add(index, unit, corners)
        yield from self._flush()

    def garbage_share(self) -> float:
        return self._garbage / self._seen if self._seen else 0.0

    def _add(self, index: int, unit: int, corners: Corners) -> None:
        if not self._boxes:
            loose = self._page.get_charbox(index, loose=True)
            box = mapped(self._place, loose)
            self._height = max(box[3] - box[1], 1e-4)
        self._units.append(unit)
        self._boxes.append(corners)
        self._seen += 1
        if _meaningless(unit) or self._pdfium.FPDFText_HasUnicodeMapError(self._page, index) == 1:
            self._garbage += 1

    def _corners(self, index: int) -> Corners:
        return mapped(self._place, self._page.get_charbox(index))

    def _far(self, corners: Corners) -> bool:
        """Tell whether a character lies a column or a line away from the one before.

        The library marks no line end after a hyphenated syllable. Going straight down is
        vertical writing, not a new line.
        """
        last = self._boxes[-1]
        aside = max(corners[0] - last[2], last[0] - corners[2])
        moved = abs((corners[1] + corners[3]) - (last[1] + last[3])) / 2
        if moved > LINE_SHIFT * self._height:
            return aside > LINE_SHIFT * self._height
        return corners[0] - last[2] > COLUMN_GAP * self._height

    def _flush(self) -> Iterator[TextLine]:
        raw = b"".join(min(unit, MAX_CODE).to_bytes(4, "little") for unit in self._units)
        text = raw.decode("utf-32-le", "surrogatepass")
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = re.sub(r" +", " ", text).strip()
        if cids := _CID.findall(text):
            self._garbage += sum(len(cid) for cid in cids)
        if text and self._boxes:
            corners = union_of(self._boxes)
            yield TextLine(collapse_han_spaces(text), corners, self._height, corners)
        self._units, self._boxes = [], []


def _meaningless(unit: int) -> bool:
    """Tell a code that stands for no character: replacement, private use, control."""
    character = chr(min(unit, MAX_CODE))
    private = unicodedata.category(character) in ("Co", "Cc")
    return character == "\ufffd" or (private and character not in _HYPHENS)


def _runs_down(lines: list[TextLine]) -> bool:
    """Tell whether most of the text is written from top to bottom."""
    down = sum(
        len(line.text)
        for line in lines
        if len(line.text) > 1 and line.corners[3] - line.corners[1] > 1.5 * _width(line)
    )
    return down * 2 > sum(len(line.text) for line in lines if len(line.text) > 1)


def _width(line: TextLine) -> float:
    return line.corners[2] - line.corners[0]


def _is_on_page(corners: Corners) -> bool:
    across, down = (corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2
    return 0 <= across <= 1 and 0 <= down <= 1


def _follows(block: list[TextLine], below: TextLine) -> bool:
    """Tell whether a line goes on with the block: the same row, or the next one under it."""
    above = block[-1]
    pitch = _middle(below) - _middle(above)
    height = max(above.height, below.height)
    if abs(pitch) < height / 2:
        # A figure belongs to the label on its row; a long text far off is another column's.
        gap = below.flow[0] - above.flow[2]
        return gap <= CELL_GAP * height or below.flow[2] - below.flow[0] <= CELL_SHARE
    if not 0 < pitch <= PARAGRAPH_PITCH * height:
        return False
    if height > SIZE_CHANGE * min(above.height, below.height):
        return False
    around = union_of([line.flow for line in block])
    return below.flow[0] <= around[2] and around[0] <= below.flow[2]


def _middle(line: TextLine) -> float:
    return (line.flow[1] + line.flow[3]) / 2


def _block(lines: list[TextLine]) -> Iterator[TextBlock]:
    text = ""
    for line in lines:
        text = _joined(text, line.text)
    text = text.rstrip("".join(_HYPHENS))
    for start in range(0, len(text), BLOCK_CHARACTERS * 2):
        piece = text[start : start + BLOCK_CHARACTERS * 2].strip()
        if piece:
            yield TextBlock(piece, union_of([line.corners for line in lines]))


def _joined(text: str, more: str) -> str:
    if not text:
        return more
    if text.endswith(_HYPHENS):
        return text[:-1] + more
    if _WIDE.match(text[-1]) and _WIDE.match(more[0]):
        return text + more
    return f"{text} {more}"
