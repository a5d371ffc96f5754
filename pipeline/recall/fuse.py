"""Join ranked lists into one: reciprocal ranks, or ranks with the engines' own scores.

Ranks alone throw away how much better the first hit is than the second; the engines' scores,
each divided by its list's best, keep it. Measured with ``tests/bench/bench_recall.py``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

RRF_K = 60
_key, _score = attrgetter("key"), attrgetter("score")


@dataclass(frozen=True, slots=True)
class Weights:
    """What each signal counts for, in units of the first reciprocal rank (1/61).

    Fitted on some LoCoMo conversations and measured on the others: docs/benchmarks.md has the
    table. The nudges are far below the step between two good hits, so that they order near ties.
    """

    fts: float = 1.0
    vector: float = 0.5
    calibration: float = 0.8
    group: float = 0.5
    speaker: float = 0.3
    recency: float = 0.02
    importance: float = 0.05
    basis: float = 0.03
    medium: float = 0.08
    time: float = 0.08
    entity: float = 0.3


@dataclass(slots=True)
class Signal:
    """One ranked list: (key, score) from the best down. Scores below ``floor`` count nothing."""

    name: str
    hits: Sequence[tuple[str, float]]
    weight: float = 1.0
    floor: float = 0.0


@dataclass(slots=True)
class Fused:
    """One key with its joined score and its rank (from 1) in each list that holds it.

    ``scores`` are the engines' own, ``parts`` what each signal, prior and hint added to the score,
    ``number`` is the sequence number of an observation in the ledger, ``group`` the thread or asset
    that it is of.
    """

    key: str
    score: float
    signals: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)
    number: int = 0
    group: str | None = None

    def add(self, name: str, amount: float) -> None:
        """Raise the score and keep by what."""
        self.score += amount
        self.parts[name] = self.parts.get(name, 0.0) + amount

    def nudge(self, name: str, amount: float) -> None:
        """Do it by so many first reciprocal ranks."""
        self.add(name, amount / (RRF_K + 1))


def fuse(signals: Iterable[Signal], *, calibration: float = 0.0) -> list[Fused]:
    """Return every key of the lists, best first; ties go by key.

    ``calibration`` 0 is plain reciprocal-rank fusion; 1 uses normalised scores alone.
    """
    joined: dict[str, Fused] = {}
    for signal in signals:
        name, floor = signal.name, signal.floor
        top = max([score for _, score in signal.hits], default=0.0) - floor
        by_rank = signal.weight * (1 - calibration)
        by_score = signal.weight * calibration / (RRF_K + 1) / top if top > 0 else 0.0
        for rank, (key, score) in enumerate(signal.hits, 1):
            share = by_rank / (RRF_K + rank)
            if score > floor:
                share += by_score * (score - floor)
            found = joined.get(key)
            if found is None:
                joined[key] = Fused(key, share, {name: rank}, {name: score}, {name: share})
            else:
                found.add(name, share)
                found.signals[name] = rank
                found.scores[name] = score
    return ordered(joined.values())


def add_group_prior(
    fused: Sequence[Fused], groups: Sequence[str | None], weight: float, *, members: int = 3
) -> None:
    """Raise what stands in a group (episode, thread, document) that answers well as a whole.

    ``groups`` names that of each hit. The hits are to be ordered anew.
    """
    scores: dict[str, list[float]] = {}
    for hit, group in zip(fused, groups, strict=True):
        if group is not None:
            scores.setdefault(group, []).append(hit.score)
    totals = {
        group: sum(own if len(own) <= members else sorted(own)[-members:])
        for group, own in scores.items()
    }
    best = max(totals.values(), default=0.0)
    if best <= 0:
        return
    for hit, group in zip(fused, groups, strict=True):
        if group is not None:
            hit.nudge("group", weight * totals[group] / best)


def nudge(fused: Sequence[Fused], amounts: Callable[[str], Mapping[str, float]]) -> list[Fused]:
    """Add small amounts (in first reciprocal ranks), by name, to each hit; nothing new comes in."""
    for hit in fused:
        for name, amount in amounts(hit.key).items():
            hit.nudge(name, amount)
    return ordered(fused)


def ordered(hits: Iterable[Fused]) -> list[Fused]:
    """Return hits best first; ties go by key."""
    return sorted(sorted(hits, key=_key), key=_score, reverse=True)  # a stable sort, twice in C
