"""Answer one request: search, fuse, resolve, gate, select, pack."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muniment.pipeline.recall import coverage as judging
from muniment.pipeline.recall.fuse import RRF_K
from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.pack import Describe, PackBuilder, empty
from muniment.pipeline.recall.query import Query, as_asked, understand
from muniment.pipeline.recall.resolve import Resolver
from muniment.pipeline.recall.search import PLANES, WEIGHTS, Found, find
from muniment.pipeline.recall.select import Candidates, Selection, collapse
from muniment.pipeline.recall.tokens import Counter, estimate
from muniment.store.errors import NotFoundError
from muniment.store.ledger.changes import Changes

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.fts import TextIndex
    from muniment.store.ledger import Ledger

LEXICAL_ONLY = "lexical only: semantic search was not used; add --semantic"
# About this many tokens of the budget bring in one more candidate.
_TOKENS_A_CANDIDATE = 25
_LEAST_CANDIDATES, _MOST_CANDIDATES = 24, 150
_RECORDS, _EPISODES, _STANDING = 40, 4, 40
_NEIGHBOUR_SHARE = 0.5
_ORDER = {"none": 0, "partial": 1, "supported": 2}


@dataclass(slots=True)
class Recall:
    """One request under way: what is asked, over what, and at which instant."""

    ledger: "Ledger"
    index: "TextIndex"
    request: "Request"
    query: Query
    now: str
    resolver: Resolver
    embedder: "Embedder | None"
    scale: judging.Scale
    lacking: int = 0

    @classmethod
    def open(
        cls, ledger: "Ledger", index: "TextIndex", request: "Request", now: str,
        *, embedder: "Embedder | None", cache: "Path | None",
    ) -> "Recall":  # fmt: skip
        """Understand the query and weigh its words."""
        query = understand(request.query, request.filters.as_of or now, cache)
        scale = judging.scale_of(query, index.idf(query.analysis), index.count())
        resolver = Resolver(ledger, request.filters, now, with_assistant=query.asks_assistant)
        used = None if request.semantic == "off" else embedder
        return cls(ledger, index, request, query, now, resolver, used, scale)

    def find(self) -> Found:
        """Ask the signals."""
        assets = None
        if self.request.filters.path is not None:
            assets = tuple(self.ledger.assets.at_path(self.request.filters.path))
        nearest = None
        if self.embedder is not None:
            from muniment.pipeline.recall.nearest import NearestDocuments

            nearest = NearestDocuments(self.index, self.embedder, self.request.query)
            self.lacking = nearest.lacking
        return find(self.index, self.query, self.request, self.now, assets=assets, nearest=nearest)

    def measured(self, items: list[Item], found: Found) -> list[Item]:
        """Give each item its coverage and similarity; what has neither is left out."""
        for item in items:
            judging.measure_item(self.query, self.scale, item)
            item.similarity = found.similarities.get(item.ref)
        return [item for item in items if item.coverage > 0 or item.similarity is not None]

    def around(self, hit: Item) -> Iterator[Item]:
        """Yield the messages or lines right before and after a hit, as context."""
        changes = Changes(self.ledger.database)
        before, after = changes.around(hit.proofs[0].row.seq, 1)
        rows = self.resolver.rows(neighbour.id for neighbour in (*before, *after))
        for neighbour in (*before, *after):
            row = rows.get(neighbour.id)
            item = None if row is None else self.resolver.observation(row)
            if item is not None:
                item.score = hit.score * _NEIGHBOUR_SHARE
                item.signals = {"neighbour": 1}
                yield item


def recall(  # noqa: PLR0913 (a command hands over this many things)
    ledger: "Ledger",
    index: "TextIndex",
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
    request, resolver = run.request, run.resolver
    scope = run.ledger.scope.as_dict()
    candidates = _candidates(run)
    warnings = [*notes, *_signal_notes(run)]
    judged = judging.judge(run.query, run.scale, _answers(candidates), _similarities(run))
    if judged.coverage == "none":
        return empty(request, scope, warnings, resolver.failed)
    candidates.standing = resolver.standing(_STANDING)
    describe = Describe(run.ledger.evidence.producer_of, _capture_time(run.ledger))
    builder = PackBuilder(request, scope, warnings, describe, count)
    selection = Selection(builder, run.query, run.scale.weights, request.token_budget, count)
    selection.fill(candidates.narrowed(_similarities(run).partial), run.around)
    judged = judging.judge(run.query, run.scale, selection.chosen, _similarities(run))
    if judged.coverage == "none":
        return empty(request, scope, warnings, resolver.failed)
    if judged.coverage == "partial" and judged.missing:
        builder.add("unknowns", _unknown(as_asked(run.query.text, judged.missing)))
    return builder.finish(judged.coverage, selection.omitted, resolver.failed)


def _signal_notes(run: Recall) -> list[str]:
    if run.embedder is None:
        return [LEXICAL_ONLY]
    if run.lacking:
        return [f"{run.lacking} of {run.index.count()} texts have no vectors yet: muniment index"]
    return []


def _candidates(run: Recall) -> Candidates:
    found, resolver = run.find(), run.resolver
    most = run.request.token_budget // _TOKENS_A_CANDIDATE
    most = min(max(most, _LEAST_CANDIDATES), _MOST_CANDIDATES)
    records = resolver.records(found.hits["record"][:_RECORDS])
    for item in records:
        item.score += WEIGHTS.importance * item.importance / (RRF_K + 1)
    observations = resolver.observations(found.hits["observation"][:most])
    episodes = resolver.episodes(found.hits["episode"][:_EPISODES])
    by_score = sorted(records, key=lambda item: (-item.score, item.ref))
    return Candidates(
        records=collapse(run.measured(by_score, found)),
        episodes=collapse(run.measured(episodes, found)),
        observations=collapse(
            run.measured(observations, found),
            run.ledger.duplicates.group_of({item.asset for item in observations if item.asset}),
        ),
        standing=[],
    )


def _answers(candidates: Candidates) -> list[Item]:
    return [*candidates.records, *candidates.episodes, *candidates.observations]


def _similarities(run: Recall) -> judging.SimilarityThresholds:
    if run.embedder is None:
        return judging.UNKNOWN_MODEL
    key = (run.embedder.producer.model, run.query.language)
    return judging.SIMILARITIES.get(key, judging.UNKNOWN_MODEL)


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
    index: "TextIndex",
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
    path = proof.asset.path.decode("utf-8", "replace")
    source = attributes.get("event_id") or attributes.get("message_id") or path
    return {
        "query_id": run.request.query_id,
        "rank": rank,
        "ref": item.ref,
        "kind": item.kind,
        "text": item.text,
        "score": round(item.score, 6),
        "signals": item.signals,
        "time": item.time,
        "path": path,
        "source_id": source,
        "locator": proof.row.locator,
    }
