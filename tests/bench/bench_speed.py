"""Measure search and recall over many short passages: ``python tests/bench/bench_speed.py [N]``.

Passages are made of invented words, Zipf-distributed, so that a question of a given commonness can
be drawn. ``--recall`` keeps them in a ledger, too, and measures whole recalls of a resident server
and a cold command, with ``--grouped`` among the episodes that they make; ``--build`` only how fast
the index of that ledger is built, by one process and by two; without either only the index is
filled and searched. Times are CPU milliseconds of this process: the wall says more of what else the
machine does.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import accumulate, chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.stores import RUN, Line, TinyStore

from muniment.pipeline.options import Session
from muniment.pipeline.serving.tools import Tools
from muniment.pipeline.stages.group import Groups
from muniment.pipeline.stages.index import refresh
from muniment.pipeline.stages.run import Tally
from muniment.store import manifest
from muniment.store.index.documents import Document, Filters
from muniment.store.index.fts import TextIndex
from muniment.store.index.generation import FileIndexes
from muniment.store.layout import Root
from muniment.store.records import MessageLocator
from muniment.store.text.query import analyse_query

BUDGET = 2_000
VOCABULARY = 40_000
LEAST_WORDS, MOST_WORDS = 8, 20
BATCH = 5_000
THREAD = 1_000
QUERIES = 40
PASSES = 3
FILTER = Filters(origins=("user", "external", "media", "third_party"))
SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]


class Passages:
    """Deterministic passages; ``shares`` tells how many of them hold a word, about."""

    def __init__(self, seed: int = 7) -> None:
        self.random = random.Random(seed)
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            made["".join(self.random.choices(SYLLABLES, k=self.random.randint(2, 4)))] = None
        self.words = list(made)
        self._cumulative = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))

    def passage(self) -> str:
        """Return the next passage."""
        count = self.random.randint(LEAST_WORDS, MOST_WORDS)
        total = self._cumulative[-1]
        places = (bisect_left(self._cumulative, self.random.random() * total) for _ in range(count))
        return " ".join(self.words[place] for place in places)

    def queries(self) -> dict[str, list[str]]:
        """Return questions by commonness: rare in under 0.01% of passages, mid ones in about
        0.05 to 3%, common ones in more.
        """
        rare, mid, common = (20_000, VOCABULARY), (60, 3_000), (0, 40)

        def some(span: tuple[int, int], count: int) -> list[str]:
            return [self.words[self.random.randrange(*span)] for _ in range(count)]

        return {
            "rare word": [" ".join(some(rare, 1)) for _ in range(QUERIES)],
            "3 mid words": [" ".join(some(mid, 3)) for _ in range(QUERIES)],
            "common word": [" ".join(some(common, 1)) for _ in range(QUERIES)],
            "3 common words": [" ".join(some(common, 3)) for _ in range(QUERIES)],
            "8 mixed words": [
                " ".join([*some(common, 3), *some(mid, 3), *some(rare, 2)]) for _ in range(QUERIES)
            ],
        }


def build_index(folder: Path, passages: Passages, count: int) -> float:
    """Fill an index with passages; return CPU seconds."""
    index = TextIndex(folder / "fts.sqlite3")
    began = time.process_time()
    for at in range(0, count, BATCH):
        index.add(
            Document(f"observation:{number}", "text", passages.passage(), origin="user",
                     asset=f"a{number // THREAD}", seq=number, confidence=1.0)
            for number in range(at, min(at + BATCH, count))
        )  # fmt: skip
    took = time.process_time() - began
    index.close()
    return took


def fill_store(store: TinyStore, passages: Passages, count: int) -> None:
    """Keep passages as messages of chats in a ledger."""
    for at in range(0, count, THREAD):
        store.file(f"chat-{at}.txt", list(_messages(passages, at, min(THREAD, count - at))))


def _messages(passages: Passages, first: int, count: int) -> Iterator[Line]:
    for place in range(count):
        yield Line(
            passages.passage(), kind="message", author="Ann", thread=f"chat-{first}",
            time=f"2025-{1 + place % 12:02d}-{1 + place % 28:02d}T10:00:00Z",
            locator=MessageLocator(index=place),
        )  # fmt: skip


def quantiles(ask: Callable[[str], object], queries: Sequence[str]) -> tuple[float, float]:
    """Return p50 and p95 of asking, in CPU milliseconds, each query once warm."""
    times = []
    for query in queries:
        began = time.process_time()
        ask(query)
        times.append((time.process_time() - began) * 1_000)
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.95)]


def cold_command(root: Path, cache: Path, query: str) -> float:
    """Return the CPU seconds of one ``muniment recall`` in a process of its own."""
    program = Path(sys.executable).with_name("muniment")
    environment = {**os.environ, "MUNIMENT_ROOT": str(root), "MUNIMENT_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, "recall", "-q", query], env=environment, check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, spent)
    return best


def measure_index(count: int) -> dict[str, object]:
    """Build an index alone and search it."""
    passages = Passages()
    with tempfile.TemporaryDirectory() as folder:
        took = build_index(Path(folder), passages, count)
        index = TextIndex(Path(folder) / "fts.sqlite3", readonly=True)
        found = _asked(
            passages, lambda query: index.search(analyse_query(query), 150, FILTER)
        )  # fmt: skip
        index.close()
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
    return {"what": "search", "passages": count, "built_per_s": round(count / took),
            "index_mb": round(size / 1e6), **found}  # fmt: skip


def measure_recall(count: int, kept: Path | None, *, is_grouped: bool) -> dict[str, object]:
    """Keep passages in a ledger and recall from it as a resident server does."""
    passages = Passages()
    with ExitStack() as stack:
        folder = kept or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        root, cache = folder / "root", folder / "cache"
        os.environ["MUNIMENT_CACHE"] = str(cache)
        is_there = (root / "muniment.json").exists()
        rate = {} if is_there else filled(root, cache, passages, count, is_grouped=is_grouped)
        tools = Tools(Session({"root": str(root), "offline": True}))
        tools.warm.settle()
        asked = {"token_budget": BUDGET, "semantic": False}
        found = _asked(passages, lambda query: tools.recall(query, asked, None))
        tools.warm.close()
        cold = cold_command(root, cache, passages.queries()["3 mid words"][0])
    told = {"what": "recall", "passages": count, "grouped": is_grouped, **rate}
    return {**told, "cold_cpu_s": round(cold, 3), **found}


def filled(
    root: Path, cache: Path, passages: Passages, count: int, *, is_grouped: bool = False
) -> dict[str, int]:
    """Make a store of passages with its index; return how fast the latter was built."""
    manifest.initialize(Root(root))
    store = TinyStore(root)
    fill_store(store, passages, count)
    if is_grouped:
        Groups(store.ledger, Tally(RUN)).group()
    took = followed(store, cache, jobs=2)[0]
    store.close()
    return {"indexed_per_s": round(count / took)}


def followed(store: TinyStore, cache: Path, jobs: int) -> tuple[float, float, float]:
    """Build the index of a ledger anew; return seconds: of the wall, of CPU of this process and of
    the one that writes beside it.
    """
    FileIndexes(store.paths.index).discard()
    wall, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time()
    refresh(store.ledger, store.paths.index, cache, jobs=jobs)
    own = time.process_time() - own
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    other = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - wall, own, other


def measure_build(count: int) -> dict[str, object]:
    """Keep passages in a ledger and build its index by one process and by two, in turn.

    Of each the best of some passes is told: passages a second of the wall, a second of CPU of both
    processes together, and a second of CPU of the busier one. The last is what the wall would show
    if each had a core of its own.
    """
    measured: dict[int, list[tuple[float, float, float]]] = {1: [], 2: []}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        manifest.initialize(Root(root))
        store = TinyStore(root)
        fill_store(store, Passages(), count)
        for _ in range(PASSES):
            for jobs, passes in measured.items():
                passes.append(followed(store, Path(folder) / "cache", jobs))
        store.close()
    rates = {
        f"{jobs} jobs": {
            "wall": round(count / min(wall for wall, _, _ in passes)),
            "cpu": round(count / min(own + other for _, own, other in passes)),
            "busier": round(count / min(max(own, other) for _, own, other in passes)),
        }
        for jobs, passes in measured.items()
    }
    return {"what": "build", "passages": count, "per_s": rates}


def _asked(passages: Passages, ask: Callable[[str], object]) -> dict[str, list[float]]:
    """Ask each question of a kind once, after as many others: only these find things at hand."""
    for query in chain(*passages.queries().values()):
        ask(query)
    return {
        kind: [round(value, 1) for value in quantiles(ask, queries)]
        for kind, queries in passages.queries().items()
    }


def main() -> None:
    """Print one JSON line."""
    parser = argparse.ArgumentParser(description="Measure speed over many short passages.")
    parser.add_argument("passages", type=int, nargs="?", default=100_000)
    parser.add_argument("--recall", action="store_true")
    parser.add_argument("--grouped", action="store_true", help="with the episodes of --recall")
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--store", type=Path, help="where to keep the store of --recall, or has it")
    options = parser.parse_args()
    if options.recall:
        measured = measure_recall(options.passages, options.store, is_grouped=options.grouped)
    else:
        measured = (measure_build if options.build else measure_index)(options.passages)
    sys.stdout.write(json.dumps(measured) + "\n")


if __name__ == "__main__":
    main()
