"""The vector signal: which documents lie nearest to the query in meaning."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from muniment.pipeline.stages.embed import vectors_of
from muniment.store.index.documents import Filters, Row

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.store.index.ports import SearchIndex

# Observations are most of an index: the nearest of all, less those of other planes, will do.
_SURPLUS = 50


class NearestDocuments:
    """Answers (filters, depth) with (ref, cosine) pairs, nearest first; embeds the query once."""

    def __init__(self, index: "SearchIndex", embedder: "Embedder", query: str) -> None:
        self._index = index
        self._vectors = vectors_of(index, embedder)
        self._query = embedder.query(query)
        self.lacking = self._vectors.lacking()

    def __call__(self, narrow: Filters, depth: int) -> Sequence[tuple[str, float]]:
        """Return the nearest documents that meet the filters."""
        filters = None if _only_by_origin(narrow) else narrow
        surplus = _SURPLUS if filters is None else 0
        found = self._vectors.nearest(self._query, depth + surplus, filters)
        rows = self._index.rows(number for number, _ in found)
        return [
            (rows[number].ref, cosine)
            for number, cosine in found
            if number in rows and _meets(rows[number], narrow)
        ][:depth]


def _only_by_origin(narrow: Filters) -> bool:
    return narrow == Filters(origins=narrow.origins)


def _meets(row: Row, narrow: Filters) -> bool:
    return not narrow.origins or row.origin in narrow.origins
