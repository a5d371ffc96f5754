"""Measure retrieval and coverage on public sets: ``make bench-recall``.

Everything by default: ranking beside plain FTS5, plain vectors, equal-weight reciprocal ranks and
the peers that are installed; weights fitted on some conversations and measured on the others;
coverage on what it was not fitted on; standing things. One table, and JSON with ``--json``.
``python tests/bench/bench_recall.py [SET ...] [--only PART] [--no-embed] [--every N]``.
"""

import argparse
import json
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.covering import Counts, coverage
from bench.methods import BOTH, WORDS, name_of
from bench.peers import installed
from bench.ranking import Row, held_out, mean, ranking
from bench.sets import SETS
from bench.standing import LANGUAGES, standing_store
from bench.stored import Stored, default_embedder, stored

from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.recall.request import Request

PARTS = ("ranking", "held-out", "coverage", "standing")
STANDING = "standing"


def run(name: str, options: argparse.Namespace, totals: dict[str, Counts]) -> Iterator[Row]:
    """Yield the rows of one set, and add its coverage to the totals."""
    embedder = options.embedder
    requests = [WORDS] + ([BOTH] if embedder is not None else [])
    every = _every(name, options)
    with ExitStack() as stack:
        opened = [stack.enter_context(stored(collection, embedder)) for collection in SETS[name]()]
        if "ranking" in options.parts:
            yield from ranking(name, opened, every)
        if "coverage" in options.parts:
            yield from _coverage(name, opened, requests, every, totals)
        if "held-out" in options.parts and name == "locomo":
            yield from (held_out(opened, request, every) for request in requests)


def _coverage(
    name: str, opened: Sequence[Stored], requests: "Sequence[Request]", every: int,
    totals: dict[str, Counts],
) -> Iterator[Row]:  # fmt: skip
    for request in requests:
        counts = coverage(name, opened, request, every)
        totals.setdefault(name_of(request), Counts()).add(counts)
        yield counts.row(name, request)


def standing_rows(embedder: "Embedder | None") -> Iterator[Row]:
    """Yield how much of what stands is in the pack of a question that calls for it."""
    for request in [WORDS] + ([BOTH] if embedder is not None else []):
        kinds = {}
        asked = 0
        for language in LANGUAGES:
            with standing_store(language, None if request is WORDS else embedder) as store:
                kinds[language] = mean(store.carried(request, case)[0] for case in store.cases)
                asked += len(store.cases)
        yield {
            "set": STANDING, "method": name_of(request), "measure": "in the pack",
            "value": round(mean(kinds.values()), 4), "questions": asked,
            "kinds": {language: round(value, 4) for language, value in kinds.items()},
        }  # fmt: skip


def _every(name: str, options: argparse.Namespace) -> int:
    """Ask each N-th question; of CMRC's 3,219 each eighth tells the same as all."""
    usual = 8 if name == "cmrc" else 1
    return int(options.every or usual)


def rows_of(options: argparse.Namespace) -> Iterator[Row]:
    """Yield every row that is asked for."""
    totals: dict[str, Counts] = {}
    of_sets = set(options.parts) - {STANDING}
    for name in (options.sets or SETS) if of_sets else ():
        began = time.process_time()
        row: Row = {}
        for row in run(name, options, totals):
            yield row
        row["cpu_seconds_of_set"] = round(time.process_time() - began, 1)
    for label, counts in totals.items():
        yield counts.row("all", WORDS if label == name_of(WORDS) else BOTH)
    if STANDING in options.parts:
        yield from standing_rows(options.embedder)


def line(row: Row) -> str:
    """Return a row as a line of the table."""
    more = {key: row[key] for key in ("kept", "evidence_in_pack", "budget_used") if key in row}
    kinds = "  ".join(f"{kind} {value:.3f}" for kind, value in {**more, **row["kinds"]}.items())
    return (
        f"{row['set']:8} {row['method']:18} {row['measure']:12} {row['value']:.3f}"
        f"  n={row['questions']}  {kinds}\n"
    )


def _embedder(wanted: bool) -> "Embedder | None":
    if not wanted:
        return None
    try:
        return default_embedder()
    except MunimentError as error:
        sys.stderr.write(f"without vectors: {error}\n")
        return None


def main() -> None:
    """Measure the named sets, or all; print one table."""
    parser = argparse.ArgumentParser(description="Measure recall on public sets.")
    parser.add_argument("sets", nargs="*", choices=[*SETS, []], default=[])
    parser.add_argument("--only", dest="parts", action="append", choices=PARTS)
    parser.add_argument("--no-embed", action="store_true", help="words alone")
    parser.add_argument("--every", type=int, help="ask each N-th question (default 1; CMRC 8)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    options.parts = options.parts or PARTS
    options.embedder = _embedder(not options.no_embed)
    for name in installed()[1] if "ranking" in options.parts else ():
        sys.stderr.write(f"not compared: {name} is not installed\n")
    rows: list[Row] = []
    for row in rows_of(options):
        rows.append(row)
        sys.stdout.write(line(row))
        sys.stdout.flush()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "command": sys.argv[1:],
            "rows": rows,
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
