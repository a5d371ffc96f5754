"""Walk over OpenDocument content: paragraphs, lists, tables, notes, cells and slides."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.sheets import LAST_ROW, Row, shown
from muniment.adapters.formats.office.written import Written

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_PRESENTATION = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}"
_MARKS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
# What is not part of the sentence that it stands in, or is not shown.
_APART = frozenset(
    (f"{_TEXT}note", f"{_OFFICE}annotation", f"{_DRAW}frame", f"{_DRAW}custom-shape")
)
_UNSEEN = frozenset(
    (
        *(f"{_TEXT}tracked-changes", f"{_TEXT}ruby-text", f"{_TEXT}note-citation"),
        *(f"{_TEXT}sequence-decls", f"{_TEXT}variable-decls", f"{_OFFICE}forms"),
        *(f"{_TEXT}table-of-content-source", f"{_PRESENTATION}notes"),
    )
)
_ROWS = frozenset(
    f"{_TABLE}{name}" for name in ("table-rows", "table-header-rows", "table-row-group")
)
_CELLS = frozenset((f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"))
_MAX_DEPTH = 200
# A filled cell that claims to stand this often in a row is formatting.
_MAX_REPEATS = 256


class Story:
    """Puts the paragraphs and tables of a story into a text, in the order of the file."""

    def __init__(self, written: Written) -> None:
        self._written = written

    def walk(self, story: "Element", depth: int = 0, *, item: bool = False) -> None:
        """Read what stands in a body, a frame or a list."""
        if depth > _MAX_DEPTH:
            return
        for element in story:
            if element.tag in {f"{_TEXT}p", f"{_TEXT}h"}:
                self._paragraph(element, depth, item=item)
            elif element.tag == f"{_TABLE}table":
                self._written.table([_words_of(row) for row in _rows(element)])
            elif element.tag not in _UNSEEN:
                self.walk(element, depth + 1, item=element.tag == f"{_TEXT}list-item")

    def _paragraph(self, paragraph: "Element", depth: int, *, item: bool) -> None:
        apart: list[Element] = []
        level = 0
        if paragraph.tag == f"{_TEXT}h":
            level = int(_number(paragraph.get(f"{_TEXT}outline-level"), 1))
        self._written.paragraph(_paragraph(paragraph, apart), level=level, item=item)
        for element in apart:
            self.walk(element, depth + 1)


def slide_parts(page: "Element") -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the words on a slide and those in its notes."""
    written = Written()
    Story(written).walk(page)
    yield written.text, {}
    notes = page.find(f"{_PRESENTATION}notes")
    if notes is not None:
        beside = Written()
        Story(beside).walk(notes)
        yield beside.text, {"part": "notes"}


def sheet_rows(table: "Element") -> Iterator[Row]:
    """Yield the rows of a sheet that have anything in them; repeated ones once each."""
    number = 1
    for row in _rows(table):
        times = _number(row.get(f"{_TABLE}number-rows-repeated"), 1)
        cells = dict(_cells(row))
        if cells:
            for again in range(min(times, _MAX_REPEATS)):
                yield number + again, cells
        number += times
        if number > LAST_ROW:
            return


def _cells(row: "Element") -> Iterator[tuple[int, str]]:
    column = 1
    for cell in row:
        if cell.tag not in _CELLS:
            continue
        times = _number(cell.get(f"{_TABLE}number-columns-repeated"), 1)
        if text := _cell_text(cell):
            for again in range(min(times, _MAX_REPEATS)):
                yield column + again, text
        column += times


def _cell_text(cell: "Element") -> str:
    """Return a date as ISO 8601, anything else as it is shown."""
    if day := cell.get(f"{_OFFICE}date-value"):
        return day.replace("T", " ").removesuffix(" 00:00:00")
    paragraphs = cell.findall(f"{_TEXT}p")
    words = " ".join(_paragraph(paragraph, []) for paragraph in paragraphs)
    return shown(words) or cell.get(f"{_OFFICE}value", "")


def _rows(table: "Element") -> Iterator["Element"]:
    for element in table:
        if element.tag == f"{_TABLE}table-row":
            yield element
        elif element.tag in _ROWS:
            yield from _rows(element)


def _words_of(row: "Element") -> list[str]:
    return [
        " ".join(_paragraph(paragraph, []) for paragraph in cell.iter(f"{_TEXT}p"))
        for cell in row
        if cell.tag in _CELLS
    ]


def _paragraph(paragraph: "Element", apart: list["Element"]) -> str:
    """Return the words of a paragraph; what stands apart from it is put aside."""
    words = [paragraph.text or ""]
    stack = list(reversed(paragraph))
    tails: dict[int, str] = {}
    while stack:
        element = stack.pop()
        if id(element) in tails:
            words.append(tails.pop(id(element)))
            continue
        if element.tag in _APART:
            apart.append(element)
        elif element.tag in _MARKS:
            words.append(_MARKS[element.tag])
        elif element.tag == f"{_TEXT}s":
            words.append(" " * min(80, _number(element.get(f"{_TEXT}c"), 1)))
        elif element.tag not in _UNSEEN:
            words.append(element.text or "")
            tails[id(element)] = element.tail or ""
            stack.append(element)
            stack.extend(reversed(element))
            continue
        words.append(element.tail or "")
    return "".join(words)


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else otherwise  # noqa: PLR2004 (no sheet is that large)
