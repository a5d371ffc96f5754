"""How often the unanswerable come back ``none``, and whether the answerable keep their evidence.

Measured on the half of texts and questions that the weights of the signs were not fitted on.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bench.methods import name_of
from bench.ranking import Row, mean
from bench.sets import Question, reported
from bench.stored import Stored

from muniment.pipeline.recall.request import Request

UNGATED = 0.0
# What the goal counts; people swapped inside true statements are told beside it.
OURS = ("near", "off", "held")


@dataclass
class Counts:
    """What packs held with the gate off (``held``) and on (``kept``), and what came back."""

    asked: int = 0
    answered: int = 0
    held: int = 0
    kept: int = 0
    used: list[float] = field(default_factory=list)
    refused: dict[str, list[float]] = field(default_factory=dict)

    def add(self, other: "Counts") -> None:
        """Take in the counts of another set."""
        self.asked += other.asked
        self.answered += other.answered
        self.held += other.held
        self.kept += other.kept
        self.used += other.used
        for kind, values in other.refused.items():
            self.refused.setdefault(kind, []).extend(values)

    def row(self, name: str, request: Request) -> Row:
        """Return the counts as a row of the table."""
        ours = [value for kind in OURS for value in self.refused.get(kind, ())]
        return {
            "set": name, "method": f"coverage, {name_of(request)}", "measure": "none | kept",
            "value": round(mean(ours), 4), "kept": round(self.kept / max(self.held, 1), 4),
            "answered": round(self.answered / max(self.asked, 1), 4),
            "evidence_in_pack": round(self.held / max(self.asked, 1), 4),
            "questions": self.asked, "unanswerable": len(ours),
            "kinds": {kind: round(mean(values), 4) for kind, values in self.refused.items()},
            "budget_used": round(mean(self.used), 4),
        }  # fmt: skip


def coverage(name: str, opened: Sequence[Stored], request: Request, every: int) -> Counts:
    """Count over the questions of a set that nothing was fitted on."""
    counts = Counts()
    for number, one in enumerate(opened):
        part = reported(name, number, one.collection)
        for question in part.questions[::every]:
            _answerable(one, request, question, counts)
        for kind, texts in part.unanswerable.items():
            values = counts.refused.setdefault(kind, [])
            for text in texts:
                pack, _ = one.recall(request, text)
                values.append(float(pack["coverage"] == "none"))
    return counts


def _answerable(one: Stored, request: Request, question: Question, counts: Counts) -> None:
    pack, keys = one.recall(request, question.text)
    _, free = one.recall(replace(request, coverage_threshold=UNGATED), question.text)
    counts.asked += 1
    counts.held += bool(free & question.wanted)
    counts.kept += bool(free & keys & question.wanted)
    if pack["coverage"] != "none":
        counts.answered += 1
        counts.used.append(pack["tokens_used"] / pack["token_budget"])
