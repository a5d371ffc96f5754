"""Kill, starve and cut the power of a whole run at every point in turn: ``make torture``.

``--every N`` takes each N-th point, ``--mode`` one way to fail, ``--only kill:17`` one trial.
"""

import argparse
import gc
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from support.faults import MODES
from torture.scenario import Place, check, final, make_inputs, perform
from torture.trial import Trial, attempt, count_points, whole_run


def main() -> int:
    """Make the trials; return 1 when any promise was broken."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="torture-", dir=asked.folder) as made:
        folder = Path(made)
        inputs = folder / "inputs"
        make_inputs(inputs)
        _warm(folder, inputs)
        whole = whole_run(folder / "whole", inputs)
        points = count_points(folder / "counted", inputs)
        trials = _trials(asked, points)
        _say(f"{points} points of writing; {len(trials)} trials")
        broken = []
        started = time.monotonic()
        for done, trial in enumerate(trials, start=1):
            wrong = attempt(folder / "trial", inputs, trial, whole)
            if wrong is not None:
                broken.append(wrong)
                _say(f"BROKEN {wrong}")
            if done % 100 == 0:
                _say(f"{done} of {len(trials)}, {time.monotonic() - started:.0f} s")
    seconds = time.monotonic() - started
    _say(f"{len(trials)} trials at {points} points, {len(broken)} broken, {seconds:.0f} s")
    return 1 if broken else 0


def _trials(asked: argparse.Namespace, points: int) -> list[Trial]:
    if asked.only:
        mode, _, nth = asked.only.partition(":")
        return [Trial(mode, int(nth))]
    modes = [asked.mode] if asked.mode else list(MODES)
    return [Trial(mode, n) for mode in modes for n in range(asked.first, points + 1, asked.every)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="take each N-th point")
    parser.add_argument("--first", type=int, default=1, help="begin at this point")
    parser.add_argument("--mode", choices=MODES, help="one way to fail")
    parser.add_argument("--only", help="one trial, such as kill:17")
    parser.add_argument("--folder", help="where to work; a memory file system is quick")
    return parser.parse_args()


def _warm(folder: Path, inputs: Path) -> None:
    """Make one run in this process, so that no child imports anything or loads a dictionary."""
    place = Place(folder / "warm", inputs)
    place.folder.mkdir()
    if not perform(place) or check(place):
        raise RuntimeError("a run without any fault does not end well")
    final(place)
    shutil.rmtree(place.folder)
    gc.freeze()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (this is its output)


if __name__ == "__main__":
    sys.exit(main())
