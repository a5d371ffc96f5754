"""Excel workbooks: cells as they were last calculated, however wide a sheet claims to be."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.docx import PROPERTIES, main_part
from muniment.adapters.formats.office.media import Embedded
from muniment.adapters.formats.office.numbers import (
    BUILT_IN_DATES,
    date_text,
    is_date_format,
    number_text,
)
from muniment.adapters.formats.office.package import Package
from muniment.adapters.formats.office.properties import findings, properties
from muniment.adapters.formats.office.sheets import Budget, Row, column_of, drafts, shown
from muniment.adapters.ports import Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_TRUTH = {"0": "FALSE", "1": "TRUE"}


class XlsxReader:
    """Read workbooks (kinds ``page_text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the blocks of each sheet with their ranges.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``unreadable`` or a budget's.
        Ends ``partial`` with ``cell_limit`` or ``sheets_unread``.
        """
        from muniment.store.records import MemberLocator

        with Package(source, tools.limits) as package:
            core = properties(package.xml_or_none(PROPERTIES))
            yield from findings(core, MemberLocator(path=PROPERTIES))
            book, budget, found, broken = Book(package), Budget(tools.limits.max_cells), False, []
            for name, path, notes in book.sheets():
                try:
                    for draft in drafts(name, budget.rows(book.rows(path)), notes):
                        found = True
                        yield draft
                except InputError as fault:
                    broken.append(f"{name}: {fault.message}")
            for picture in Embedded(package, files=source.depth < tools.limits.max_depth).under(
                ("xl/media/", "xl/embeddings/")
            ):
                found = True
                yield picture
        if ending := _ending(budget, tools.limits, broken, found=found):
            yield ending


def _ending(budget: Budget, limits: Limits, broken: list[str], *, found: bool) -> Outcome | None:
    if broken and not found:
        raise InputError(broken[0], code="unreadable")
    if broken:
        return Outcome("partial", "sheets_unread", "; ".join(broken[:5]))
    if budget.left < 0:
        most = limits.max_cells
        return Outcome("partial", "cell_limit", f"only the first {most} cells were read")
    return None if found else Outcome("empty", "no_text", "no cell has anything in it")


class Book:
    """An open workbook: its sheets by name, and their rows as a stream."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._main = main_part(package, "xl/workbook.xml")
        if self._main.endswith(".bin"):
            raise InputError("binary workbooks are not read", code="xlsb", status="unsupported")
        self._root = package.xml(self._main)
        self._relations = package.relations(self._main)
        settings = self._root.find(f"{_S}workbookPr")
        self._since_1904 = settings is not None and settings.get("date1904") in {"1", "true"}
        self._strings = list(self._shared_strings())
        self._dates = self._date_styles()

    def sheets(self) -> Iterator[tuple[str, str, dict[str, str]]]:
        """Yield name, part and notes of each sheet in order."""
        for sheet in self._root.iter(f"{_S}sheet"):
            relation = self._relations.get(sheet.get(f"{_R}id", ""))
            if relation is not None and relation.kind == "worksheet":
                hidden = {"hidden": "sheet"} if sheet.get("state", "visible") != "visible" else {}
                yield sheet.get("name", ""), relation.target, hidden

    def rows(self, path: str) -> Iterator[Row]:
        """Yield the rows of a sheet that have anything in them."""
        number = 0
        data: Element | None = None
        for event, element in self._package.events(path):
            name = element.tag.rpartition("}")[2]
            if name == "sheetData" and event == "end":
                return
            if name == "sheetData":
                data = element
            elif name == "row" and event == "end" and data is not None:
                number = _number(element.get("r"), number + 1)
                cells = dict(self._cells(element))
                data.clear()
                if cells:
                    yield number, cells

    def _cells(self, row: "Element") -> Iterator[tuple[int, str]]:
        column = 0
        for cell in row.findall("{*}c"):
            name = cell.get("r", "").rstrip("0123456789")
            column = column_of(name) if name.isalpha() and name.isascii() else column + 1
            if text := shown(self._text(cell)):
                yield column, text

    def _text(self, cell: "Element") -> str:
        kind, value = cell.get("t", "n"), cell.findtext("{*}v")
        if kind == "inlineStr":
            return _rich(cell.find("{*}is"))
        if value is None:
            formula = cell.findtext("{*}f")
            return f"={formula}" if formula else ""
        if kind == "s":
            at = _number(value, -1)
            return self._strings[at] if 0 <= at < len(self._strings) else ""
        if kind == "b":
            return _TRUTH.get(value.strip(), value)
        if kind == "d":
            return value.replace("T", " ")
        return value if kind != "n" else self._numeric(value, _number(cell.get("s"), 0))

    def _numeric(self, value: str, style: int) -> str:
        try:
            number = float(value)
            text = date_text(number, since_1904=self._since_1904) if style in self._dates else None
            return text or number_text(number)
        except (ValueError, OverflowError):
            return value

    def _shared_strings(self) -> Iterator[str]:
        path = next((r.target for r in self._relations.values() if r.kind == "sharedStrings"), "")
        if path not in self._package:
            return
        table: Element | None = None
        for event, element in self._package.events(path):
            if table is None:
                table = element
            elif event == "end" and element.tag.endswith("}si"):
                yield _rich(element)
                table.clear()

    def _date_styles(self) -> frozenset[int]:
        path = next((r.target for r in self._relations.values() if r.kind == "styles"), "")
        root = self._package.xml_or_none(path)
        if root is None:
            return frozenset()
        dates = set(BUILT_IN_DATES)
        for form in root.iter(f"{_S}numFmt"):
            if is_date_format(form.get("formatCode", "")):
                dates.add(_number(form.get("numFmtId"), -1))
        styles = root.findall(f"{_S}cellXfs/{_S}xf")
        return frozenset(
            at for at, style in enumerate(styles) if _number(style.get("numFmtId"), -1) in dates
        )


def _rich(element: "Element | None") -> str:
    """Return the words of a string, without the readings beside them."""
    if element is None:
        return ""
    runs = [run.findtext("{*}t") or "" for run in element.findall("{*}r")]
    return "".join(runs) or element.findtext("{*}t") or ""


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else otherwise
