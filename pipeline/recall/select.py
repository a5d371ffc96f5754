"""Choose what enters the pack: no near-duplicates, spread over sources, inside one budget."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from muniment.pipeline.recall.diversity import key_of, spread
from muniment.pipeline.recall.excerpt import excerpt
from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.pack import PackBuilder
from muniment.pipeline.recall.tokens import Counter, estimate
from muniment.store.text.holding import Yardstick, lines_of

if TYPE_CHECKING:
    from muniment.pipeline.recall.query import Query

# Gives what stands around some items, as context of them.
Around: TypeAlias = Callable[[Sequence[Item]], Iterable[Item]]

# Shares of the budget. Observations take what is left.
PROFILE_SHARE = 0.25
RECORDS_SHARE = 0.45
EPISODES_SHARE = 0.15
# An item this much weaker than the best one is about something else.
_LEAST_OF_BEST = 0.2
_LEAST_RECORD_OF_BEST = 0.6
# The best item of a clause must say this much of it to stand for it.
_LEAST_CLAUSE = 0.25
# Cosines this close to the best one are as good.
_NEAR = 0.03
_EXCERPT_SHARE = 1 / 6
_LEAST_EXCERPT = 48
_NEIGHBOURS_OF = 3
_MISSES_IN_A_ROW = 4


@dataclass(slots=True)
class Candidates:
    """Resolved, proven items of each plane, best first."""

    records: list[Item]
    episodes: list[Item]
    observations: list[Item]
    standing: list[Item]
    # Why hits are not among them, by ref.
    lost: dict[str, str] = field(default_factory=dict)
    # How many more hits could be taken.
    unseen: int = 0

    def answers(self) -> list[Item]:
        """Return the items that may answer the question."""
        return [*self.records, *self.episodes, *self.observations]

    def narrowed(self, close: float) -> "Candidates":
        """Leave out what says far less of the question, or of a clause of it, than the best does.

        ``close`` is the cosine from which meaning alone is enough; of a model whose cosines are
        not known (above 1), observations near the best one are.
        """
        answers = self.answers()
        told = _Told(answers)
        nearest = max((item.similarity or 0.0 for item in answers), default=0.0) - _NEAR
        near = close if close <= 1 else nearest
        return Candidates(
            records=told.relevant(self.records, _LEAST_RECORD_OF_BEST, close),
            episodes=told.relevant(self.episodes, _LEAST_RECORD_OF_BEST, close),
            observations=told.relevant(self.observations, _LEAST_OF_BEST, near),
            standing=self.standing,
            lost=self.lost,
            unseen=self.unseen,
        )


class _Told:
    """How much the best items say of a question and of each of its clauses."""

    def __init__(self, items: Sequence[Item]) -> None:
        shares = [(item.coverage, *item.clauses) for item in items]
        self._best = [max(column) for column in zip(*shares, strict=True)]

    def relevant(self, items: Sequence[Item], least: float, close: float) -> list[Item]:
        """Return the items that say at least this part of what the best one says, or are close."""
        return [
            item
            for item in items
            if self._says(item, least) or (item.similarity or 0.0) >= close > 0
        ]

    def _says(self, item: Item, least: float) -> bool:
        if not item.clauses:
            return bool(item.coverage >= least * self._best[0] > 0)
        shares = zip((item.coverage, *item.clauses), self._best, strict=True)
        whole, *clauses = (share >= least * best > 0 for share, best in shares)
        told = zip(clauses, self._best[1:], strict=True)
        return whole or any(says and best >= _LEAST_CLAUSE for says, best in told)


class Selection:
    """Fills a pack; ``chosen`` are the items that answer, ``omitted`` counts what did not fit."""

    def __init__(
        self,
        builder: PackBuilder,
        query: "Query",
        weights: Mapping[str, float],
        budget: int,
        count: Counter = estimate,
        faded: Callable[[Item], Item] | None = None,
    ) -> None:
        self._faded = faded
        self.chosen: list[Item] = []
        self.omitted = 0
        # What an item took beside its text, at the least.
        self._least_overhead = budget
        self._builder = builder
        self._query = query
        self._weights = weights
        self._budget = budget
        self._count = count

    def fill(self, candidates: Candidates, around: Around | None = None) -> None:
        """Take records and conflicts, observations, standing records, episodes, neighbours."""
        records = candidates.records
        taken = self._fill("conflicts", _conflicted(records, True), RECORDS_SHARE)
        taken |= self._fill("records", _conflicted(records, False), RECORDS_SHARE)
        standing = [item for item in candidates.standing if item.ref not in taken]
        reserve = self._reserve(standing)
        said = {key_of(proof.quote) for item in self.chosen for proof in item.proofs}
        fresh = [item for item in candidates.observations if key_of(item.text) not in said]
        ordered = clauses_first(list(spread(fresh)), len(self._query.clauses))
        taken |= self._fill("observations", ordered, 1.0, reserve)
        answered = list(self.chosen)
        self._fill("profile", standing, PROFILE_SHARE)
        shown = {key_of(item.text) for item in answered}
        episodes = [
            item
            for item in candidates.episodes
            if not all(key_of(proof.quote) in shown for proof in item.proofs)
        ]
        self._fill("episodes", episodes, EPISODES_SHARE)
        self.chosen = answered + [item for item in self.chosen if item.plane == "episode"]
        if around is not None:
            self._add_neighbours(answered, around, taken)

    def fill_pinned(self, standing: Sequence[Item]) -> None:
        """Take what was pinned alone: it holds whatever is asked, and answers nothing."""
        pinned = [item for item in standing if item.pinned]
        self._fill("profile", pinned, PROFILE_SHARE)
        self.chosen = []

    def _fill(
        self, section: str, items: Sequence[Item], share: float, reserve: int = 0
    ) -> set[str]:
        """Add items in order while they fit into a share of the budget; return their refs."""
        left = min(int(self._budget * share), self._builder.left - reserve)
        taken: set[str] = set()
        misses = 0
        for item in items:
            before = self._builder.left
            if misses < _MISSES_IN_A_ROW and self._add(section, item, left):
                left -= before - self._builder.left
                taken.add(item.ref)
                misses = 0
            else:
                misses += 1
                self.omitted += 1
        return taken

    def _add(self, section: str, item: Item, limit: int) -> bool:
        fitted = self._fitted(item, longest_excerpt(self._budget))
        if not self._builder.has_room(fitted) and self._count(fitted.text) <= _LEAST_EXCERPT:
            return False  # it can't be cut any shorter
        draft = self._builder.drafted(section, fitted)
        overhead = draft.cost - self._count(fitted.text)
        self._least_overhead = min(self._least_overhead, overhead)
        if not self._builder.take(draft, limit):
            shorter = self._fitted(item, limit - overhead - _LEAST_EXCERPT // 4)
            if shorter.text == fitted.text or not self._builder.add(section, shorter, limit):
                return False
            fitted = shorter
        self.chosen.append(fitted)
        return True

    def _fitted(self, item: Item, limit: int) -> Item:
        """Return an observation cut to the part that answers; other planes stay whole."""
        item = item if self._faded is None else self._faded(item)
        limit = max(limit, _LEAST_EXCERPT)
        if item.plane != "observation" or self._count(item.text) <= limit:
            return item
        cut = [
            proof._replace(
                quote=excerpt(proof.quote, limit, self._query, self._weights, self._count)
            )
            for proof in item.proofs
        ]
        # Of one that answers in parts, the best of them is shown.
        best = max(cut, key=lambda proof: self._share(proof.quote)) if len(cut) > 1 else cut[0]
        return replace(item, text=best.quote, proofs=[best])

    def _share(self, text: str) -> float:
        """Return how much of the question's weight a text holds."""
        return Yardstick(self._query.analysis, self._weights).covered(lines_of(text)).share

    def _reserve(self, standing: Sequence[Item]) -> int:
        """Return the room that standing records will take, at most their share."""
        most = int(self._budget * PROFILE_SHARE)
        total = 0
        for item in standing:
            total += self._builder.cost("profile", item)
            if total >= most:
                return most
        return total

    def _add_neighbours(self, answered: Sequence[Item], around: "Around", taken: set[str]) -> None:
        said = {key_of(item.text) for item in answered}
        for section, plane in (("observations", "observation"), ("records", "record")):
            hits = [item for item in answered if item.plane == plane]
            # What stands beside a hit takes about as much as the hits did.
            if self._builder.left <= self._least_overhead:
                return
            for item in around(hits[:_NEIGHBOURS_OF]):
                if item.ref not in taken and key_of(item.text) not in said:
                    taken.add(item.ref)
                    limit = longest_excerpt(self._budget)
                    self._builder.add(section, self._fitted(item, limit), limit)


def longest_excerpt(budget: int) -> int:
    """Return how many tokens the text of one observation may take."""
    return max(int(budget * _EXCERPT_SHARE), _LEAST_EXCERPT)


def clauses_first(items: Sequence[Item], clauses: int) -> list[Item]:
    """Put the best item of each clause of the question before the others."""
    first: list[Item] = []
    for place in range(clauses):
        fitting = [item for item in items if item.clauses[place] > 0]
        best = max(fitting, key=lambda item: (item.clauses[place], item.score), default=None)
        if best is not None and best not in first:
            first.append(best)
    return first + [item for item in items if item not in first]


def _conflicted(items: Iterable[Item], wanted: bool) -> list[Item]:
    return [item for item in items if (item.status == "conflicted") == wanted]
