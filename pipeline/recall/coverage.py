"""Tell whether what was found is about the question at all.

One shared common word is not evidence: the question's telling words are weighed by their rarity,
and one item has to hold enough of that weight by itself. Words that no document holds at all weigh
most, so a question about something never mentioned stays unanswered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.query import Query

# In a store of many texts the signs together say whether there is an answer (``answerability``);
# these shares say whether it is whole, and judge alone in a store of few texts and under the
# setting ``coverage_threshold``, which replaces those that stand for "in part".
SUPPORTED_SHARE = 0.6
PARTIAL_SHARE = 0.38
# A long Chinese text holds a part of any question by chance: short words stand inside others.
PARTIAL_SHARE_OF_LONG_HAN = 0.52
LONG_CHARACTERS = 300
# In a store of a few notes every word is rare, so a share of them says less.
PARTIAL_SHARE_OF_FEW = 0.5
FEW_DOCUMENTS, MANY_DOCUMENTS = 50, 300
# Of a query that asks several things, the share of them by weight that some item supports.
SUPPORTED_CLAUSES = 0.8
PARTIAL_CLAUSES = 0.4
LEAST_CLAUSE_SHARE = 0.4

# A word that only frames the question ("how many", "when", "photo") need not come back.
_FRAME_WEIGHT = 0.1
# A name that the evidence lacks says more than any other missing word, most of all one that is
# nowhere in the store.
_NAME_WEIGHT = 1.5
_UNKNOWN_NAME_WEIGHT = 2.0
# Who is asked about matters even where everybody is named in every line.
_LEAST_NAME_WEIGHT = 2.5
_LEAST_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class SimilarityThresholds:
    """Cosines from which one item supports, or partly supports, a question without its words."""

    supported: float
    partial: float


# Each belongs to one embedder and language: cosines of different models lie in different ranges.
# Of the measured pairs, unanswerable ones reach 0.844 in English and 0.882 in Chinese, answerable
# ones begin at 0.838 and 0.915. Unknown models never support by themselves.
SIMILARITIES: Mapping[tuple[str, str], SimilarityThresholds] = {
    ("multilingual-e5-small-q4", "en"): SimilarityThresholds(supported=0.88, partial=0.86),
    ("multilingual-e5-small-q4", "zh"): SimilarityThresholds(supported=0.905, partial=0.89),
}
_LEVELS = ("none", "partial", "supported")
_PARTIAL, _SUPPORTED = 1, 2
UNKNOWN_MODEL = SimilarityThresholds(supported=2.0, partial=2.0)


@dataclass(frozen=True, slots=True)
class Scale:
    """What each unit of a query weighs; ``strangers`` are names of it that no document holds.

    ``few`` is 1 in a store of a few documents, 0 in one of many. A ``threshold`` of 0 lets whatever
    was found answer.
    """

    weights: Mapping[str, float]
    strangers: frozenset[str]
    few: float = 0.0
    is_han: bool = False
    threshold: float | None = None

    @property
    def asks_signs(self) -> bool:
        """Whether all signs are weighed: words have a rarity, and no threshold replaces them."""
        return self.threshold is None and self.few == 0

    def needed(self, characters: int) -> float:
        """Return the share that a text of this length must hold to answer in part."""
        if self.threshold is not None:
            return self.threshold
        is_long = self.is_han and characters >= LONG_CHARACTERS
        least = PARTIAL_SHARE_OF_LONG_HAN if is_long else PARTIAL_SHARE
        return least + self.few * max(0.0, PARTIAL_SHARE_OF_FEW - least)


@dataclass(frozen=True, slots=True)
class Judgement:
    """``coverage`` is ``supported``, ``partial`` or ``none``, ``share`` what the best item says."""

    coverage: str
    share: float


def scale_of(
    query: Query, idf: Mapping[str, float], documents: int, threshold: float | None = None
) -> Scale:
    """Return what each unit of a query weighs.

    In a store of a few notes every word is rare, so rarity is smoothed as if there were more.
    ``threshold`` replaces the calibrated shares.
    """
    floor = log(1 + _LEAST_DOCUMENTS / max(documents, 1)) if documents < _LEAST_DOCUMENTS else 0.0
    unknown = log(2 * documents + 2)  # what a unit that no document holds weighs
    weights: dict[str, float] = {}
    strangers: set[str] = set()
    for unit in query.analysis.units:
        rarity = idf.get(unit.text, 1.0)
        weight = rarity + floor
        if unit.text in query.frame:
            weight *= _FRAME_WEIGHT
        if unit.text in query.names:
            is_stranger = rarity > unknown - 0.01
            weight *= _UNKNOWN_NAME_WEIGHT if is_stranger else _NAME_WEIGHT
            weight = max(weight, _LEAST_NAME_WEIGHT)
            strangers |= {unit.text} if is_stranger and unit.text not in query.frame else set()
        weights[unit.text] = weight
    is_han = query.language == "zh"
    return Scale(weights, frozenset(strangers), _few(documents), is_han, threshold)


def _few(documents: int) -> float:
    ratio = log(MANY_DOCUMENTS / max(documents, 1)) / log(MANY_DOCUMENTS / FEW_DOCUMENTS)
    return min(max(ratio, 0.0), 1.0)


def judge(
    query: Query,
    scale: Scale,
    items: Sequence[Item],
    similarities: SimilarityThresholds = UNKNOWN_MODEL,
    answered: bool | None = None,
) -> Judgement:
    """Judge what was selected; items carry their own coverage and similarity.

    A question that names somebody or something the store never met is answered in part at most.
    ``answered`` is what the signs together say of all that was found, null where they say nothing.
    """
    if not items:
        return Judgement("none", 0.0)
    share = max(item.together for item in items)
    level = max(_level(scale, item, similarities) for item in items)
    if scale.strangers and scale.threshold != 0:
        level -= 1
    if answered is not None:
        level = max(level, _PARTIAL) if answered else 0
    level = max(level, _level_of_clauses(query, scale, items))
    if level == _SUPPORTED and any(item.status == "conflicted" for item in items):
        level = _PARTIAL
    return Judgement(_LEVELS[max(level, 0)], share)


def _level(scale: Scale, item: Item, similarities: SimilarityThresholds) -> int:
    similarity = item.similarity or 0.0
    if item.together >= SUPPORTED_SHARE or similarity >= similarities.supported:
        return _SUPPORTED
    needed = scale.needed(len(item.text))
    return _PARTIAL if item.together >= needed or similarity >= similarities.partial else 0


def _level_of_clauses(query: Query, scale: Scale, items: Sequence[Item]) -> int:
    total = supported = 0.0
    for place, clause in enumerate(query.clauses):
        weight = sum(scale.weights.get(unit.text, 1.0) for unit in clause.units)
        total += weight
        share = max((item.clauses[place] for item in items if item.clauses), default=0.0)
        if share >= LEAST_CLAUSE_SHARE:
            supported += weight * (1.0 if share >= SUPPORTED_SHARE else share)
    if supported >= SUPPORTED_CLAUSES * total and not scale.strangers:
        return _SUPPORTED if total else 0
    return _PARTIAL if total and supported >= PARTIAL_CLAUSES * total else 0
