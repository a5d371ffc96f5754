"""Walk over WordprocessingML: which of its elements are text that a reader of the page sees."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.written import Written

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_VAL = f"{_W}val"
_MARKS = {
    f"{_W}tab": "\t",
    f"{_W}br": "\n",
    f"{_W}cr": "\n",
    f"{_W}noBreakHyphen": "-",
}
# Deleted or moved text, codes of fields, readings of ruby text, properties.
_UNSEEN = frozenset(
    f"{_W}{name}"
    for name in ("del", "moveFrom", "instrText", "delText", "rt", "rPr", "pPr", "tblPr", "trPr")
)
_HEADING = re.compile(r"(?:heading|标题|titre|überschrift)\s?(\d)", re.I)
_MAX_DEPTH = 200


def levels_of(styles: "Element | None") -> dict[str, int]:
    """Return the level of each style that is a heading (from 1)."""
    levels: dict[str, int] = {}
    for style in styles.iter(f"{_W}style") if styles is not None else ():
        name = style.find(f"{_W}name")
        outline = style.find(f"{_W}pPr/{_W}outlineLvl")
        title = "" if name is None else name.get(_VAL, "")
        if match := _HEADING.match(title):
            levels[style.get(f"{_W}styleId", "")] = int(match[1])
        elif outline is not None and outline.get(_VAL, "").isdigit():
            levels[style.get(f"{_W}styleId", "")] = int(outline.get(_VAL, "8")) + 1
        elif title.lower() == "title":
            levels[style.get(f"{_W}styleId", "")] = 1
    return levels


class Reading:
    """Puts the paragraphs and tables of a story into a text, in the order of the file."""

    def __init__(self, written: Written, levels: Mapping[str, int]) -> None:
        self._written = written
        self._levels = levels

    def walk(self, story: "Element", depth: int = 0) -> None:
        """Read what stands in a story, a cell or a text box."""
        if depth > _MAX_DEPTH:
            return
        for element in story:
            if element.tag == f"{_W}p":
                self._paragraph(element, depth)
            elif element.tag == f"{_W}tbl":
                self._written.table([_row(row) for row in _inside(element, "tr")])
            elif element.tag == f"{_MC}AlternateContent":
                self.walk(_choice(element), depth + 1)
            elif element.tag not in _UNSEEN:
                self.walk(element, depth + 1)

    def _paragraph(self, paragraph: "Element", depth: int) -> None:
        boxes: list[Element] = []
        text, breaks = [], 0
        for piece in _pieces(paragraph):
            if isinstance(piece, str):
                text.append(piece)
            elif piece.tag == f"{_W}txbxContent":
                boxes.append(piece)
            else:
                breaks += 1
                if not "".join(text).strip():
                    self._written.page_break()
                    breaks -= 1
        self._written.paragraph("".join(text), level=self._level(paragraph), item=_item(paragraph))
        for _ in range(breaks):
            self._written.page_break()
        for box in boxes:
            self.walk(box, depth + 1)

    def _level(self, paragraph: "Element") -> int:
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        if outline is not None and outline.get(_VAL, "").isdigit():
            return int(outline.get(_VAL, "8")) + 1
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        return 0 if style is None else self._levels.get(style.get(_VAL, ""), 0)


def _item(paragraph: "Element") -> bool:
    number = paragraph.find(f"{_W}pPr/{_W}numPr/{_W}numId")
    return number is not None and number.get(_VAL) != "0"


def _choice(alternate: "Element") -> "Element":
    """Return the first variant of content that programs may choose from."""
    for tag in (f"{_MC}Choice", f"{_MC}Fallback"):
        for variant in alternate.findall(tag):
            if next(variant.iter(f"{_W}t"), None) is not None:
                return variant
    first = next(iter(alternate), None)
    return alternate if first is None else first


def _pieces(paragraph: "Element") -> Iterator["str | Element"]:
    """Yield the words of a paragraph, its text boxes, and the page breaks that Word last drew."""
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if element.tag in {f"{_W}t", f"{_M}t"}:
            yield element.text or ""
        elif element.tag in {f"{_W}txbxContent", f"{_W}lastRenderedPageBreak"}:
            yield element
        elif element.tag in _MARKS:
            yield _MARKS[element.tag]
        elif element.tag == f"{_MC}AlternateContent":
            stack.append(_choice(element))
        elif element.tag not in _UNSEEN:
            stack.extend(reversed(element))


def _inside(element: "Element", name: str) -> Iterator["Element"]:
    """Yield the rows of a table or the cells of a row, in content controls too."""
    for child in element:
        if child.tag == f"{_W}{name}":
            yield child
        elif child.tag in {f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins"}:
            yield from _inside(child, name)


def _row(row: "Element") -> list[str]:
    return [_cell(cell) for cell in _inside(row, "tc")]


def _cell(cell: "Element") -> str:
    words = (
        "".join(piece for piece in _pieces(paragraph) if isinstance(piece, str))
        for paragraph in cell.iter(f"{_W}p")
    )
    return " ".join(word.strip() for word in words if word.strip())
