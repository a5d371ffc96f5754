"""Answer one request: search, fuse, resolve, gate, select, pack."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from muniment.pipeline.output import path_fields
from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.packing import packed
from muniment.pipeline.recall.run import Recall
from muniment.pipeline.recall.search import PLANES
from muniment.pipeline.recall.tokens import Counter, estimate
from muniment.store.errors import NotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.ports import SearchIndex
    from muniment.store.ledger import Ledger

# A group that answers well raises its members, so hits are ranked among no fewer than these.
_RANKED_AMONG = 80
_ORDER = {"none": 0, "partial": 1, "supported": 2}


def answered(  # noqa: PLR0913 (a command hands over this many things)
    ledger: "Ledger",
    index: "SearchIndex",
    request: "Request",
    *,
    clock: Callable[[], str],
    embedder: "Embedder | None" = None,
    cache: "Path | None" = None,
    notes: Sequence[str] = (),
    count: Counter = estimate,
) -> tuple[dict[str, Any], str]:
    """Return the MemoryPack of a request as plain values (CONTRACT 5), and as Markdown.

    ``notes`` become warnings, such as that the index could not be refreshed. ``cache`` holds the
    compiled dictionary for Chinese. Raises ``NotFoundError`` when ``require`` is not met; the pack
    is its ``pack`` attribute.
    """
    with ledger.snapshot():
        run = Recall.open(ledger, index, request, clock(), embedder=embedder, cache=cache)
        try:
            done = packed(run, notes, count)
        finally:
            run.resolver.gate.close()
    _require(done.pack, request.require)
    return done.pack, done.markdown


def _require(pack: dict[str, Any], required: str | None) -> None:
    if required is not None and _ORDER[pack["coverage"]] < _ORDER[required]:
        error = NotFoundError(
            f"coverage is {pack['coverage']}, {required} was required", code="not_covered"
        )
        error.pack = pack  # type: ignore[attr-defined]  # for the command, which still prints it
        raise error


def search_hits(  # noqa: PLR0913 (as answered)
    ledger: "Ledger",
    index: "SearchIndex",
    request: "Request",
    *,
    clock: Callable[[], str],
    limit: int = 10,
    embedder: "Embedder | None" = None,
    cache: "Path | None" = None,
) -> list[dict[str, Any]]:
    """Return ranked, proven hits without packing (CONTRACT 6, ``search``).

    Observations by default; records and episodes when the kind filter names them.
    """
    with ledger.snapshot():
        run = Recall.open(ledger, index, request, clock(), embedder=embedder, cache=cache)
        try:
            items = _ranked_items(run, limit)
            return [_hit(run, rank, item) for rank, item in enumerate(items, 1)]
        finally:
            run.resolver.gate.close()


def _ranked_items(run: Recall, limit: int) -> list[Item]:
    found = run.find(max(limit, _RANKED_AMONG))
    kinds = run.request.filters.kinds
    items: list[Item] = []
    for plane in PLANES:
        if plane == "observation" or kinds:
            at = 0
            while len(items) < limit and at < len(found.hits[plane]):
                items += run.resolver.items(plane, found.hits[plane][at : at + limit])
                at += limit
    return sorted(items, key=lambda item: (-item.score, item.ref))[:limit]


def _hit(run: Recall, rank: int, item: Item) -> dict[str, Any]:
    proof = item.proofs[0]
    attributes = proof.row.attributes
    path = path_fields(proof.asset.path)
    source = attributes.get("event_id") or attributes.get("message_id") or path["path"]
    return {
        "query_id": run.request.query_id,
        "rank": rank,
        "ref": item.ref,
        "kind": item.kind,
        "text": item.text,
        "score": round(item.score, 6),
        "signals": item.signals,
        "time": item.time,
        **path,
        "within": [container._asdict() for container in proof.asset.within],
        "source_id": source,
        "locator": proof.row.locator,
    }
