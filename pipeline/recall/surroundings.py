"""What stands around a short hit and is one piece of evidence with it.

A line of a scanned letter rarely holds the whole answer, and a message answers the one before it:
the page, the frame, the messages on both sides say the rest.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from muniment.store.ledger.changes import Changes

if TYPE_CHECKING:
    from muniment.pipeline.recall.items import Item
    from muniment.pipeline.recall.resolve import Resolver
    from muniment.store.ledger import Ledger

# Longer texts stand for themselves.
SHORT_CHARACTERS = 300
_MESSAGES, _LINES = 1, 3
_AT_PLACE = 60
_PLACES = {"page", "frame", "bbox"}


class Surroundings:
    """Finds what belongs to hits; each hit is looked up once."""

    def __init__(self, ledger: "Ledger", resolver: "Resolver") -> None:
        self._changes = Changes(ledger.database)
        self._resolver = resolver
        self._found: dict[str, list[Item]] = {}

    def look_up(self, hits: "Iterable[Item]") -> None:
        """Read what stands around many hits at once."""
        new = [hit for hit in hits if hit.ref not in self._found]
        if new:
            self._found |= self._items(self._beside(new))

    def of(self, hit: "Item") -> "list[Item]":
        """Return the live, proven observations around a hit, the nearest first."""
        self.look_up([hit])
        return self._found[hit.ref]

    def nearest(self, hits: "Iterable[Item]") -> "dict[str, list[Item]]":
        """Return those right before and right after each hit, by its ref."""
        messages: list[Item] = []
        lines: dict[str, int] = {}
        for hit in hits:
            row = hit.proofs[0].row
            if row.thread is None:
                lines[hit.ref] = row.seq
            else:
                messages.append(hit)
        self.look_up(messages)  # around a message they are all
        around = self._changes.around_many(lines.values(), 1, 1) if lines else {}
        beside = {
            ref: [(one.seq, one.id) for side in around[seq] for one in side]
            for ref, seq in lines.items()
        }
        return {hit.ref: self._found[hit.ref] for hit in messages} | self._items(beside)

    def _beside(self, hits: "Sequence[Item]") -> dict[str, list[tuple[int, str]]]:
        """Return number and id of what stands around each hit, the nearest first."""
        rows = {hit.ref: hit.proofs[0].row for hit in hits}
        lines = [row.seq for row in rows.values() if not _has_place(row.thread, row.locator)]
        around = self._changes.around_many(lines, _MESSAGES, _LINES) if lines else {}
        found = {}
        for ref, row in rows.items():
            if row.seq in around:
                before, after = around[row.seq]
                places = range(max(len(before), len(after)))
                pairs = (side[at : at + 1] for at in places for side in (before, after))
                found[ref] = [(one.seq, one.id) for pair in pairs for one in pair]
            else:
                found[ref] = self._changes.at_place(row.seq, _AT_PLACE)
        return found

    def _items(self, beside: dict[str, list[tuple[int, str]]]) -> "dict[str, list[Item]]":
        """Return what of the observations of each list is live and proven, in its order."""
        rows = self._resolver.rows_at({number for found in beside.values() for number, _ in found})
        items = {}
        for ref, found in beside.items():
            mates = (rows.get(identity) for _, identity in found)
            resolved = (None if row is None else self._resolver.observation(row) for row in mates)
            items[ref] = [item for item in resolved if item is not None]
        return items


def _has_place(thread: str | None, locator: dict[str, object]) -> bool:
    return thread is None and locator.get("type") in _PLACES
