"""Rows of cells as passages that name their range, and the words of a range read again."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.passages import PASSAGE_UNITS, units, visible
from muniment.adapters.ports import Draft
from muniment.store.errors import InputError

# Cells of a row by column (from 1); only those that show something.
Row: TypeAlias = tuple[int, Mapping[int, str]]
# So many empty cells side by side stand for a gap, not for columns.
GAP = 8
LAST_ROW, LAST_COLUMN = 1_048_576, 16_384
_RANGE = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")
_ALPHABET = 26


class Area(NamedTuple):
    """A block of cells; all four are counted from 1 and included."""

    top: int
    left: int
    bottom: int
    right: int

    def __str__(self) -> str:
        first, last = f"{letters(self.left)}{self.top}", f"{letters(self.right)}{self.bottom}"
        return first if first == last else f"{first}:{last}"


class Budget:
    """Counts cells down over all sheets of a book."""

    def __init__(self, cells: int) -> None:
        self.left = cells

    def rows(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Pass rows on until the budget is spent."""
        for number, cells in rows:
            self.left -= len(cells)
            if self.left < 0:
                return
            yield number, cells


def letters(column: int) -> str:
    """Return the name of a column: 1 is A, 27 is AA."""
    name = ""
    while column:
        column, rest = divmod(column - 1, _ALPHABET)
        name = chr(ord("A") + rest) + name
    return name


def column_of(name: str) -> int:
    """Return the number of a column from its name."""
    number = 0
    for letter in name:
        number = number * _ALPHABET + ord(letter) - ord("A") + 1
    return number


def area_of(text: str) -> Area:
    """Read a range such as ``B2:D9``; ``InputError`` ``not_extractable`` when it is none."""
    match = _RANGE.fullmatch(text)
    if match is None:
        raise InputError(f"{text} is no range of cells", code="not_extractable")
    left, top = column_of(match[1]), int(match[2])
    return Area(top, left, int(match[4] or top), column_of(match[3]) if match[3] else left)


def drafts(sheet: str, rows: Iterable[Row], notes: Mapping[str, Any]) -> Iterator[Draft]:
    """Yield the blocks of a sheet: rows that follow on each other, up to a passage's length."""
    from muniment.store.records import CellLocator

    header = ""
    for continued, block in _blocks(rows):
        area = _around(block)
        text = area_text(block, area)
        attributes = {**notes, **({"header": header} if continued else {})}
        if not continued:
            header = text.partition("\n")[0][: PASSAGE_UNITS // 4]
        yield Draft(
            kind="page_text",
            text=text,
            locator=CellLocator(sheet=sheet, range=str(area)),
            confidence=1.0,
            language=script_language(text),
            attributes=attributes,
        )


def area_text(rows: Iterable[Row], area: Area) -> str:
    """Return the words of a block of cells, one line a row."""
    lines = []
    for number, cells in rows:
        if number > area.bottom:
            break
        if number >= area.top and (line := _line(cells, area)):
            lines.append(line)
    return "\n".join(lines)


def shown(text: str) -> str:
    """Return the words of a cell on one line."""
    return " ".join(text.split())


def _line(cells: Mapping[int, str], area: Area) -> str:
    pieces: list[str] = []
    last = area.left - 1
    for column in sorted(cells):
        if area.left <= column <= area.right:
            empty = column - last - 1
            pieces += ["…"] if empty > GAP else [""] * empty
            pieces.append(cells[column])
            last = column
    return " | ".join(pieces)


def _blocks(rows: Iterable[Row]) -> Iterator[tuple[bool, list[Row]]]:
    """Yield whether a block goes on with the table before it, and its rows."""
    held: list[Row] = []
    size, continued = 0, False
    for row in rows:
        number, cells = row
        if not any(map(visible, cells.values())):
            continue
        length = sum(units(text) + 3 for text in cells.values())
        apart = bool(held) and number > held[-1][0] + 1
        if held and (apart or size + length > PASSAGE_UNITS):
            yield continued, held
            held, size, continued = [], 0, not apart
        held.append(row)
        size += length
    if held:
        yield continued, held


def _around(block: list[Row]) -> Area:
    columns = [column for _, cells in block for column in cells]
    return Area(block[0][0], min(columns), block[-1][0], max(columns))
