"""Compare the two index engines in one run: the answers, and how long they take.

``python tests/bench/bench_index_engines.py --answers [locomo cmrc] [--embed] [--every N]`` asks the
questions of public sets of both and compares the fused lists. ``… --passages N [--vectors D]``
fills both with N passages of invented words and asks both the same questions. A PostgreSQL server
is started in a temporary folder, with the settings that a large index needs.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.bench_speed import BATCH, FILTER, THREAD, Passages
from bench.sets import SETS
from bench.stored import NOW, Stored, default_embedder, stored
from support.postgres import databases, made_up_scope, running_server

from muniment.adapters.indexes.postgres.address import parse
from muniment.adapters.indexes.postgres.generations import PostgresIndexes
from muniment.adapters.indexes.postgres.words import PostgresIndex
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.run import Recall
from muniment.pipeline.stages.index import rebuild
from muniment.store.index.documents import Document
from muniment.store.index.generation import FileIndexes
from muniment.store.index.ports import IndexStore, SearchIndex
from muniment.store.text.query import analyse_query

DEPTH = 50
# Scores within this share of each other count as equal; their order may differ. A near tie that
# falls out otherwise moves a hit by one rank in one signal, which is less than this.
TOLERANCE = 5e-3
SERVER = {"shared_buffers": "2GB", "maintenance_work_mem": "1GB", "max_wal_size": "8GB"}


@contextmanager
def postgres() -> Iterator[PostgresIndexes]:
    """Run a server and yield an empty index on it."""
    with running_server(SERVER) as socket:
        yield PostgresIndexes(parse(databases(socket)()), made_up_scope())


# --- answers --------------------------------------------------------------------------------------


def compare(opened: Stored, other: SearchIndex, every: int) -> list[dict[str, float]]:
    """Return, of each question, how far the two fused lists agree."""
    return [
        _compared(_fused(opened, opened.index, one.text), _fused(opened, other, one.text))
        for one in opened.collection.questions[::every]
    ]


def _fused(opened: Stored, index: SearchIndex, question: str) -> list[tuple[str, float]]:
    ledger = opened.store.ledger
    semantic = "off" if opened.embedder is None else "on"
    with ledger.snapshot():
        run = Recall.open(
            ledger, index, Request(question, semantic=semantic), NOW,
            embedder=opened.embedder, cache=opened.cache,
        )  # fmt: skip
        hits = run.find().hits["observation"][:DEPTH]
        run.resolver.gate.close()
    return [(hit.key, hit.score) for hit in hits]


def _compared(
    ours: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]
) -> dict[str, float]:
    first, second = dict(ours), dict(theirs)
    both = first.keys() & second.keys()
    off = [abs(first[key] - second[key]) / max(abs(first[key]), 1e-9) for key in both]
    same = [key for key, _ in ours] == [key for key, _ in theirs]
    return {
        "same_ids": float(first.keys() == second.keys()),
        "same_order": float(same),
        "same_first_ten": float([k for k, _ in ours[:10]] == [k for k, _ in theirs[:10]]),
        "same_within_tolerance": float(same or _only_ties_differ(ours, theirs)),
        "shared": len(both) / max(len(first), len(second), 1),
        "score_off": max(off, default=0.0),
    }


def _only_ties_differ(
    ours: Sequence[tuple[str, float]], theirs: Sequence[tuple[str, float]]
) -> bool:
    """Tell whether each place holds what scores the same there, within the tolerance."""
    return len(ours) == len(theirs) and all(
        mine[0] == other[0] or abs(mine[1] - other[1]) <= TOLERANCE * max(abs(mine[1]), 1e-9)
        for mine, other in zip(ours, theirs, strict=True)
    )


def measure_answers(names: Sequence[str], *, embed: bool, every: int, most: int) -> None:
    """Print one JSON line a set."""
    embedder = default_embedder() if embed else None
    with postgres() as indexes:
        for name in names:
            found: list[dict[str, float]] = []
            for collection in list(SETS[name]())[:most]:
                with stored(collection, embedder) as opened:
                    ledger = opened.store.ledger
                    rebuild(ledger, indexes, opened.cache, embedder=embedder, embed_again=True)
                    with closing(indexes.open()) as other:
                        found += compare(opened, other, every)
            means = {key: round(sum(one[key] for one in found) / len(found), 4) for key in found[0]}
            means["score_off"] = max(one["score_off"] for one in found)
            _say({"set": name, "vectors": embed, "questions": len(found), **means})


# --- latency --------------------------------------------------------------------------------------


def measure_latency(count: int, dimensions: int) -> None:
    """Print one JSON line an engine: how it was filled, and milliseconds of the wall by query."""
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        engines: dict[str, IndexStore] = {
            "sqlite": FileIndexes(Path(folder) / "files"), "postgres": server,
        }  # fmt: skip
        for name, indexes in engines.items():
            took = _fill(indexes, count, dimensions)
            _say({"engine": name, "passages": count, **took})
        opened = {name: indexes.open() for name, indexes in engines.items()}
        _ask(opened, count, dimensions)
        for index in opened.values():
            index.close()


def _fill(indexes: IndexStore, count: int, dimensions: int) -> dict[str, float]:
    passages = Passages()
    with closing(indexes.create()) as index:
        began, spent = time.perf_counter(), _cpu(index)
        for at in range(0, count, BATCH):
            index.add(
                Document(f"observation:{number}", "text", passages.passage(), origin="user",
                         asset=f"a{number // THREAD}", seq=number, confidence=1.0)
                for number in range(at, min(at + BATCH, count))
            )  # fmt: skip
        added, spent = time.perf_counter(), _cpu(index) - spent
        _fill_vectors(index, count, dimensions)
        embedded = time.perf_counter()
        index.settle()
        indexes.promote(index.generation)
    settled = time.perf_counter()
    return {
        "documents_per_s": round(count / (added - began)),
        "documents_per_cpu_s": round(count / spent),
        "vectors_per_s": round(count / (embedded - added)) if dimensions else 0,
        "settled_s": round(settled - embedded, 1),
    }


def _fill_vectors(index: SearchIndex, count: int, dimensions: int) -> None:
    import numpy as np

    if not dimensions:
        return
    vectors = index.vectors("invented", dimensions)
    for at in range(0, count, BATCH):
        rows = _vectors(np.arange(at, min(at + BATCH, count)), dimensions)
        numbers = index.rows_of(f"observation:{at + place}" for place in range(len(rows)))
        order = [numbers[f"observation:{at + place}"].rowid for place in range(len(rows))]
        vectors.append(zip(order, rows, strict=True))


def _vectors(numbers: Any, dimensions: int) -> Any:
    """Return vectors in a thousand clouds, as texts have topics; the same each time."""
    import numpy as np

    centres = np.random.default_rng(1).normal(size=(1_000, dimensions))
    own = np.random.default_rng(int(numbers[0]) + 2).normal(size=(len(numbers), dimensions))
    return (centres[numbers % 1_000] + own).astype(np.float32)


def _ask(opened: dict[str, SearchIndex], count: int, dimensions: int) -> None:
    for kind, queries in Passages().queries().items():
        lists: dict[str, list[list[str]]] = {}
        for name, index in opened.items():

            def search(query: str, index: SearchIndex = index) -> list[str]:
                return [hit.ref for hit in index.search(analyse_query(query), 150, FILTER)]

            lists[name], times = _timed(search, queries, index)
            _say({"engine": name, "passages": count, "query": kind, **times})
        _say({"query": kind, "agreement": _agreement(lists)})
    if dimensions:
        _ask_vectors(opened, count, dimensions)


def _ask_vectors(opened: dict[str, SearchIndex], count: int, dimensions: int) -> None:
    import numpy as np

    asked = list(_vectors(np.arange(count, count + 20), dimensions))
    lists: dict[str, list[list[str]]] = {}
    for name, index in opened.items():
        vectors = index.vectors("invented", dimensions)

        def nearest(vector: Any, vectors: Any = vectors, index: SearchIndex = index) -> list[str]:
            found = vectors.nearest(vector, 50)
            rows = index.rows(number for number, _ in found)
            return [rows[number].ref for number, _ in found]

        lists[name], times = _timed(nearest, asked, index)
        _say({"engine": name, "passages": count, "query": "vector", **times})
    _say({"query": "vector", "agreement": _agreement(lists)})


def _agreement(lists: dict[str, list[list[str]]]) -> float:
    """Return the mean share of hits that both lists hold."""
    first, second = lists.values()
    shares = [
        len(set(one) & set(other)) / max(len(one), len(other)) if one or other else 1.0
        for one, other in zip(first, second, strict=True)
    ]
    return round(sum(shares) / len(shares), 4)


def _timed(
    ask: Callable[[Any], list[str]], queries: Sequence[Any], index: SearchIndex
) -> tuple[Any, dict[str, float]]:
    ask(queries[0])
    found, times = [], []
    spent = _cpu(index)
    for query in queries:
        began = time.perf_counter()
        found.append(ask(query))
        times.append((time.perf_counter() - began) * 1_000)
    times.sort()
    return found, {
        "cpu_ms": round((_cpu(index) - spent) * 1_000 / len(queries), 1),
        "p50_ms": round(times[len(times) // 2], 1),
        "p95_ms": round(times[int(len(times) * 0.95)], 1),
    }


def _cpu(index: SearchIndex) -> float:
    """Return the CPU seconds of this process, and of the server's for this index."""
    spent = time.process_time()
    if isinstance(index, PostgresIndex):
        pid = index._db.value("SELECT pg_backend_pid()")
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        spent += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return spent


def _say(row: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Print JSON lines."""
    parser = argparse.ArgumentParser(description="Compare the index engines.")
    parser.add_argument("--answers", nargs="*", choices=sorted(SETS))
    parser.add_argument("--embed", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--collections", type=int, default=2)
    parser.add_argument("--passages", type=int)
    parser.add_argument("--vectors", type=int, default=0, metavar="DIMENSIONS")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the server must end, too
    if asked.answers is not None:
        names = asked.answers or ["locomo", "cmrc"]
        measure_answers(names, embed=asked.embed, every=asked.every, most=asked.collections)
    if asked.passages:
        measure_latency(asked.passages, asked.vectors)


if __name__ == "__main__":
    main()
