"""Measure what the documentation promises, as CPU seconds of whole commands: ``make bench``.

Wall time depends on what else the machine does; CPU time of the command and all its children does
so less. ``--growth`` adds the slow part: ten thousand notes, a thousand at a time.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NOTES = 1_000
GROWTH_BATCHES = 10
REPEATS = 5
BARE = ("-c", "pass")
CLICK = ("-c", "import click")
PEOPLE = ("Ada", "Bruno", "Chidi", "Dana", "Emre", "Freya", "Goran", "Hana")
PLACES = ("library", "station", "harbour", "bakery", "school", "clinic", "garden", "museum")
THINGS = ("umbrella", "notebook", "passport", "ladder", "guitar", "bicycle", "kettle", "camera")
CHINESE = ("小明在图书馆借了一本书", "外婆周六去医院复查", "火车票放在蓝色的抽屉里")


@dataclass(frozen=True)
class Row:
    """One measurement and the most it may be; null where nothing is promised."""

    what: str
    seconds: float
    limit: float | None = None

    def line(self) -> str:
        verdict = "" if self.limit is None else ("ok" if self.seconds < self.limit else "OVER")
        limit = "" if self.limit is None else f"< {self.limit:.2f}"
        return f"{self.what:<48}{self.seconds:>9.3f} s {limit:>8} {verdict}\n"


def note(number: int) -> str:
    """Return a short note; every one differs, every third has a Chinese line."""
    person, place = PEOPLE[number % 8], PLACES[number // 8 % 8]
    text = f"Note {number}: {person} left the {THINGS[number // 64 % 8]} at the {place}.\n"
    return text + (f"{CHINESE[number // 3 % 3]}，编号{number}。\n" if number % 3 == 0 else "")


def write_notes(folder: Path, first: int) -> None:
    """Write a thousand notes, counted from ``first``."""
    folder.mkdir()
    for number in range(first, first + NOTES):
        (folder / f"note-{number:06}.txt").write_text(note(number), encoding="utf-8")


def cpu(command: Sequence[str], environment: dict[str, str]) -> float:
    """Run a command to its end and return the CPU seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        command,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command: Sequence[str], environment: dict[str, str]) -> float:
    """Return the least of several runs: the one that was disturbed least."""
    return min(cpu(command, environment) for _ in range(REPEATS))


def measure(work: Path, growth: bool) -> list[Row]:
    """Return every measurement, made in a scratch folder."""
    program = shutil.which("muniment", path=str(Path(sys.executable).parent)) or "muniment"
    environment = {**os.environ, "HOME": str(work), "MUNIMENT_ROOT": str(work / "root")}
    bare = least((sys.executable, *BARE), environment)
    click = least((sys.executable, *CLICK), environment) - bare
    rows = [
        Row("python -c pass", bare),
        Row("import click, beyond that", click),
        Row("muniment --help", least((program, "--help"), environment), 3 * bare + click),
    ]
    for batch in range(GROWTH_BATCHES if growth else 1):
        write_notes(work / f"notes-{batch}", batch * NOTES)
        ingest = (program, "ingest", "--no-embeddings", "-q", str(work / f"notes-{batch}"))
        limit = 3.0 if batch == 0 else 1.3 * rows[3].seconds
        rows.append(Row(f"ingest notes, thousand {batch + 1}", cpu(ingest, environment), limit))
    again = (program, "ingest", "--no-embeddings", "-q", str(work / "notes-0"))
    rows.append(Row("ingest the first thousand again", cpu(again, environment)))
    for query in ("where is the umbrella of Ada", "火车票放在哪里", "图书馆"):
        seconds = least((program, "recall", "-q", query), environment)
        rows.append(Row(f"recall {query!r}", seconds, 0.5))
    return rows


def main() -> int:
    """Print the table; 1 when a promise is not kept."""
    with tempfile.TemporaryDirectory() as work:
        rows = measure(Path(work), growth="--growth" in sys.argv[1:])
    sys.stdout.writelines(row.line() for row in rows)
    return int(any(row.limit is not None and row.seconds >= row.limit for row in rows))


if __name__ == "__main__":
    sys.exit(main())
