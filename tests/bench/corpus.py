"""Ingest every public file once with the real models, and again: ``make corpus``.

Shows that no file crashes the run, that each has a status with a reason, and that a second run
finds nothing new. Takes about eight minutes on two cores.
"""

import argparse
import json
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.cli import execute

ZERO = ("registered", "duplicates", "observed", "observations", "episodes", "candidates", "records",
        "indexed")  # fmt: skip
CHECKOUT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run twice, print what became of the files, return 1 when something is amiss."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("MUNIMENT_TEST_CORPUS", CHECKOUT.parent / "shared" / "corpus")
    parser.add_argument("corpus", nargs="?", type=Path, default=default)
    corpus = parser.parse_args().corpus
    if not (corpus / "manifest.tsv").is_file():
        sys.stdout.write(f"no corpus at {corpus}\n")
        return 0
    with tempfile.TemporaryDirectory(prefix="muniment-corpus-") as folder:
        environment = {
            "MUNIMENT_ROOT": f"{folder}/root", "MUNIMENT_CACHE": f"{folder}/cache",
            "PATH": os.environ.get("PATH", ""),
        }  # fmt: skip
        return report(corpus, environment)


def report(corpus: Path, environment: dict[str, str]) -> int:
    """Ingest twice and say what was found."""
    first = run("ingest", corpus, "--no-embeddings", environment=environment)
    again = run("ingest", corpus, "--no-embeddings", environment=environment)
    assets = run("list", "assets", environment=environment)["items"]
    silent = [one["name"] for one in assets if not one["derived"] and not one["attempts"]]
    statuses = Counter(status for one in assets for status in one["attempts"].values())
    reasons = Counter(reason for one in assets for reason in one["reasons"].values())
    changed = {name: again[name] for name in ZERO if again[name]}
    sys.stdout.write(
        f"files {first['scanned']}, assets {len(assets)}, "
        f"observations {first['observations']}, seconds {first['elapsed_s']}\n"
        f"statuses {dict(statuses.most_common())}\nreasons {dict(reasons.most_common())}\n"
        f"failed {[(one['path'].rpartition('/')[2], one['code']) for one in first['failed']]}\n"
        f"without a status {silent}\nsecond run changed {changed}\n"
    )
    return int(bool(silent or changed))


def run(*arguments: str | Path, environment: dict[str, str]) -> Any:
    """Run one command and return its document; the corpus holds broken files, so 3 is fine."""
    said = execute("--json", *arguments, environment=environment, timeout=3_600)
    if said.code not in {0, 3}:
        raise SystemExit(f"{arguments[0]} ended with {said.code}: {said.err}")
    return json.loads(said.out)


if __name__ == "__main__":
    raise SystemExit(main())
