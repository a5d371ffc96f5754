"""One request under way: the query understood, signals asked, candidates resolved, measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muniment.pipeline.recall import coverage as judging
from muniment.pipeline.recall.diversity import collapse
from muniment.pipeline.recall.fuse import RRF_K
from muniment.pipeline.recall.query import Query, understand
from muniment.pipeline.recall.resolve import Resolver
from muniment.pipeline.recall.search import WEIGHTS, Found, find
from muniment.pipeline.recall.select import Candidates
from muniment.pipeline.recall.surroundings import SHORT_CHARACTERS, Surroundings
from muniment.store.ledger.changes import Changes

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.items import Item
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.fts import TextIndex
    from muniment.store.ledger import Ledger

# About this many tokens of the budget bring in one more candidate.
_TOKENS_A_CANDIDATE = 25
_LEAST_CANDIDATES, _MOST_CANDIDATES = 24, 400
_RECORDS, _EPISODES, _STANDING = 40, 4, 40
_NEIGHBOUR_SHARE = 0.5
# Hits whose surroundings are read when none of them answers by itself.
_LOOKED_AROUND = 12


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
    surroundings: Surroundings
    lacking: int = 0
    found: Found = field(default_factory=Found)

    @classmethod
    def open(
        cls, ledger: "Ledger", index: "TextIndex", request: "Request", now: str,
        *, embedder: "Embedder | None", cache: "Path | None",
    ) -> "Recall":  # fmt: skip
        """Understand the query and weigh its words."""
        query = understand(request.query, request.filters.as_of or now, cache)
        scale = judging.scale_of(
            query, index.idf(query.analysis), index.count(), request.coverage_threshold
        )
        resolver = Resolver(ledger, request.filters, now, with_assistant=query.asks_assistant)
        used = None if request.semantic == "off" else embedder
        around = Surroundings(ledger, resolver)
        return cls(ledger, index, request, query, now, resolver, used, scale, around)

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
        self.found = find(
            self.index, self.query, self.request, self.now, assets=assets, nearest=nearest
        )
        return self.found

    def candidates(self) -> Candidates:
        """Return what was found as proven items, measured, near-duplicates collapsed."""
        found, resolver = self.find(), self.resolver
        most = self.request.token_budget // _TOKENS_A_CANDIDATE
        most = min(max(most, _LEAST_CANDIDATES), _MOST_CANDIDATES)
        records = resolver.records(found.hits["record"][:_RECORDS])
        for item in records:
            item.score += WEIGHTS.importance * item.importance / (RRF_K + 1)
        taken = found.hits["observation"][:most]
        observations = resolver.observations(taken)
        episodes = resolver.episodes(found.hits["episode"][:_EPISODES])
        assets = {item.asset for item in observations if item.asset}
        proven = {item.ref for item in (*records, *episodes, *observations)}
        tried = (*found.hits["record"][:_RECORDS], *taken, *found.hits["episode"][:_EPISODES])
        by_score = sorted(records, key=lambda item: (-item.score, item.ref))
        candidates = Candidates(
            records=collapse(self._measured(by_score)),
            episodes=collapse(self._measured(episodes)),
            observations=collapse(
                self._measured(observations), self.ledger.duplicates.group_of(assets)
            ),
            standing=[],
            lost={hit.key: "not_proven" for hit in tried if hit.key not in proven},
        )
        self._look_around(candidates)
        return candidates

    def standing(self) -> "list[Item]":
        """Return what always holds."""
        return self.resolver.standing(_STANDING)

    def judge(self, items: "Sequence[Item]") -> judging.Judgement:
        """Tell whether items answer the question."""
        return judging.judge(self.query, self.scale, items, self.similarities)

    @property
    def similarities(self) -> judging.SimilarityThresholds:
        """The cosines that count, of the embedder in use."""
        if self.embedder is None:
            return judging.UNKNOWN_MODEL
        key = (self.embedder.producer.model, self.query.language)
        return judging.SIMILARITIES.get(key, judging.UNKNOWN_MODEL)

    def _measured(self, items: "list[Item]") -> "list[Item]":
        """Give each item its coverage and similarity; what has neither is left out."""
        for item in items:
            judging.measure_item(self.query, self.scale, item)
            item.similarity = self.found.similarities.get(item.ref)
        return [item for item in items if item.coverage > 0 or item.similarity is not None]

    def _look_around(self, candidates: Candidates) -> None:
        """Judge the best short hits with what stands around them, when none answers alone."""
        answers = candidates.answers()
        if max((item.coverage for item in answers), default=0.0) >= judging.SUPPORTED_SHARE:
            return
        short = [item for item in candidates.observations if len(item.text) < SHORT_CHARACTERS]
        hits = short[:_LOOKED_AROUND]
        self.surroundings.look_up(hits)
        for hit in hits:
            around = self.surroundings.of(hit)
            judging.measure_together(self.query, self.scale, hit, around)

    def around(self, hit: "Item") -> "Iterator[Item]":
        """Yield what stands around a hit, as context: what lets it answer, then what is beside."""
        if hit.together > hit.coverage:
            for mate in self.surroundings.of(hit):
                judging.measure_item(self.query, self.scale, mate)
                if mate.coverage > 0:
                    yield self._context(mate, hit)
        before, after = Changes(self.ledger.database).around(hit.proofs[0].row.seq, 1)
        rows = self.resolver.rows(neighbour.id for neighbour in (*before, *after))
        for neighbour in (*before, *after):
            row = rows.get(neighbour.id)
            item = None if row is None else self.resolver.observation(row)
            if item is not None:
                yield self._context(item, hit)

    def _context(self, item: "Item", hit: "Item") -> "Item":
        item.score = hit.score * _NEIGHBOUR_SHARE
        item.signals = {"neighbour": 1}
        return item
