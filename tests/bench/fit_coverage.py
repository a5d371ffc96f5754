"""Fit the weights of the signs for an answer: ``python tests/bench/fit_coverage.py [SET ...]``.

Takes the half of texts and questions that ``bench_recall`` does not report, and prints the models
of ``pipeline/recall/answerability.py``. Of the answerable questions those count whose pack holds
evidence with the gate off; the threshold keeps ``KEEP`` of them in every set.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.methods import BOTH, WORDS, name_of
from bench.sets import SETS, Question, fitted
from bench.stored import NOW, Stored, default_embedder, stored

from muniment.pipeline.recall.answerability import Model, Signs
from muniment.pipeline.recall.packing import packed
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.run import Recall

if TYPE_CHECKING:
    import numpy as np

KEEP = 0.965
RIDGE = 0.01
LANGUAGES = {"en": ("locomo", "scifact"), "zh": ("cmrc",)}
_STEPS = 50


class Example(NamedTuple):
    """The signs of one question, of which set it is, and whether it has an answer."""

    part: str
    signs: Signs
    answerable: bool


def examples(name: str, request: Request, embed: bool, every: int) -> Iterator[Example]:
    """Yield the examples of a set."""
    ungated = replace(request, coverage_threshold=0.0)
    for number, collection in enumerate(SETS[name]()):
        part = fitted(name, number, collection)
        if not part.questions:
            continue
        with stored(collection, default_embedder() if embed else None) as opened:
            for question in part.questions[::every]:
                signs, holds = _signs(opened, ungated, question)
                if holds:
                    yield Example(name, signs, answerable=True)
            for texts in part.unanswerable.values():
                for text in texts:
                    signs, _ = _signs(opened, ungated, Question(text, set()))
                    yield Example(name, signs, answerable=False)


def _signs(opened: Stored, request: Request, question: Question) -> tuple[Signs, bool]:
    ledger = opened.store.ledger
    embedder = None if request.semantic == "off" else opened.embedder
    with ledger.snapshot():
        run = Recall.open(
            ledger, opened.index, replace(request, query=question.text), NOW,
            embedder=embedder, cache=opened.cache,
        )  # fmt: skip
        try:
            done = packed(run)
            pack, trail = done.pack, done.trail
        finally:
            run.resolver.gate.close()
        refs = (one["ref"].removeprefix("observation:") for one in pack["citations"])
        return run.signs(trail.candidates), bool({opened.keys[ref] for ref in refs}
                                                 & question.wanted)  # fmt: skip


def fit(found: Sequence[Example], with_cosine: bool) -> Model:
    """Return the logistic model whose 0 keeps ``KEEP`` of the answerable of every set."""
    import numpy as np

    columns = 5 if with_cosine else 4
    rows = np.array([[value or 0.0 for value in astuple(one.signs)[:columns]] for one in found])
    wanted = np.array([one.answerable for one in found], dtype=float)
    weights = _logistic(rows, wanted, _balanced(found))
    scores = rows @ weights
    parts = {one.part for one in found}
    least = min(
        float(np.quantile(scores[[one.part == part and one.answerable for one in found]], 1 - KEEP))
        for part in parts
    )
    return Model(round(-least, 3), *(round(float(weight), 3) for weight in weights))


def _balanced(found: Sequence[Example]) -> "np.ndarray":
    """Let each set's answerable and unanswerable questions count the same."""
    import numpy as np

    counts = Counter((one.part, one.answerable) for one in found)
    shares = np.array([1 / counts[one.part, one.answerable] for one in found])
    balanced: np.ndarray = shares * len(found) / shares.sum()
    return balanced


def _logistic(rows: "np.ndarray", wanted: "np.ndarray", counts: "np.ndarray") -> "np.ndarray":
    """Return the weights by Newton's method, with a small ridge on standardised columns."""
    import numpy as np

    middle, spread = rows.mean(0), rows.std(0) + 1e-9
    columns = np.c_[(rows - middle) / spread, np.ones(len(rows))]
    ridge = RIDGE * len(rows) * np.diag([1.0] * rows.shape[1] + [1e-6])
    weights = np.zeros(columns.shape[1])
    for _ in range(_STEPS):
        likely = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (counts * (likely - wanted)) + ridge @ weights
        curve = (columns * (counts * likely * (1 - likely))[:, None]).T @ columns + ridge
        weights -= np.linalg.solve(curve, slope)
    plain: np.ndarray = weights[:-1] / spread
    return plain


def main() -> None:
    """Fit each language with words alone and with vectors; print the models."""
    parser = argparse.ArgumentParser(description="Fit the weights of the signs for an answer.")
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--only", choices=("words", "both"))
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    for request in (WORDS, BOTH):
        if options.only not in (None, name_of(request)):
            continue
        for language, names in LANGUAGES.items():
            wanted = [name for name in names if name in options.sets]
            found = [
                one
                for name in wanted
                for one in examples(name, request, request is BOTH, options.every)
            ]
            if found:
                model = fit(found, request is BOTH)
                counted = dict(Counter((one.part, one.answerable) for one in found))
                sys.stdout.write(f"{language} {name_of(request)}: {model} {counted}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
