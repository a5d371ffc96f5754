"""Answer one request: search, fuse, resolve, gate, select, pack."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.pipeline.output import path_fields
from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.pack import Describe, PackBuilder
from muniment.pipeline.recall.query import as_asked
from muniment.pipeline.recall.run import Recall
from muniment.pipeline.recall.search import PLANES
from muniment.pipeline.recall.select import Candidates, Selection
from muniment.pipeline.recall.tokens import Counter, estimate
from muniment.store.errors import NotFoundError

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.ports import SearchIndex
    from muniment.store.ledger import Ledger

UNREACHABLE = "the store of the assets can't be reached: what it would prove is left out"
LEXICAL_ONLY = "lexical only: semantic search was not used; add --semantic"
_ORDER = {"none": 0, "partial": 1, "supported": 2}


@dataclass(slots=True)
class Trail:
    """What became of the candidates of one recall, for ``explain``."""

    candidates: Candidates
    relevant: Candidates | None = None
    chosen: list[Item] = field(default_factory=list)


def recall(  # noqa: PLR0913 (a command hands over this many things)
    ledger: "Ledger",
    index: "SearchIndex",
    request: "Request",
    *,
    clock: Callable[[], str],
    embedder: "Embedder | None" = None,
    cache: "Path | None" = None,
    notes: Sequence[str] = (),
    count: Counter = estimate,
) -> dict[str, Any]:
    """Return the MemoryPack of a request as plain values (CONTRACT 5).

    ``notes`` become warnings, such as that the index could not be refreshed. ``cache`` holds the
    compiled dictionary for Chinese. Raises ``NotFoundError`` when ``require`` is not met; the pack
    is its ``pack`` attribute.
    """
    with ledger.snapshot():
        run = Recall.open(ledger, index, request, clock(), embedder=embedder, cache=cache)
        try:
            pack = _packed(run, notes, count)
        finally:
            run.resolver.gate.close()
    _require(pack, request.require)
    return pack


def _packed(run: Recall, notes: Sequence[str], count: Counter) -> dict[str, Any]:
    pack, _ = packed(run, notes, count)
    return pack


def packed(
    run: Recall, notes: Sequence[str] = (), count: Counter = estimate
) -> tuple[dict[str, Any], Trail]:
    """Return the pack of a request under way, and what became of each candidate."""
    request, resolver = run.request, run.resolver
    scope = run.ledger.scope.as_dict()
    candidates = run.candidates()
    trail = Trail(candidates)
    warnings = [*notes, *_signal_notes(run)]
    candidates.standing = run.standing()
    describe = Describe(run.ledger.evidence.producer_of, _capture_time(run.ledger))

    def begun() -> tuple[PackBuilder, Selection]:
        told = [*warnings, *([UNREACHABLE] if resolver.gate.unreachable else [])]
        builder = PackBuilder(request, scope, told, describe, count)
        weights, budget = run.scale.weights, request.token_budget
        faded = run.faded if request.fade else None
        return builder, Selection(builder, run.query, weights, budget, count, faded)

    def unanswered() -> dict[str, Any]:
        builder, selection = begun()
        selection.fill_pinned(candidates.standing)
        return builder.finish("none", 0, resolver.failed)

    if run.judge(candidates.answers()).coverage == "none":
        return unanswered(), trail
    builder, selection = begun()
    trail.relevant = candidates.narrowed(run.similarities.partial)
    selection.fill(trail.relevant, run.around)
    trail.chosen = selection.chosen
    judged = run.judge(selection.chosen)
    if judged.coverage == "none":
        return unanswered(), trail
    if judged.coverage == "partial" and judged.missing:
        builder.add("unknowns", _unknown(as_asked(run.query.text, judged.missing)))
    return builder.finish(judged.coverage, selection.omitted, resolver.failed), trail


def _signal_notes(run: Recall) -> list[str]:
    if run.embedder is None:
        return [LEXICAL_ONLY]
    if run.lacking:
        return [f"{run.lacking} of {run.index.count()} texts have no vectors yet: muniment index"]
    return []


def _capture_time(ledger: "Ledger") -> Callable[[str], str | None]:
    def captured_at(asset: str) -> str | None:
        times = ledger.evidence.times(asset)
        return (times[0]["utc"] or times[0]["local"]) if times else None

    return captured_at


def _unknown(missing: Sequence[str]) -> Item:
    return Item(
        ref="",
        plane="unknown",
        kind="unknown",
        text=f"Nothing was found about: {', '.join(missing[:8])}",
        time=None,
        proofs=[],
    )


def _require(pack: dict[str, Any], required: str | None) -> None:
    if required is not None and _ORDER[pack["coverage"]] < _ORDER[required]:
        error = NotFoundError(
            f"coverage is {pack['coverage']}, {required} was required", code="not_covered"
        )
        error.pack = pack  # type: ignore[attr-defined]  # for the command, which still prints it
        raise error


def search_hits(  # noqa: PLR0913 (as recall)
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
    found = run.find()
    kinds = run.request.filters.kinds
    items: list[Item] = []
    for plane in PLANES:
        if plane == "observation" or kinds:
            resolve = getattr(run.resolver, f"{plane}s")
            at = 0
            while len(items) < limit and at < len(found.hits[plane]):
                items += resolve(found.hits[plane][at : at + limit])
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
