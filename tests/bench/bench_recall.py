"""Measure retrieval and coverage on public sets: ``make bench-recall``.

``python tests/bench/bench_recall.py [locomo] [scifact] [cmrc] [--embed] [--coverage] [--fit]
[--json FILE]``. Plain FTS5, plain vectors and equal-weight reciprocal ranks are measured in the
same run. ``--fit`` chooses the weights of the signals on all conversations but one, and measures on
that one. ``--every N`` asks each N-th question.
"""

import argparse
import json
import math
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.sets import SETS, Collection, Question
from bench.stored import Stored, default_embedder, stored

from muniment.pipeline.recall import search as searching
from muniment.pipeline.recall.request import Request
from muniment.store.text.stopwords import ENGLISH

DEPTH = 10
WORDS, BOTH = Request("", semantic="off"), Request("")
UNGATED = 0.0

Search = Callable[[str], list[str]]
Row = dict[str, Any]


def plain_fts5(collection: Collection) -> Search:
    """Search with SQLite's own tokenizer and stemmer, stop words out: the floor."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    for number, document in enumerate(collection.documents):
        text = f"{document.author}: {document.text}" if document.author else document.text
        database.execute("INSERT INTO t (rowid, x) VALUES (?, ?)", (number, text))

    def search(query: str) -> list[str]:
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in ENGLISH]
        match = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match or '""', DEPTH)
        )
        return [collection.documents[row[0]].key for row in rows]

    return search


def plain_vectors(opened: Stored) -> Search:
    """Search by cosine alone."""
    from muniment.pipeline.recall.nearest import NearestDocuments
    from muniment.store.index.documents import Filters

    def search(query: str) -> list[str]:
        assert opened.embedder is not None
        nearest = NearestDocuments(opened.index, opened.embedder, query)(Filters(), DEPTH)
        return [opened.keys[ref.removeprefix("observation:")] for ref, _ in nearest]

    return search


def methods_of(opened: Stored) -> dict[str, Search]:
    """Return what is compared on a collection."""

    def asking(request: Request) -> Search:
        return lambda query: opened.search(request, query, DEPTH)

    found = {
        "plain FTS5": plain_fts5(opened.collection),
        "words, RRF": asking(replace(WORDS, fusion="rrf")),
        "words": asking(WORDS),
    }
    if opened.embedder is not None:
        found |= {
            "plain vectors": plain_vectors(opened),
            "both, RRF": asking(replace(BOTH, fusion="rrf")),
            "both": asking(BOTH),
        }
    return found


# --- the measures ---------------------------------------------------------------------------------


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


def _means(kinds: dict[str, list[float]]) -> Row:
    everything = [value for found in kinds.values() for value in found]
    by_kind = {kind: round(mean(found), 4) for kind, found in sorted(kinds.items())}
    return {
        "value": round(mean(everything), 4),
        "questions": len(everything),
        "kinds": by_kind if len(by_kind) > 1 else {},
    }


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    found = list(values)
    return sum(found) / len(found) if found else 0.0


# --- fitted on some conversations, measured on the others -----------------------------------------


def held_out(opened: Sequence[Stored], request: Request, every: int) -> Row:
    """Return recall on each conversation under the weights that were best on the others."""
    vectors = (0.3, 0.5, 0.8) if request.semantic != "off" else (0.5,)
    grid = list(product(vectors, (0.3, 0.5, 0.7)))
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
        "set": "locomo", "method": f"{_name(request)}, held out", "measure": "recall@10",
        **_means(kinds), "chosen": chosen,
    }  # fmt: skip


def _under(
    weights: tuple[float, float], opened: Stored, request: Request, every: int
) -> list[tuple[str, float]]:
    usual = searching.WEIGHTS
    searching.WEIGHTS = replace(usual, vector=weights[0], group=weights[1])
    try:
        return [(asked.category, _recalled(opened, request, asked))
                for asked in opened.collection.questions[::every]]  # fmt: skip
    finally:
        searching.WEIGHTS = usual


def _recalled(opened: Stored, request: Request, asked: Question) -> float:
    return recall_at_ten(opened.search(request, asked.text, DEPTH), asked.wanted)


def _without(results: Sequence[Sequence[tuple[str, float]]], left_out: int) -> float:
    kept = (part for place, part in enumerate(results) if place != left_out)
    return mean(value for part in kept for _, value in part)


# --- coverage -------------------------------------------------------------------------------------


def coverage(name: str, opened: Sequence[Stored], request: Request, every: int) -> list[Row]:
    """Return how often the unanswerable come back ``none`` and the answerable keep their evidence.

    ``kept`` counts, of the packs that hold evidence with the gate off, those that hold it with it.
    """
    asked = held = kept = answered = 0
    refused: dict[str, list[float]] = {}
    used: list[float] = []
    for one in opened:
        for question in one.collection.questions[::every]:
            pack, keys = one.recall(request, question.text)
            _, free = one.recall(replace(request, coverage_threshold=UNGATED), question.text)
            asked += 1
            answered += pack["coverage"] != "none"
            held += bool(free & question.wanted)
            kept += bool(free & keys & question.wanted)
            if pack["coverage"] != "none":
                used.append(pack["tokens_used"] / pack["token_budget"])
        for kind, texts in one.collection.unanswerable.items():
            for text in texts:
                pack, _ = one.recall(request, text)
                refused.setdefault(kind, []).append(float(pack["coverage"] == "none"))
    ours = [value for kind in ("near", "off") for value in refused.get(kind, ())]
    return [{
        "set": name, "method": f"coverage, {_name(request)}", "measure": "none | kept",
        "value": round(mean(ours), 4), "kept": round(kept / max(held, 1), 4),
        "answered": round(answered / max(asked, 1), 4),
        "evidence_in_pack": round(held / max(asked, 1), 4),
        "questions": asked, "unanswerable": len(ours),
        "kinds": {kind: round(mean(values), 4) for kind, values in refused.items()},
        "budget_used": round(mean(used), 4),
    }]  # fmt: skip


def _name(request: Request) -> str:
    return "words" if request.semantic == "off" else "both"


# --- the run --------------------------------------------------------------------------------------


def run(name: str, options: argparse.Namespace) -> list[Row]:
    """Measure one set."""
    embedder = default_embedder() if options.embed else None
    requests = [WORDS] + ([BOTH] if embedder is not None else [])
    rows: list[Row] = []
    contexts = [stored(collection, embedder) for collection in SETS[name]()]
    opened = [context.__enter__() for context in contexts]
    try:
        rows += [] if options.only_coverage else ranking(name, opened, options.every)
        if options.fit and name == "locomo":
            rows += [held_out(opened, request, options.every) for request in requests]
        if options.coverage or options.only_coverage:
            for request in requests:
                rows += coverage(name, opened, request, options.every)
    finally:
        for context in contexts:
            context.__exit__(None, None, None)
    return rows


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    more = {key: row[key] for key in ("kept", "evidence_in_pack", "budget_used") if key in row}
    kinds = "  ".join(f"{kind} {value:.3f}" for kind, value in {**more, **row["kinds"]}.items())
    return (
        f"{row['set']:8} {row['method']:18} {row['measure']:12} {row['value']:.3f}"
        f"  n={row['questions']}  {kinds}\n"
    )


def main() -> None:
    """Measure the named sets, or all; print one table."""
    parser = argparse.ArgumentParser(description="Measure recall on public sets.")
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], default=[])
    for flag in ("embed", "coverage", "only-coverage", "fit"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows: list[Row] = []
    for name in options.sets or SETS:
        began = time.process_time()
        for row in run(name, options):
            rows.append(row)
            sys.stdout.write(line(row))
            sys.stdout.flush()
        rows[-1]["cpu_seconds_of_set"] = round(time.process_time() - began, 1)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
