"""How well the right documents are ranked, and whether fitted weights hold on other texts."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

from bench.methods import DEPTH, methods_of, name_of
from bench.sets import Question
from bench.stored import Stored

from muniment.pipeline.recall import run as running
from muniment.pipeline.recall import search as searching
from muniment.pipeline.recall.fuse import Weights
from muniment.pipeline.recall.request import Request

Row = dict[str, Any]

VECTORS, SPEAKERS = (0.3, 0.5, 0.8), (0.15, 0.3, 0.45)


def recall_at_ten(found: Sequence[str], wanted: set[str]) -> float:
    """Return the share of the wanted documents among the first ten."""
    return len(wanted & set(found[:10])) / len(wanted)


def first_is_right(found: Sequence[str], wanted: set[str]) -> float:
    """Return 1 when the first document answers."""
    return float(bool(found) and found[0] in wanted)


def ndcg_at_ten(found: Sequence[str], wanted: set[str]) -> float:
    """Return the normalised discounted gain of the first ten."""
    gain = sum(1 / math.log2(rank + 1) for rank, key in enumerate(found[:10], 1) if key in wanted)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    return gain / best


MEASURES = {
    "locomo": ("recall@10", recall_at_ten),
    "scifact": ("nDCG@10", ndcg_at_ten),
    "cmrc": ("R@1", first_is_right),
}


def ranking(name: str, opened: Sequence[Stored], every: int) -> list[Row]:
    """Return one row a method: the mean measure, and that of each kind of question."""
    label, measure = MEASURES[name]
    values: dict[str, dict[str, list[float]]] = {}
    for one in opened:
        for method, search in methods_of(one).items():
            kinds = values.setdefault(method, {})
            for question in one.collection.questions[::every]:
                value = measure(search(question.text), question.wanted)
                kinds.setdefault(question.category, []).append(value)
    return [
        {"set": name, "method": method, "measure": label, **_means(kinds)}
        for method, kinds in values.items()
    ]


def held_out(opened: Sequence[Stored], request: Request, every: int) -> Row:
    """Return recall on each conversation under the weights that were best on the others."""
    vectors = VECTORS if request.semantic != "off" else (Weights().vector,)
    grid = list(product(vectors, SPEAKERS))
    for one in opened:
        # What the index answers does not depend on the weights.
        one.index.search = cache(one.index.search)  # type: ignore[method-assign]
    results = {
        weights: [_under(weights, one, request, every) for one in opened] for weights in grid
    }
    kinds: dict[str, list[float]] = {}
    chosen = []
    for left_out in range(len(opened)):
        best = max(grid, key=lambda weights: _without(results[weights], left_out))
        chosen.append(best)
        for kind, value in results[best][left_out]:
            kinds.setdefault(kind, []).append(value)
    return {
        "set": "locomo", "method": f"{name_of(request)}, held out", "measure": "recall@10",
        **_means(kinds), "chosen": chosen,
    }  # fmt: skip


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


@contextmanager
def _weighing(vector: float, speaker: float) -> Iterator[None]:
    usual = searching.WEIGHTS
    weighed = replace(usual, vector=vector, speaker=speaker)
    searching.WEIGHTS = running.WEIGHTS = weighed  # type: ignore[attr-defined]
    try:
        yield
    finally:
        searching.WEIGHTS = running.WEIGHTS = usual  # type: ignore[attr-defined]


def _under(
    weights: tuple[float, float], opened: Stored, request: Request, every: int
) -> list[tuple[str, float]]:
    with _weighing(*weights):
        return [(asked.category, _recalled(opened, request, asked))
                for asked in opened.collection.questions[::every]]  # fmt: skip


def _recalled(opened: Stored, request: Request, asked: Question) -> float:
    return recall_at_ten(opened.search(request, asked.text, DEPTH), asked.wanted)


def _without(results: Sequence[Sequence[tuple[str, float]]], left_out: int) -> float:
    kept = (part for place, part in enumerate(results) if place != left_out)
    return mean(value for part in kept for _, value in part)


def _means(kinds: dict[str, list[float]]) -> Row:
    everything = [value for found in kinds.values() for value in found]
    by_kind = {kind: round(mean(found), 4) for kind, found in sorted(kinds.items())}
    return {
        "value": round(mean(everything), 4),
        "questions": len(everything),
        "kinds": by_kind if len(by_kind) > 1 else {},
    }
