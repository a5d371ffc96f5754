"""Count drafts that share kind and place, so that each keeps an id of its own."""

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.adapters.ports import Draft

if TYPE_CHECKING:
    from muniment.store.records import Locator


class Occurrences:
    """Numbers the drafts of one reading."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, Locator]] = Counter()

    def number(self, draft: Draft) -> Draft:
        """Return the draft with its occurrence among those of equal kind and locator."""
        key = (draft.kind, draft.locator)
        before = self._seen[key]
        self._seen[key] += 1
        return replace(draft, occurrence=before) if before else draft
