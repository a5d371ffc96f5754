"""Weigh the signs that a store can answer a question: one small logistic model a language.

The weights were fitted by ``tests/bench/fit_coverage.py`` on one half of the bench texts and
questions, and measured on the other (docs/benchmarks.md). Nowhere else are they changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.pipeline.recall.items import Item


@dataclass(frozen=True, slots=True)
class Signs:
    """What speaks for an answer; each but the cosine is relative to the question's own weight.

    ``share`` is the most of the question that one item holds with what stands around it, ``first``
    what the best-ranked item holds alone, ``score`` the best full-text score, ``strange`` the part
    of names that no document holds. ``cosine`` is the best one, null without vectors.
    """

    share: float
    first: float
    score: float
    strange: float
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """Weights of the signs; together with the bias, 0 is the least that counts as an answer."""

    bias: float
    share: float
    first: float
    score: float
    strange: float
    cosine: float = 0.0

    def odds(self, signs: Signs) -> float:
        """Return the logarithm of the odds, above or below the threshold, of an answer."""
        return (
            self.bias
            + self.share * signs.share
            + self.first * signs.first
            + self.score * signs.score
            + self.strange * signs.strange
            + self.cosine * (signs.cosine or 0.0)
        )


WORDS: Mapping[str, Model] = {
    "en": Model(-3.975, share=5.172, first=4.312, score=2.134, strange=0.598),
    "zh": Model(-5.802, share=2.596, first=4.301, score=1.031, strange=0.952),
}
# Cosines of different models lie in different ranges: of a model without an entry none is asked.
VECTORS: Mapping[tuple[str, str], Model] = {
    ("multilingual-e5-small-q4", "en"): Model(
        -39.052, share=3.102, first=3.081, score=2.477, strange=-0.137, cosine=42.846
    ),
    ("multilingual-e5-small-q4", "zh"): Model(
        -50.084, share=1.3, first=4.185, score=0.644, strange=1.808, cosine=51.369
    ),
}


def signs_of(
    planes: Sequence[Sequence["Item"]], weights: Mapping[str, float], strangers: frozenset[str]
) -> Signs:
    """Return the signs of what was found; each plane holds its items, the best first."""
    items = [item for plane in planes for item in plane]
    total = sum(weights.values()) or 1.0
    ranked = [max(plane, key=lambda item: item.score).coverage for plane in planes if plane]
    cosines = [item.similarity for item in items if item.similarity is not None]
    return Signs(
        share=max((item.together for item in items), default=0.0),
        first=max(ranked, default=0.0),
        score=max((item.scores.get("fts", 0.0) for item in items), default=0.0) / total,
        strange=sum(weights.get(name, 0.0) for name in strangers) / total,
        cosine=max(cosines, default=None),
    )


def answers(signs: Signs, language: str, model: str | None) -> bool:
    """Tell whether the signs speak for an answer; ``model`` is the embedder in use."""
    words = WORDS.get(language, WORDS["en"])
    found = VECTORS.get((model or "", language), words)
    return (words if signs.cosine is None else found).odds(signs) >= 0
