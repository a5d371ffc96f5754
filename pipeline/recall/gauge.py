"""Measure how much of a question an item says, alone and with what stands around it."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from muniment.pipeline.keys import USER, asked_by
from muniment.pipeline.recall.items import Item
from muniment.pipeline.stages.documents import date_words
from muniment.store.text.fold import fold
from muniment.store.text.holding import Line, Yardstick, lines_of
from muniment.store.text.names import folded_name, stands_in

if TYPE_CHECKING:
    from muniment.pipeline.recall.coverage import Scale
    from muniment.pipeline.recall.query import Query

_MOST_CHARACTERS = 4_000


class Gauge:
    """Holds items against one query and each of its clauses."""

    def __init__(self, query: "Query", scale: "Scale") -> None:
        self._query = query
        self._has_han = query.language == "zh"
        self._whole = Yardstick(query.analysis, scale.weights)
        self._clauses = [Yardstick(clause, scale.weights) for clause in query.clauses]

    def measure(self, item: Item) -> None:
        """Set an item's coverage of the query and of each of its clauses."""
        lines = self._lines_of(item)
        item.coverage = item.together = self._whole.covered(lines).share
        if self._clauses:
            item.clauses = tuple([clause.covered(lines).share for clause in self._clauses])

    def measure_together(self, item: Item, around: Sequence[Item]) -> None:
        """Set how much of the query a short item holds together with what stands around it."""
        items = (item, *around)
        lines = [line for one in items for line in self._lines_of(one)]
        if sum([len(line.folded) for line in lines]) + len(lines) > _MOST_CHARACTERS:
            parts = [part for one in items for part in self._searched(one)]
            lines = lines_of("\n".join(parts)[:_MOST_CHARACTERS])
        item.together = max(item.coverage, self._whole.covered(lines).share)

    def missing_from(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Return the telling words of the query that no item holds."""
        lines = [line for item in items for line in self._lines_of(item)]
        found = self._whole.covered(lines).units
        return tuple(
            unit.text
            for unit in self._query.analysis.units
            if unit.text not in found and unit.text not in self._query.frame
        )

    def _lines_of(self, item: Item) -> Collection[Line]:
        """Read what is searched of an item, once."""
        if not item.lines:
            text, *beside = self._searched(item)
            item.lines = [*lines_of(text), *_read(tuple(beside))]
        return item.lines

    def _searched(self, item: Item) -> list[str]:
        """Return what an item says and is called by: its text, its day, who spoke, the file; a
        claim of whom the question is about also by the words that its key is asked for by.
        """
        parts = [item.text, date_words(item.time, han=self._has_han)]
        for proof in item.proofs:
            parts += [proof.row.author or "", proof.asset.name]
            if proof.quote != item.text:
                parts.append(proof.quote)
        if item.key is not None and self._asks_about(item.subject):
            parts.append(asked_by(item.key))
        return parts

    def _asks_about(self, subject: str | None) -> bool:
        """Tell whether the question is about somebody: of another, a job is no answer."""
        if subject == USER:
            return self._query.asks_self
        return subject is not None and stands_in(fold(self._query.text), folded_name(subject))


# Who spoke when in which file is mostly the same from one message to the next.
@lru_cache(maxsize=512)
def _read(parts: tuple[str, ...]) -> tuple[Line, ...]:
    return tuple(line for part in parts for line in lines_of(part))
