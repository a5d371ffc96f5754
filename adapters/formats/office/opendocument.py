"""OpenDocument texts, spreadsheets and presentations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.media import Embedded
from muniment.adapters.formats.office.odf_text import Story, sheet_rows, slide_parts
from muniment.adapters.formats.office.package import Package, locked
from muniment.adapters.formats.office.properties import findings, properties
from muniment.adapters.formats.office.sheets import Budget, Row, drafts
from muniment.adapters.formats.office.slides import Slides
from muniment.adapters.formats.office.written import Written
from muniment.adapters.ports import Draft, Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

CONTENT, PROPERTIES = "content.xml", "meta.xml"
_MANIFEST = "META-INF/manifest.xml"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"


class OpenDocumentReader:
    """Read odt, ods, odp and their templates (kinds ``page_text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield passages by place in the text, by range of cells, or by slide; then pictures.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``unreadable`` or a budget's.
        """
        from muniment.store.records import MemberLocator

        with Package(source, tools.limits) as package:
            _refuse_encrypted(package)
            about = properties(package.xml_or_none(PROPERTIES))
            yield from findings(about, MemberLocator(path=PROPERTIES))
            budget, found = Budget(tools.limits.max_cells), False
            for finding in _content(package, budget):
                found = True
                yield finding
            for picture in Embedded(package).under(("Pictures/", "media/")):
                found = True
                yield picture
        if budget.left < 0:
            most = tools.limits.max_cells
            yield Outcome("partial", "cell_limit", f"only the first {most} cells were read")
        elif not found:
            yield Outcome("empty", "no_text", "nothing is written in it")


def text_of(package: Package) -> Written:
    """Return the text of the body, the same each time."""
    written = Written()
    _, body = _body(package)
    Story(written).walk(body)
    return written


def sheets_of(package: Package) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield name and rows of each sheet of a spreadsheet."""
    _, body = _body(package)
    for table in body.findall(f"{_TABLE}table"):
        yield table.get(f"{_TABLE}name", ""), sheet_rows(table)


def _content(package: Package, budget: Budget) -> Iterator[Draft]:
    kind, body = _body(package)
    if kind == "spreadsheet":
        for name, rows in sheets_of(package):
            yield from drafts(name, budget.rows(rows), {})
    elif kind in {"presentation", "drawing"}:
        slides = Slides()
        for number, page in enumerate(body.findall(f"{_DRAW}page"), 1):
            for text, notes in slide_parts(page):
                yield from slides.drafts(number, text, notes)
    else:
        yield from text_of(package).drafts(CONTENT)


def _body(package: Package) -> tuple[str, "Element"]:
    if CONTENT not in package:
        raise InputError("it has no document in it", code="unreadable")
    body = package.xml(CONTENT).find(f"{_OFFICE}body")
    if body is None or not len(body):
        raise InputError("it has no document in it", code="unreadable")
    return body[0].tag.rpartition("}")[2], body[0]


def _refuse_encrypted(package: Package) -> None:
    manifest = package.xml_or_none(_MANIFEST)
    for element in manifest.iter() if manifest is not None else ():
        if element.tag.endswith("}encryption-data"):
            raise locked()
