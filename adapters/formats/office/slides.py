"""Drafts of slides: the words of each, then its notes, in passages on one page."""

from collections.abc import Iterator, Mapping
from typing import Any

from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.passages import PASSAGE_UNITS, passages, units, visible
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.ports import Draft


class Slides:
    """Numbers the passages of a presentation."""

    def __init__(self) -> None:
        self._occurrences = Occurrences()
        self.found = False

    def drafts(self, page: int, text: str, notes: Mapping[str, Any]) -> Iterator[Draft]:
        """Yield what is written on a slide (from 1), or in its notes."""
        from muniment.store.records import PageLocator

        for words in _pieces(text):
            self.found = True
            draft = Draft(
                kind="page_text",
                text=words,
                locator=PageLocator(page=page),
                confidence=1.0,
                language=script_language(words),
                attributes=dict(notes),
            )
            yield self._occurrences.number(draft)


def _pieces(text: str) -> Iterator[str]:
    """Yield a slide whole where it fits a passage."""
    if units(text) > PASSAGE_UNITS:
        yield from (passage.text for passage in passages([text]))
    elif visible(text):
        yield text.strip()
