"""Run the readers over damaged inputs in processes with limits: ``make fuzz``.

Ends with 1 when an input made a reader raise what is not our error, took its process down, took
longer or needed more memory than allowed. Such inputs are kept in ``--keep``.
"""

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from fuzz.check import faults  # noqa: E402  # the folder comes first
from fuzz.inputs import Input, damaged, seeds, shapes  # noqa: E402

CHECKOUT = HERE.parent.parent
INPUT_SECONDS = 60
MEMORY_BYTES = 3 * 1024**3


def main() -> int:
    """Feed the inputs to the processes; print each fault and the numbers."""
    asked = _asked()
    given, started, found = _inputs(asked.inputs, asked.seed), time.monotonic(), Counter[str]()
    slowest, faulty, done = 0.0, 0, 0
    asked.keep.mkdir(parents=True, exist_ok=True)
    for one, said, seconds in _run(given, asked.jobs):
        done += 1
        slowest = max(slowest, seconds)
        for fault in said:
            found[fault] += 1
            if found[fault] == 1:
                faulty += 1
                (asked.keep / f"{faulty:04d}-{one.name}").write_bytes(one.data)
                print(f"{one.origin}: {fault}", flush=True)  # noqa: T201 (it is the answer)
    print(  # noqa: T201 (as above)
        f"{done} inputs, {len(found)} faults, slowest {slowest:.1f} s, "
        f"{time.monotonic() - started:.0f} s, seed {asked.seed}"
    )
    return 1 if found else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=max(1, len(os.sched_getaffinity(0))))
    parser.add_argument("--keep", type=Path, default=Path(tempfile.gettempdir()) / "muniment-fuzz")
    return parser.parse_args()


def folders() -> list[Path]:
    """Return where real files are: the samples, and the public ones where they are."""
    named = os.environ.get("MUNIMENT_TEST_CORPUS")
    corpus = Path(named) if named else CHECKOUT.parent / "shared" / "corpus"
    return [folder for folder in (CHECKOUT / "samples", corpus) if folder.is_dir()]


def _inputs(count: int, seed: int) -> Iterator[Input]:
    made = shapes(count // 5)
    yield from made
    sources = seeds(folders())
    for number in range(count - len(made)):
        yield damaged(sources, seed, number)


class _Process:
    """One reading process and what it has in hand."""

    def __init__(self) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self.process = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(theirs,), daemon=True
        )
        self.process.start()
        theirs.close()
        self.input: Input | None = None
        self.since = 0.0

    def give(self, one: Input) -> None:
        self.input, self.since = one, time.monotonic()
        self.pipe.send(one)

    def take(self) -> list[str]:
        """Return the faults, or how the process ended."""
        try:
            said: list[str] = self.pipe.recv()
        except EOFError:
            self.process.join(10)
            return [f"the process ended with {self.process.exitcode}"]
        return said

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _run(given: Iterator[Input], jobs: int) -> Iterator[tuple[Input, list[str], float]]:
    processes = [_Process() for _ in range(jobs)]
    for process in processes:
        _next(process, given)
    while busy := [process for process in processes if process.input is not None]:
        ready = wait([process.pipe for process in busy], 1.0)
        for process in busy:
            seconds = time.monotonic() - process.since
            late = seconds > INPUT_SECONDS
            if process.pipe not in ready and not late:
                continue
            assert process.input is not None
            one, said = process.input, [f"over {INPUT_SECONDS} s"] if late else process.take()
            if late or any("the process ended" in fault for fault in said):
                process.end()
                processes.remove(process)
                process = _Process()  # noqa: PLW2901 (it takes the place of the one that ended)
                processes.append(process)
            yield one, said, seconds
            _next(process, given)
    for process in processes:
        process.end()


def _next(process: _Process, given: Iterator[Input]) -> None:
    one = next(given, None)
    process.input = None
    if one is not None:
        process.give(one)


def _serve(pipe: Connection) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # Libraries complain of what is broken, and it is meant to be.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    with tempfile.TemporaryDirectory(prefix="muniment-fuzz-") as scratch:
        while True:
            try:
                one = pipe.recv()
            except EOFError:
                return
            pipe.send(list(faults(one, Path(scratch) / "task")))


if __name__ == "__main__":
    sys.exit(main())
