"""Read again what a locator of a document, mail or archive names."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from muniment.adapters.ports import Draft, Limits, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.adapters.formats.office.sheets import Row
    from muniment.adapters.formats.office.written import Written
    from muniment.adapters.ports import Reader

# Families whose passages are found again by reading: by page or message, then by their words.
_READERS = {
    "office.pptx": "formats.office.pptx:PptxReader",
    "opendocument": "formats.office.opendocument:OpenDocumentReader",
    "mail": "formats.mail.reader:MailReader",
    "calendar": "formats.mail.calendar:CalendarReader",
    "contact": "formats.mail.contacts:ContactReader",
    "slack": "formats.chats.slack_export:SlackReader",
    "chat": "formats.chats:ChatReader",
    "subtitle": "formats.subtitles:SubtitleReader",
}
# What is written beside sound and pictures: chapters, text tracks, tags.
_TRACKS = {
    "audio": "media.media_metadata:MetadataReader",
    "video": "media.media_metadata:MetadataReader",
}
_PACKAGES = frozenset(("office.docx", "office.pptx", "office.xlsx", "opendocument", "epub"))


@dataclass(frozen=True)
class _Budgets:
    """All that these readers use of the tools."""

    limits: Limits


def is_reread(family: str) -> bool:
    """Tell whether passages of a family are found by reading the asset again."""
    return family in _READERS


def words_at(source: Source, locator: Mapping[str, Any], text: str, limits: Limits) -> str:
    """Return what is read at a locator: the passage of these words, else all that stands there.

    Raises ``InputError`` ``not_extractable`` when nothing does.
    """
    readers = _READERS | _TRACKS
    if source.family not in readers:
        raise InputError("nothing is written there", code="not_extractable")
    module, _, name = readers[source.family].partition(":")
    reader: Reader = getattr(import_module(f"muniment.adapters.{module}"), name)()
    there = []
    for finding in reader.read(source, cast("Tools", _Budgets(limits))):
        if isinstance(finding, Draft) and finding.locator.model_dump() == dict(locator):
            if finding.text == text:
                return text
            there.append(finding.text)
    if not there:
        raise InputError("nothing is written there", code="not_extractable")
    return "\n\n".join(there)


def plain_words(source: Source, start: int, end: int, limits: Limits) -> str:
    """Return code points of the text that rich text holds."""
    from muniment.adapters.formats.office.rtf import document_of

    return document_of(source, limits).text[start:end]


def cells_at(source: Source, sheet: str, cells: str, limits: Limits) -> str:
    """Return the words of a range of cells, one line a row."""
    from muniment.adapters.formats.office.sheets import area_of, area_text

    area = area_of(cells)
    for name, rows in _sheets(source, limits):
        if name == sheet:
            return area_text(rows, area)
    raise InputError(f"it has no sheet {sheet}", code="not_extractable")


def part_words(source: Source, path: str, start: int, end: int, limits: Limits) -> str:
    """Return code points of the text of one part of a document."""
    from muniment.adapters.formats.office.package import Package

    with Package(source, limits) as package:
        if source.family == "office.docx":
            from muniment.adapters.formats.office import docx

            written: Written = docx.text_of(package, path)
        elif source.family == "epub":
            from muniment.adapters.formats.office import epub

            written = epub.text_of(package, path)
        else:
            from muniment.adapters.formats.office import opendocument

            written = opendocument.text_of(package)
    return written.text[start:end]


def member_at(source: Source, path: str, limits: Limits) -> bytes:
    """Return the bytes of a part of a document or a member of an archive."""
    if source.family in _PACKAGES:
        from muniment.adapters.formats.office.package import Package

        with Package(source, limits) as package:
            return package.bytes_of(path)
    from muniment.adapters.formats.archive_members import ZIP, member_bytes

    packed = replace(source, media_type=ZIP) if source.family == "slack" else source
    return member_bytes(packed, limits, path)


def _sheets(source: Source, limits: Limits) -> "Iterator[tuple[str, Iterable[Row]]]":
    from muniment.adapters.formats.office.package import Package

    if source.family == "office.legacy":
        from muniment.adapters.formats.office import legacy

        yield from legacy.sheets_of(source, limits)
        return
    with Package(source, limits) as package:
        if source.family == "opendocument":
            from muniment.adapters.formats.office import opendocument

            yield from opendocument.sheets_of(package)
            return
        from muniment.adapters.formats.office.xlsx import Book

        book = Book(package)
        for name, part, _ in book.sheets():
            yield name, book.rows(part)
