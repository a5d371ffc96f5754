"""Rich Text Format: the words of the body, by their place in the text without its markup."""

from collections.abc import Iterator

from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.office.properties import findings
from muniment.adapters.formats.office.rtf_words import Document, parse
from muniment.adapters.formats.office.written import span_of
from muniment.adapters.formats.passages import passages
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError

# Pictures are spelt in it as text.
MAX_BYTES = 256 * 1024 * 1024


class RtfReader:
    """Read rich text (kinds ``text``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield passages; ``char`` locators count in the text that markup is taken out of.

        Raises ``InputError`` ``too_large``; ends ``partial`` with ``truncated`` when groups are
        left open.
        """
        from muniment.store.records import CharLocator

        document = document_of(source, tools.limits)
        start = CharLocator(start=0, end=0, line_start=1, line_end=1)
        facts = {name: value for name, value in document.properties.items() if value}
        yield from findings(facts, start)
        found = False
        for passage in passages([document.text]):
            found = True
            yield Draft(
                kind="text",
                text=passage.text,
                locator=span_of(passage),
                confidence=1.0,
                language=script_language(passage.text),
                attributes=document.written.notes_at(passage.start),
            )
        if not document.whole:
            yield Outcome("partial", "truncated", "the file ends inside a group")
        elif not found:
            yield Outcome("empty", "no_text", "nothing is written in it")


def document_of(source: Source, limits: Limits) -> Document:
    """Parse a file, the same each time."""
    if source.size > min(MAX_BYTES, limits.max_text_bytes):
        raise InputError("the rich text is too large to be read at once", code="too_large")
    with source.open() as stream:
        return parse(stream.read())
