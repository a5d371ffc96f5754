"""Index a small real store and ask it, at a fixed time."""

from pathlib import Path
from typing import Any

from support.stores import TinyStore

from muniment.pipeline.recall.answer import answered, search_hits
from muniment.pipeline.recall.request import Filters, Request
from muniment.pipeline.recall.tokens import Counter, estimate
from muniment.pipeline.stages.index import Refreshed, open_live, refresh

NOW = "2026-03-10T12:00:00.000000Z"


class Asker:
    """Asks one store; the index follows the ledger before each answer."""

    def __init__(self, store: TinyStore, cache: Path | None = None) -> None:
        self.store = store
        self.cache = cache or store.root.path / "cache"

    def refresh(self) -> Refreshed:
        """Bring the index up to date."""
        return refresh(self.store.ledger, self.store.paths.index, self.cache)

    def recall(
        self, query: str, *, embedder: Any = None, count: Counter = estimate, **fields: Any
    ) -> dict[str, Any]:
        """Return the pack of a query; ``filters`` may be given by name."""
        self.refresh()
        index = open_live(self.store.paths.index)
        try:
            return answered(
                self.store.ledger,
                index,
                _request(query, fields),
                clock=lambda: NOW,
                cache=self.cache,
                embedder=embedder,
                count=count,
            )[0]
        finally:
            index.close()

    def search(self, query: str, *, limit: int = 10, **fields: Any) -> list[dict[str, Any]]:
        """Return the hits of a query."""
        self.refresh()
        index = open_live(self.store.paths.index)
        try:
            return search_hits(
                self.store.ledger,
                index,
                _request(query, fields),
                clock=lambda: NOW,
                limit=limit,
                cache=self.cache,
            )
        finally:
            index.close()

    def texts(self, query: str, **fields: Any) -> list[str]:
        """Return the texts of a search, best first."""
        return [hit["text"] for hit in self.search(query, **fields)]


def _request(query: str, fields: dict[str, Any]) -> Request:
    own = {name: fields.pop(name) for name in list(fields) if name in _REQUEST_FIELDS}
    return Request(query, filters=Filters(**fields), **own)


_REQUEST_FIELDS = {
    "token_budget", "fusion", "semantic", "require", "query_id", "coverage_threshold",
    "fade",
}  # fmt: skip


def items(pack: dict[str, Any], section: str | None = None) -> list[dict[str, Any]]:
    """Return the items of one section of a pack, or of all but the unknowns."""
    return [
        item
        for found in pack["sections"]
        if (found["name"] == section if section else found["name"] != "unknowns")
        for item in found["items"]
    ]
