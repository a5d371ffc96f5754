"""Compound files: encrypted documents, old workbooks; of other old documents only the reason."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from muniment.adapters.formats.office.numbers import date_text, number_text
from muniment.adapters.formats.office.package import locked
from muniment.adapters.formats.office.sheets import Budget, Row, drafts, shown
from muniment.adapters.ports import Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    import xlrd

_BOOKS = ("Workbook", "Book")
_ENCRYPTED = ("EncryptedPackage", "EncryptionInfo")
MAX_BYTES = 512 * 1024 * 1024


class LegacyReader:
    """Read xls (kind ``page_text``); doc, ppt and the like are ``unsupported``."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the blocks of each sheet of an old workbook.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``legacy_office`` (status
        ``unsupported``) or ``unreadable``.
        """
        streams = _streams(source)
        if any(name in streams for name in _ENCRYPTED):
            raise locked()
        if not any(name in streams for name in _BOOKS):
            raise InputError(
                "an office document of before 2007",
                code="legacy_office",
                status="unsupported",
                hint="save it in a current format and ingest that",
            )
        budget, found = Budget(tools.limits.max_cells), False
        for name, rows in sheets_of(source, tools.limits):
            for draft in drafts(name, budget.rows(rows), {}):
                found = True
                yield draft
        if budget.left < 0:
            most = tools.limits.max_cells
            yield Outcome("partial", "cell_limit", f"only the first {most} cells were read")
        elif not found:
            yield Outcome("empty", "no_text", "no cell has anything in it")


def sheets_of(source: Source, limits: Limits) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield name and rows of each sheet."""
    import os

    import xlrd

    if source.size > min(MAX_BYTES, limits.max_unpacked_bytes):
        raise InputError("the workbook is too large to be read at once", code="too_large")
    try:
        with source.open() as stream, open(os.devnull, "w", encoding="utf-8") as unheard:  # noqa: PTH123 (not a path of ours)
            book = xlrd.open_workbook(file_contents=stream.read(), logfile=unheard)
        sheets = [(sheet.name, sheet) for sheet in book.sheets()]
    except xlrd.XLRDError as fault:
        if "encrypted" in str(fault).lower():
            raise locked() from fault
        raise InputError("not a whole workbook", code="unreadable") from fault
    except MemoryError:
        raise
    except Exception as fault:  # the library meets broken files with whatever breaks first
        raise InputError("not a whole workbook", code="unreadable") from fault
    for name, sheet in sheets:
        yield name, _rows(book, sheet)


def _rows(book: "xlrd.Book", sheet: Any) -> Iterator[Row]:
    for number in range(sheet.nrows):
        cells = {
            column: text
            for column, cell in enumerate(sheet.row(number), 1)
            if (text := shown(_text(book, cell)))
        }
        if cells:
            yield number + 1, cells


def _text(book: "xlrd.Book", cell: Any) -> str:
    import xlrd

    if cell.ctype == xlrd.XL_CELL_DATE:
        return date_text(cell.value, since_1904=bool(book.datemode)) or number_text(cell.value)
    if cell.ctype == xlrd.XL_CELL_NUMBER:
        return number_text(cell.value)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if cell.value else "FALSE"
    if cell.ctype == xlrd.XL_CELL_ERROR:
        return str(xlrd.error_text_from_code.get(cell.value, "#ERROR"))
    return str(cell.value)


def _streams(source: Source) -> frozenset[str]:
    import olefile

    try:
        with source.open() as stream, olefile.OleFileIO(stream) as opened:
            return frozenset(entry[0] for entry in opened.listdir())
    except Exception as fault:  # broken files raise plain errors of every kind
        raise InputError("not a whole compound file", code="unreadable") from fault
