"""Electronic books: the chapters in reading order."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.office.media import Embedded
from muniment.adapters.formats.office.package import Package, locked, resolve
from muniment.adapters.formats.office.properties import findings, properties
from muniment.adapters.formats.office.written import Written
from muniment.adapters.formats.visible_text import visible_text
from muniment.adapters.ports import Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PAGES = frozenset(("application/xhtml+xml", "text/html", "application/x-dtbook+xml"))
# Fonts are scrambled in books that anybody may read.
_FONTS_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


class EpubReader:
    """Read books (kinds ``page_text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the passages of each chapter, then pictures.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``unreadable`` or a budget's.
        """
        from muniment.store.records import MemberLocator

        with Package(source, tools.limits) as package:
            _refuse_encrypted(package)
            path = _book(package)
            book = package.xml(path)
            yield from findings(properties(_child(book, "metadata")), MemberLocator(path=path))
            found, broken = False, []
            chapters = list(_chapters(book, path))[: tools.limits.max_pages]
            for number, chapter in enumerate(chapters, 1):
                try:
                    written = text_of(package, chapter)
                except InputError as fault:
                    broken.append(f"{chapter}: {fault.message}")
                    continue
                for draft in written.drafts(chapter, {"chapter": number}):
                    found = True
                    yield draft
            for picture in Embedded(package).under(_pictures(book, path)):
                found = True
                yield picture
        if broken:
            yield Outcome("partial", "chapters_unread", "; ".join(broken[:5]))
        elif not found:
            yield Outcome("empty", "no_text", "nothing is written in it")


def text_of(package: Package, path: str) -> Written:
    """Return the text of one chapter, the same each time."""
    return visible_text(decode(package.bytes_of(path)).text)


def _book(package: Package) -> str:
    container = package.xml_or_none(_CONTAINER)
    for element in container.iter() if container is not None else ():
        path = element.get("full-path", "")
        if path in package:
            return path
    for name in package.names:
        if name.endswith(".opf"):
            return name
    raise InputError("it has no book in it", code="unreadable")


def _chapters(book: "Element", path: str) -> Iterator[str]:
    items = _items(book, path)
    for reference in book.iter():
        if reference.tag.endswith("}itemref"):
            target, media_type = items.get(reference.get("idref", ""), ("", ""))
            if target and media_type in _PAGES:
                yield target


def _pictures(book: "Element", path: str) -> list[str]:
    found = _items(book, path).values()
    return [target for target, kind in found if kind.startswith("image/") and "svg" not in kind]


def _items(book: "Element", path: str) -> Mapping[str, tuple[str, str]]:
    folder = path.rpartition("/")[0]
    return {
        item.get("id", ""): (resolve(folder, item.get("href", "")), item.get("media-type", ""))
        for item in book.iter()
        if item.tag.endswith("}item")
    }


def _child(element: "Element", name: str) -> "Element | None":
    return next((child for child in element if child.tag.endswith("}" + name)), None)


def _refuse_encrypted(package: Package) -> None:
    root = package.xml_or_none(_ENCRYPTION)
    for element in root.iter() if root is not None else ():
        algorithm = element.get("Algorithm", "")
        if element.tag.endswith("}EncryptionMethod") and algorithm not in _FONTS_ONLY:
            raise locked()
