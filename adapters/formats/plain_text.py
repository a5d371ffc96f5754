"""Read notes, code, tables, logs and markup: ``text`` observations with exact spans."""

from collections.abc import Iterator, Mapping
from typing import Any

from muniment.adapters.formats.decoded import DecodedSource
from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.markup import visible_runs
from muniment.adapters.formats.passages import (
    Passage,
    heading,
    line_breaks,
    opens_or_closes_fence,
    passages,
    shifted,
)
from muniment.adapters.ports import Draft, Finding, Source, Tools
from muniment.store.errors import MissingToolError

_MARKUP = frozenset(
    (
        "text/html",
        "application/xml",
        "application/rdf+xml",
        "image/svg+xml",
        "application/xhtml+xml",
    )
)
_MARKUP_CHARACTERS = 64 * 1024 * 1024
_PROSE = frozenset(("text/plain", "text/markdown", "text/x-rst", "text/x-org", "text/x-tex"))
_MODEL_CHARACTERS = 400
_MODEL_SAMPLE = 2000
_MODEL_CONFIDENCE = 0.8


class TextReader:
    """Read any text of any size in one pass; memory does not grow with it (markup excepted).

    Each draft's text is the decoded text between its locator's ``start`` and ``end``: no newline
    is translated, the byte order mark is left out.
    """

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield passages in order, then how reading ended if not well."""
        text = DecodedSource(source, tools.limits.max_text_bytes)
        language = _Language(tools)
        headings = _Headings(source.media_type == "text/markdown")
        found = False
        for passage in _passages(source.media_type, text):
            found = True
            yield _draft(passage, language.of(passage.text), text, headings.over(passage.text))
        if outcome := text.outcome(found=found):
            yield outcome


def _passages(media_type: str, text: DecodedSource) -> Iterator[Passage]:
    if media_type in _MARKUP:
        yield from _markup_passages(text)
    else:
        prose, markdown = media_type in _PROSE, media_type == "text/markdown"
        yield from passages(text.blocks(), prose=prose, markdown=markdown)


def _markup_passages(text: DecodedSource) -> Iterator[Passage]:
    """Cut the visible runs of markup, which has to be seen whole to be parsed."""
    base, line, held = 0, 1, ""
    for block in text.blocks():
        held += block
        if len(held) < _MARKUP_CHARACTERS:
            continue
        yield from _runs(held, base, line)
        base, line, held = base + len(held), line + line_breaks(held), ""
    yield from _runs(held, base, line)


def _runs(text: str, base: int, line: int) -> Iterator[Passage]:
    at = 0
    for start, end in visible_runs(text):
        line, at = line + line_breaks(text[at:start]), start
        for passage in passages([text[start:end]]):
            yield shifted(passage, base + start, line - 1)


def _draft(
    passage: Passage, language: str | None, text: DecodedSource, notes: Mapping[str, Any]
) -> Draft:
    from muniment.store.records import CharLocator

    return Draft(
        kind="text",
        text=passage.text,
        locator=CharLocator(
            start=passage.start,
            end=passage.end,
            line_start=passage.line_start,
            line_end=passage.line_end,
        ),
        confidence=text.confidence,
        language=language,
        attributes={**text.attributes(), **notes},
    )


class _Headings:
    """The path of Markdown headings that a passage stands under."""

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled
        self._path: list[tuple[int, str]] = []
        self._fenced = False

    def over(self, text: str) -> dict[str, str]:
        if not self._enabled:
            return {}
        opening = not self._fenced
        for line in text.split("\n"):
            if opening and (found := heading(line)):
                self._path = [above for above in self._path if above[0] < found[0]] + [found]
            elif line.strip():
                opening = False
                self._fenced ^= opens_or_closes_fence(line)
        return {"heading": " > ".join(title for _, title in self._path)} if self._path else {}


class _Language:
    """The language of passages: by script, else by the model, asked once a file.

    Plain ASCII is never worth loading a model for.
    """

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._asked = False
        self._answer: str | None = None

    def of(self, text: str) -> str | None:
        if known := script_language(text):
            return known
        if not self._asked and len(text) >= _MODEL_CHARACTERS and not text.isascii():
            self._asked = True
            self._answer = self._ask(text[:_MODEL_SAMPLE])
        return self._answer

    def _ask(self, text: str) -> str | None:
        try:
            language, confidence = self._tools.language_identifier().identify(text)
        except MissingToolError:
            return None
        return language if confidence >= _MODEL_CONFIDENCE else None
