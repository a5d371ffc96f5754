"""Word documents: body, tables, text boxes, comments, notes, headers and footers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.media import Embedded
from muniment.adapters.formats.office.package import Package
from muniment.adapters.formats.office.properties import findings, properties
from muniment.adapters.formats.office.wordml import Reading, levels_of
from muniment.adapters.formats.office.written import Written
from muniment.adapters.ports import Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

PROPERTIES = "docProps/core.xml"
# The parts that hold text beside the body, in the order that they are read.
_NOTES = ("header", "footnotes", "endnotes", "comments", "footer")
_AUTHOR = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}author"


class DocxReader:
    """Read Word documents (kinds ``page_text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the passages of each part, then the pictures.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``unreadable`` or a budget's.
        """
        from muniment.store.records import MemberLocator

        with Package(source, tools.limits) as package:
            core = properties(package.xml_or_none(PROPERTIES))
            yield from findings(core, MemberLocator(path=PROPERTIES))
            found, broken = bool(core.get("title")), []
            for path, kind in _parts(package):
                try:
                    written = text_of(package, path)
                except InputError as fault:
                    if kind == "body":
                        raise
                    broken.append(fault.message)
                    continue
                for draft in written.drafts(path, {} if kind == "body" else {"part": kind}):
                    found = True
                    yield draft
            for picture in Embedded(package, files=source.depth < tools.limits.max_depth).under(
                ("word/media/", "word/embeddings/")
            ):
                found = True
                yield picture
        if broken:
            yield Outcome("partial", "parts_unread", "; ".join(broken[:5]))
        elif not found:
            yield Outcome("empty", "no_text", "nothing is written in it")


def text_of(package: Package, path: str) -> Written:
    """Return the text of one part, the same each time."""
    written = Written()
    reading = Reading(written, _levels(package))
    root = package.xml(path)
    for block in _blocks(root):
        if author := block.get(_AUTHOR):
            written.paragraph(f"Comment by {author}:")
        reading.walk(block)
    return written


def _blocks(root: "Element") -> Iterator["Element"]:
    """Yield the stories of a part: each comment or note by itself, else all of it."""
    name = root.tag.rpartition("}")[2]
    if name in {"comments", "footnotes", "endnotes"}:
        yield from root
    else:
        yield root


def _parts(package: Package) -> Iterator[tuple[str, str]]:
    body = main_part(package, "word/document.xml")
    yield body, "body"
    relations = package.relations(body).values()
    for kind in _NOTES:
        targets = {relation.target for relation in relations if relation.kind == kind}
        for path in sorted(target for target in targets if target in package):
            yield path, kind


def main_part(package: Package, usual: str) -> str:
    """Return the name of the part that the package is about."""
    for relation in package.relations("").values():
        if relation.kind == "officeDocument" and relation.target in package:
            return relation.target
    if usual not in package:
        raise InputError("it has no document in it", code="unreadable")
    return usual


def _levels(package: Package) -> Mapping[str, int]:
    body = main_part(package, "word/document.xml")
    for relation in package.relations(body).values():
        if relation.kind == "styles":
            return levels_of(package.xml_or_none(relation.target))
    return {}
