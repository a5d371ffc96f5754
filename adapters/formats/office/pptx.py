"""PowerPoint presentations: a slide is a page; its text, tables, charts and speaker notes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.office.docx import PROPERTIES, main_part
from muniment.adapters.formats.office.drawingml import diagram_text, shapes_text, title_of
from muniment.adapters.formats.office.media import Embedded
from muniment.adapters.formats.office.package import Package, Relation
from muniment.adapters.formats.office.properties import findings, properties
from muniment.adapters.formats.office.slides import Slides
from muniment.adapters.ports import Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


class PptxReader:
    """Read presentations (kinds ``page_text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield slides in order: text, notes, pictures.

        Raises ``InputError`` ``password`` (status ``encrypted``), ``unreadable`` or a budget's.
        Ends ``partial`` with ``slides_unread`` or ``page_limit``.
        """
        from muniment.store.records import MemberLocator

        with Package(source, tools.limits) as package:
            core = properties(package.xml_or_none(PROPERTIES))
            yield from findings(core, MemberLocator(path=PROPERTIES))
            slides = _slides(package)
            reading = _Reading(package, files=source.depth < tools.limits.max_depth)
            for number, path in enumerate(slides[: tools.limits.max_pages], 1):
                yield from reading.slide(number, path)
        if reading.broken:
            yield Outcome("partial", "slides_unread", "; ".join(reading.broken[:5]))
        elif len(slides) > tools.limits.max_pages:
            most = tools.limits.max_pages
            yield Outcome("partial", "page_limit", f"only the first {most} slides were read")
        elif not reading.found:
            yield Outcome("empty", "no_text", "nothing is written on any slide")


class _Reading:
    """One pass over the slides; one that fails takes no other with it."""

    def __init__(self, package: Package, *, files: bool) -> None:
        self._package = package
        self._slides = Slides()
        self._embedded = Embedded(package, files=files)
        self._pictures = False
        self.broken: list[str] = []

    @property
    def found(self) -> bool:
        return self._slides.found or self._pictures

    def slide(self, number: int, path: str) -> Iterator[Finding]:
        try:
            root = self._package.xml(path)
        except InputError as fault:
            self.broken.append(fault.message)
            return
        relations = self._package.relations(path)
        notes = {"heading": title} if (title := title_of(root)) else {}
        if root.get("show") == "0":
            notes["hidden"] = "slide"
        text = "\n\n".join(filter(None, [shapes_text(root), *self._drawn(relations)]))
        yield from self._slides.drafts(number, text, notes)
        for kind, part in (("notesSlide", "notes"), ("comments", "comments")):
            words = "\n\n".join(self._beside(relations, kind))
            yield from self._slides.drafts(number, words, {**notes, "part": part})
        yield from self._media(number, relations)

    def _drawn(self, relations: "Mapping[str, Relation]") -> Iterator[str]:
        """Yield the words of charts and diagrams."""
        for relation in relations.values():
            if relation.kind in {"chart", "diagramData"}:
                root = self._package.xml_or_none(relation.target)
                yield "" if root is None else diagram_text(root)

    def _beside(self, relations: "Mapping[str, Relation]", kind: str) -> Iterator[str]:
        for relation in relations.values():
            if relation.kind == kind:
                root = self._package.xml_or_none(relation.target)
                if root is not None and kind == "comments":
                    yield from (text.text or "" for text in root.iter(f"{_P}text"))
                elif root is not None:
                    yield shapes_text(root, notes=True)

    def _media(self, number: int, relations: "Mapping[str, Relation]") -> Iterator[Finding]:
        from muniment.store.records import PageLocator

        for relation in relations.values():
            if relation.kind in {"image", "package", "video", "audio", "media"}:
                for derived in self._embedded.take(relation.target, PageLocator(page=number)):
                    self._pictures = True
                    yield derived


def _slides(package: Package) -> list[str]:
    """Return the parts of the slides in the order that they are shown."""
    main = main_part(package, "ppt/presentation.xml")
    relations = package.relations(main)
    order: list[Element] = package.xml(main).findall(f"{_P}sldIdLst/{_P}sldId")
    found = (relations.get(item.get(f"{_R}id", "")) for item in order)
    return [relation.target for relation in found if relation and relation.kind == "slide"]
