"""Join ranked lists into one: reciprocal ranks, or ranks with the engines' own scores.

Ranks alone throw away how much better the first hit is than the second; the engines' scores,
each divided by its list's best, keep it. Measured with ``tests/bench/bench_recall.py``.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

RRF_K = 60


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

    ``scores`` are the engines' own, ``parts`` what each signal, prior and hint added to the score.
    """

    key: str
    score: float
    signals: dict[str, int] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    parts: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, amount: float) -> None:
        """Raise the score and keep by what."""
        self.score += amount
        self.parts[name] = self.parts.get(name, 0.0) + amount


def fuse(signals: Iterable[Signal], *, calibration: float = 0.0) -> list[Fused]:
    """Return every key of the lists, best first; ties go by key.

    ``calibration`` 0 is plain reciprocal-rank fusion; 1 uses normalised scores alone.
    """
    joined: dict[str, Fused] = {}
    for signal in signals:
        scores = _normalised(signal)
        for rank, (key, score) in enumerate(signal.hits, 1):
            reciprocal = 1 / (RRF_K + rank)
            calibrated = scores[key] / (RRF_K + 1)
            share = signal.weight * ((1 - calibration) * reciprocal + calibration * calibrated)
            found = joined.setdefault(key, Fused(key, 0.0))
            found.add(signal.name, share)
            found.signals[signal.name] = rank
            found.scores[signal.name] = score
    return ordered(joined.values())


def _normalised(signal: Signal) -> dict[str, float]:
    top = max((score for _, score in signal.hits), default=0.0) - signal.floor
    if top <= 0:
        return dict.fromkeys((key for key, _ in signal.hits), 0.0)
    return {key: max(0.0, score - signal.floor) / top for key, score in signal.hits}


def add_group_prior(
    fused: Sequence[Fused], group_of: Mapping[str, str | None], weight: float, *, members: int = 3
) -> list[Fused]:
    """Raise what stands in a group (episode, thread, document) that answers well as a whole."""
    groups: dict[str, list[float]] = {}
    for hit in fused:
        group = group_of.get(hit.key)
        if group is not None:
            groups.setdefault(group, []).append(hit.score)
    totals = {group: sum(sorted(scores)[-members:]) for group, scores in groups.items()}
    best = max(totals.values(), default=0.0)
    if best <= 0:
        return list(fused)
    for hit in fused:
        group = group_of.get(hit.key)
        if group is not None:
            hit.add("group", weight / (RRF_K + 1) * totals[group] / best)
    return ordered(fused)


def nudge(fused: Sequence[Fused], amounts: Callable[[str], Mapping[str, float]]) -> list[Fused]:
    """Add small amounts (in first reciprocal ranks), by name, to each hit; nothing new comes in."""
    for hit in fused:
        for name, amount in amounts(hit.key).items():
            hit.add(name, amount / (RRF_K + 1))
    return ordered(fused)


def ordered(hits: Iterable[Fused]) -> list[Fused]:
    """Return hits best first; ties go by key."""
    return sorted(hits, key=lambda hit: (-hit.score, hit.key))
