"""A public collection in a real store, built once and asked by every method."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.sets import CHECKOUT, Collection, Document
from bench.vector_cache import CachedEmbedder

os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

from support.stores import Line, TinyStore

from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.reading import Reading
from muniment.pipeline.recall.answer import answered, search_hits
from muniment.pipeline.recall.request import Request
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.records import MessageLocator

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.store.index.ports import SearchIndex

NOW = "2026-01-01T00:00:00.000000Z"
VECTORS = Path(os.environ.get("MUNIMENT_BENCH_VECTORS", CHECKOUT / "build" / "vectors.sqlite3"))


@dataclass
class Stored:
    """A collection in a store; ``keys`` are its documents' keys by observation id."""

    collection: Collection
    store: TinyStore
    index: "SearchIndex"
    keys: dict[str, str]
    cache: Path
    embedder: "Embedder | None"

    def search(self, request: Request, query: str, depth: int) -> list[str]:
        """Return the keys of a search, best first."""
        embedder = None if request.semantic == "off" else self.embedder
        hits = search_hits(
            self.store.ledger, self.index, replace(request, query=query),
            clock=lambda: NOW, limit=depth, embedder=embedder, cache=self.cache,
        )  # fmt: skip
        return [self.keys[hit["ref"].removeprefix("observation:")] for hit in hits]

    def recall(self, request: Request, query: str) -> tuple[dict[str, Any], set[str]]:
        """Return a pack, and the keys of the documents that it cites."""
        embedder = None if request.semantic == "off" else self.embedder
        pack, _ = answered(
            self.store.ledger, self.index, replace(request, query=query),
            clock=lambda: NOW, embedder=embedder, cache=self.cache,
        )  # fmt: skip
        refs = (citation["ref"].removeprefix("observation:") for citation in pack["citations"])
        return pack, {self.keys[ref] for ref in refs}


@contextmanager
def stored(collection: Collection, embedder: "Embedder | None") -> Iterator[Stored]:
    """Build a store of a collection in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        keys = _store(store, collection.documents)
        _read_entities(store)
        cache = Path(folder) / "cache"
        refresh(store.ledger, store.paths.index, cache, embedder=embedder)
        index = open_live(store.paths.index)
        try:
            yield Stored(collection, store, index, keys, cache, embedder)
        finally:
            index.close()
            store.close()


def default_embedder() -> "Embedder":
    """Return the default embedder, its vectors of public texts kept between runs."""
    from muniment.adapters import registry
    from muniment.adapters.models.settings import ModelSettings

    made: Embedder = CachedEmbedder(registry.model("embed", ModelSettings()), VECTORS)
    return made


def _store(store: TinyStore, documents: Sequence[Document]) -> dict[str, str]:
    """Store each thread as one file, other documents as one file each; return keys by id."""
    threads: dict[str, list[Document]] = {}
    for document in documents:
        threads.setdefault(document.thread or f"document-{document.key}", []).append(document)
    keys: dict[str, str] = {}
    with store.ledger.unit():
        for name, members in threads.items():
            lines = [_line(place, one) for place, one in enumerate(members)]
            ids = store._put(f"/bench/{name}", lines)
            keys |= dict(zip(ids, (one.key for one in members), strict=True))
    return keys


def _read_entities(store: TinyStore) -> None:
    """Take the people of a collection, as ingest does; none of them owns the store."""
    ledger = store.ledger
    reading, mark = Reading(ledger, Identities(ledger)), 0
    while rows := ledger.evidence.after(mark, 1_000):
        mark = rows[-1].seq
        with ledger.unit():
            reading.take(row._replace(origin="third_party") for row in rows)


def _line(place: int, document: Document) -> Line:
    if document.thread is None:
        return Line(document.text)
    return Line(
        document.text, kind="message", author=document.author, time=document.time,
        thread=document.thread, locator=MessageLocator(index=place),
    )  # fmt: skip
