"""PDF pages: their text layer where it is good, text recognition where it is not or not all."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from muniment.adapters.media.boxes import (
    Corners,
    box_of,
    collapse_han_spaces,
    corners_of,
    is_noise,
    words_key,
)
from muniment.adapters.media.moments import moment_of, parse_pdf_time
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.media.pdf_survey import (
    Survey,
    is_covered,
    region_to_recognise,
    render,
    survey_of,
)
from muniment.adapters.media.pdf_text import blocks, displayed
from muniment.adapters.media.picture import ordered
from muniment.adapters.ports import (
    Derived,
    Draft,
    Finding,
    Limits,
    Outcome,
    Source,
    TimeClaim,
    Tools,
)
from muniment.store.errors import InputError, MissingToolError

if TYPE_CHECKING:
    from PIL import Image

    from muniment.store.records import PageLocator

HIDDEN_CONFIDENCE = 0.8
MAX_ATTACHMENTS = 200
CHANCE_CHARACTERS = 3
_INFO = (("Title", "Title"), ("Author", "Author"), ("Subject", "Subject"), ("Keywords", "Keywords"))


class PdfReader:
    """Reads PDF (kinds ``page_text``, ``ocr``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield paragraphs and recognised lines page by page, then attached files.

        Raises ``InputError`` ``password`` (status ``encrypted``) or ``unreadable``. Ends
        ``partial`` when pages are broken (``pages_unread``) or left out (``page_limit``), and
        ``empty``/``no_text`` when nothing is written on any.
        """
        document = _open(source)
        try:
            titles = list(_titles(document))
            yield from _claims(document)
            yield from titles
            reading = _Reading(document, tools)
            yield from reading.pages()
            yield from _attachments(document, tools.limits)
            ending = reading.ending()
            if ending and not (ending.status == "empty" and titles):
                yield ending
        finally:
            document.close()


class _Reading:
    """One pass over the pages; a page that fails takes no other with it."""

    def __init__(self, document: Any, tools: Tools) -> None:
        self._document = document
        self._tools = tools
        self._occurrences = Occurrences()
        self._broken: list[str] = []
        self._found = False
        self._count = len(document)

    def pages(self) -> Iterator[Finding]:
        for number in range(1, min(self._count, self._tools.limits.max_pages) + 1):
            try:
                drafts = list(self._page(number))
            except (MissingToolError, MemoryError):
                raise
            except Exception as error:  # the library raises plain errors for broken objects
                self._broken.append(f"page {number}: {str(error)[:120]}")
                continue
            for draft in drafts:
                self._found = True
                yield self._occurrences.number(draft)

    def ending(self) -> Outcome | None:
        limit = self._tools.limits.max_pages
        if len(self._broken) >= min(self._count, limit):
            raise InputError(self._broken[0], code="unreadable")
        if self._broken:
            return Outcome("partial", "pages_unread", "; ".join(self._broken[:5]))
        if self._count > limit:
            return Outcome("partial", "page_limit", f"only the first {limit} pages were read")
        return None if self._found else Outcome("empty", "no_text", "nothing is written in it")

    def _page(self, number: int) -> Iterator[Draft]:
        page = _flattened(self._document, number - 1)
        try:
            place = displayed(page)
            survey = survey_of(page, place)
            if survey.readable:
                yield from _text_drafts(survey, number)
            if region := region_to_recognise(survey):
                yield from self._recognised(page, number, region, survey)
        finally:
            page.close()

    def _recognised(
        self, page: Any, number: int, region: Corners, survey: Survey
    ) -> Iterator[Draft]:
        image = render(page, self._tools.limits, region)
        engine = self._tools.ocr()
        layer = survey.lines if survey.readable else []
        known = words_key("".join(line.text for line in layer))
        for line in ordered(engine.read(image), image.size):
            corners = _within(region, corners_of(line, image.size))
            text = collapse_han_spaces(line.text)
            key = words_key(text)
            if (
                is_noise(key, line.confidence)
                or is_covered(corners, layer)
                or (len(key) > CHANCE_CHARACTERS and key in known)
            ):
                continue
            yield Draft(
                kind="ocr",
                text=text,
                locator=_locator(number, corners),
                confidence=min(1.0, max(0.0, line.confidence)),
                producer=engine.producer,
            )


def page_picture(source: Source, number: int, limits: Limits) -> "Image.Image":
    """Draw one page (from 1) as it is displayed.

    Raises ``InputError`` ``not_extractable`` when there is no such page.
    """
    document = _open(source)
    try:
        if number > len(document):
            raise InputError("the document has no such page", code="not_extractable")
        page = _flattened(document, number - 1)
        try:
            return render(page, limits)
        finally:
            page.close()
    finally:
        document.close()


def page_words(source: Source, locator: Mapping[str, Any], text: str) -> str:
    """Return what the text layer says at a place: the passage of these words, else all of it.

    Raises ``InputError`` ``not_extractable`` when it says nothing there.
    """
    document = _open(source)
    try:
        if locator["page"] > len(document):
            raise InputError("the document has no such page", code="not_extractable")
        page = _flattened(document, locator["page"] - 1)
        try:
            drafts = list(_text_drafts(survey_of(page, displayed(page)), locator["page"]))
        finally:
            page.close()
        drafts += _titles(document)
    finally:
        document.close()
    there = [one.text for one in drafts if one.locator.model_dump() == dict(locator)]
    if text in there:
        return text
    if locator.get("bbox") is None:
        there = [one.text for one in drafts if one.kind == "page_text"]
    if not there:
        raise InputError(
            "the page has no text of its own there",
            code="not_extractable",
            hint="a file name that ends in .png gets the picture",
        )
    return "\n\n".join(there)


def _open(source: Source) -> Any:
    import pypdfium2

    if source.size == 0:
        raise InputError("the file is empty", code="empty_file", status="empty")
    try:
        document = pypdfium2.PdfDocument(str(source.file()))
    except pypdfium2.PdfiumError as error:
        import pypdfium2.raw as pdfium

        if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
            raise InputError(
                "the PDF asks for a password",
                code="password",
                status="encrypted",
                hint="ingest a copy saved without its password",
            ) from error
        raise InputError("not a readable PDF", code="unreadable") from error
    if document.get_formtype():
        document.init_forms()
    return document


def _flattened(document: Any, index: int) -> Any:
    """Load a page, with what was filled into its form drawn onto it."""
    page = document[index]
    if document.formenv is None:
        return page
    import pypdfium2

    with suppress(pypdfium2.PdfiumError):
        page.flatten()
    page.close()
    return document[index]


def _text_drafts(survey: Survey, number: int) -> Iterator[Draft]:
    for block in blocks(survey.lines):
        yield Draft(
            kind="page_text",
            text=block.text,
            locator=_locator(number, block.corners),
            confidence=HIDDEN_CONFIDENCE if survey.hidden else 1.0,
            attributes={"layer": "hidden"} if survey.hidden else {},
        )


def _within(region: Corners, corners: Corners) -> Corners:
    width, height = region[2] - region[0], region[3] - region[1]
    return (
        region[0] + corners[0] * width,
        region[1] + corners[1] * height,
        region[0] + corners[2] * width,
        region[1] + corners[3] * height,
    )


def _locator(number: int, corners: Corners) -> "PageLocator":
    from muniment.store.records import PageLocator

    return PageLocator(page=number, bbox=box_of(corners))


def _claims(document: Any) -> Iterator[TimeClaim]:
    created = parse_pdf_time(document.get_metadata_value("CreationDate"))
    if created is not None:
        yield TimeClaim(moment_of(created, "container"), "container", 0.3)


def _titles(document: Any) -> Iterator[Draft]:
    from muniment.store.records import PageLocator

    info = document.get_metadata_dict(skip_empty=True)
    lines = [
        f"{word}: {' '.join(info[key].split())}" for word, key in _INFO if info.get(key, "").strip()
    ]
    if lines:
        yield Draft("metadata", "\n".join(lines), PageLocator(page=1), confidence=1.0)


def _attachments(document: Any, limits: Limits) -> Iterator[Derived]:
    budget = limits.max_unpacked_bytes
    for index in range(min(document.count_attachments(), MAX_ATTACHMENTS)):
        try:
            attachment = document.get_attachment(index)
            name, data = attachment.get_name(), bytes(attachment.get_data())
        except Exception:  # noqa: S112 (a broken attachment takes nothing from the pages)
            continue
        budget -= len(data)
        if data and budget >= 0:
            yield Derived("attachment", name=name, data=data, observe=True)
