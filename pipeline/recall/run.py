"""One request under way: the query understood, signals asked, candidates resolved, measured."""

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from muniment.pipeline.gist import gist
from muniment.pipeline.memory import decay
from muniment.pipeline.recall import answerability, entities
from muniment.pipeline.recall import coverage as judging
from muniment.pipeline.recall.diversity import collapse
from muniment.pipeline.recall.fuse import RRF_K
from muniment.pipeline.recall.gauge import Gauge
from muniment.pipeline.recall.query import Query, understand
from muniment.pipeline.recall.resolve import Resolver
from muniment.pipeline.recall.search import WEIGHTS, Found, find
from muniment.pipeline.recall.select import Candidates
from muniment.pipeline.recall.surroundings import SHORT_CHARACTERS, Surroundings
from muniment.pipeline.recall.tranches import tranches

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.fuse import Fused
    from muniment.pipeline.recall.items import Item
    from muniment.pipeline.recall.request import Request
    from muniment.store.index.ports import SearchIndex
    from muniment.store.ledger import Ledger

# About this many tokens of the budget bring in one more candidate; an item takes nearly twice that.
_TOKENS_A_CANDIDATE = 40
_LEAST_CANDIDATES, _MOST_CANDIDATES = 24, 400
# How many times as many are looked at where most say the same.
_FURTHER = 4
_RECORDS, _EPISODES, _STANDING = 40, 4, 32
_NEIGHBOUR_SHARE = 0.5
_MOST_RELATED = 5
FADED_CHARACTERS = 120
# Cosines speak for or against an answer while at most one text in so many has no vector.
_FEW_LACKING = 20
# Hits whose surroundings are read when none of them answers by itself.
_LOOKED_AROUND = 8


@dataclass(slots=True)
class Recall:
    """One request under way: what is asked, over what, and at which instant."""

    ledger: "Ledger"
    index: "SearchIndex"
    request: "Request"
    query: Query
    now: str
    resolver: Resolver
    embedder: "Embedder | None"
    scale: judging.Scale
    gauge: Gauge
    surroundings: Surroundings
    lacking: int = 0
    answered: bool | None = None
    found: Found = field(default_factory=Found)
    path: entities.Path = field(default_factory=entities.Path)
    _lost: dict[str, str] = field(default_factory=dict)

    @classmethod
    def open(
        cls, ledger: "Ledger", index: "SearchIndex", request: "Request", now: str,
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
        gauge = Gauge(query, scale)
        return cls(ledger, index, request, query, now, resolver, used, scale, gauge, around)

    def find(self, wanted: int = 0) -> Found:
        """Ask the signals; ``wanted`` observations are looked for where that is more than usual."""
        assets = None
        if self.request.filters.path is not None:
            seen = self.ledger.assets.at_path(self.request.filters.path)
            assets = tuple(self.ledger.assets.with_contents(seen))
        nearest = None
        if self.embedder is not None:
            from muniment.pipeline.recall.nearest import NearestDocuments

            nearest = NearestDocuments(self.index, self.embedder, self.request.query)
            self.lacking = nearest.lacking
        self.found = find(
            self.index, self.query, self.request, self.now,
            assets=assets, nearest=nearest, wanted=wanted,
        )  # fmt: skip
        self._raise_named()
        return self.found

    def _raise_named(self) -> None:
        """Let what the question names by any of its names raise hits; plain fusion has none."""
        self.path = entities.path_of(self.ledger, self.query.text, self.request.hops)
        if self.request.fusion == "weighted" and self.path.seeds:
            for plane, hits in self.found.hits.items():
                self.found.hits[plane] = entities.raise_named(
                    self.ledger, self.path, hits, WEIGHTS.entity
                )

    def candidates(self) -> "Iterator[Candidates]":
        """Yield what was found as proven items, measured, near-duplicates collapsed.

        First come the best hits, enough to fill the budget if they answer; then, if more are asked
        for, all that may be taken, and those further down where most of these say the same. What is
        not looked at is no duplicate of anything. A question of several parts takes all at once:
        the best of a part may be far down.
        """
        alike = yield from self._among(self._most, at_once=bool(self.query.clauses))
        if 2 * alike >= self._most:
            yield from self._among(_FURTHER * self._most, at_once=True)

    def _among(self, wanted: int, *, at_once: bool) -> "Generator[Candidates, None, int]":
        """Yield candidates of so many observations; return how many of these say the same again."""
        self.find(wanted)
        others = self._others()
        observations: list[Item] = []
        hits = self.found.hits["observation"][:wanted]
        budget = self.request.token_budget
        alike = 0
        for items, left in tranches(hits, budget, self._looked_at, at_once=at_once):
            observations += items
            if left and not self._is_promising(others, observations):
                continue
            observations.sort(key=_by_score)
            assets = {item.asset for item in observations if item.asset}
            candidates = replace(
                others,
                observations=collapse(observations, self.ledger.duplicates.group_of(assets)),
                unseen=left,
            )
            self._look_around(candidates)
            self.answered = self._is_answered(candidates)
            alike = sum(item.duplicates for item in candidates.observations)
            yield candidates
        return alike

    def _looked_at(self, hits: "list[Fused]") -> "list[Item]":
        return self._measured(self._resolved("observation", hits))

    @property
    def _most(self) -> int:
        """How many observations may be looked at."""
        most = self.request.token_budget // _TOKENS_A_CANDIDATE
        return min(max(most, _LEAST_CANDIDATES), _MOST_CANDIDATES)

    def _others(self) -> Candidates:
        """Return the candidates that are no observations."""
        hits = self.found.hits
        records = self._resolved("record", hits["record"][:_RECORDS])
        for item in records:
            item.score += WEIGHTS.importance * item.importance / (RRF_K + 1)
        records.sort(key=_by_score)
        episodes = self._resolved("episode", hits["episode"][:_EPISODES])
        return Candidates(
            records=collapse(self._measured(records)),
            episodes=collapse(self._measured(episodes)),
            observations=[], standing=[], lost=self._lost,
        )  # fmt: skip

    def _resolved(self, plane: str, hits: "Sequence[Fused]") -> "list[Item]":
        """Return what is proven of the hits of a plane; the others are lost."""
        items = self.resolver.items(plane, hits)
        proven = {item.ref for item in items}
        self._lost |= {hit.key: "not_proven" for hit in hits if hit.key not in proven}
        return items

    def _is_promising(self, others: Candidates, observations: "list[Item]") -> bool:
        """Tell whether what was seen answers by itself, so that the rest may stay unseen."""
        seen = replace(others, observations=observations)
        return max((item.coverage for item in seen.answers()), default=0.0) >= (
            judging.SUPPORTED_SHARE
        ) or bool(self._is_answered(seen))

    def signs(self, candidates: Candidates) -> answerability.Signs:
        """Return what speaks for an answer."""
        planes = (candidates.records, candidates.episodes, candidates.observations)
        return answerability.signs_of(planes, self.scale.weights, self.scale.strangers)

    def _is_answered(self, candidates: Candidates) -> bool | None:
        """Tell whether the signs together speak for an answer, null where they can't say."""
        if not self.scale.asks_signs:
            return None
        signs = self.signs(candidates)
        if (signs.cosine or 0.0) >= self.similarities.supported:
            return True
        model = None if self.embedder is None else self.embedder.producer.model
        if self.lacking and self.lacking * _FEW_LACKING > self.index.count():
            model = None  # the nearest text may be one without a vector
        return answerability.answers(signs, self.query.language, model)

    def standing(self) -> "list[Item]":
        """Return what always holds, the pinned first, then what has to do with the question."""
        relevance = {hit.key: hit.score for hit in self.found.hits["record"]}
        return self.resolver.standing(relevance, _STANDING)

    def judge(self, items: "Sequence[Item]") -> judging.Judgement:
        """Tell whether items answer the question."""
        return judging.judge(self.query, self.scale, items, self.similarities, self.answered)

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
            self.gauge.measure(item)
            # A vector is that of the whole text.
            item.similarity = self.found.similarities.get(item.ref) if item.whole else None
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
            self.gauge.measure_together(hit, around)

    def around(self, hits: "Sequence[Item]") -> "Iterator[Item]":
        """Yield what stands around hits, as context: what lets one answer, then what is beside it.

        Around a record are those that it is linked to as related, one hop.
        """
        beside = self.surroundings.nearest(hit for hit in hits if hit.plane != "record")
        for hit in hits:
            if hit.plane == "record":
                yield from (self._context(item, hit, "related") for item in self._related(hit))
                continue
            for mate in self.surroundings.of(hit) if hit.together > hit.coverage else ():
                self.gauge.measure(mate)
                if mate.coverage > 0:
                    yield self._context(mate, hit)
            for item in beside[hit.ref]:
                yield self._context(item, hit)

    def _related(self, hit: "Item") -> "Iterator[Item]":
        record = hit.ref.removeprefix("record:").partition("@")[0]
        for other in self.ledger.pairs.related(record)[:_MOST_RELATED]:
            for version in reversed(self.resolver.versions(other)):
                item = self.resolver.record(version)
                if item is not None:
                    yield item
                    break

    def _context(self, item: "Item", hit: "Item", signal: str = "neighbour") -> "Item":
        item.score = hit.score * _NEIGHBOUR_SHARE
        item.signals = {signal: 1}
        return item

    def faded(self, item: "Item") -> "Item":
        """Show what is old by its gist, and by its month when it is very old."""
        detail = "full"
        if item.time is not None and item.time.endswith("Z"):
            detail = decay.detail(item.kind if item.plane == "record" else item.plane,
                                  item.time, self.now)  # fmt: skip
        if detail == "full":
            return item
        short = gist([item.text], most=FADED_CHARACTERS)
        time = item.time[:7] if item.time and detail == "label" else item.time
        proof = next((one for one in item.proofs if short in one.quote), None)
        if item.plane != "observation" or proof is None:
            return replace(item, text=short, time=time)
        return replace(item, text=short, time=time, proofs=[proof._replace(quote=short)])


def _by_score(item: "Item") -> tuple[float, str]:
    return -item.score, item.ref
