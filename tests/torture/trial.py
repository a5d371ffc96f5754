"""One trial: run the scenario in a child that fails at one point, then look, then run it again."""

import ast
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from support.faults import Faults
from torture import scenario
from torture.scenario import Place

_PASSED, _FAILED, _UNEXPECTED = 0, 1, 3


class Trial(NamedTuple):
    """A point and a way to fail there."""

    mode: str
    nth: int

    def __str__(self) -> str:
        """Return it as the command line takes it."""
        return f"{self.mode}:{self.nth}"


def count_points(folder: Path, inputs: Path) -> int:
    """Run the scenario without a fault; return how many points it has."""
    place = _place(folder, inputs)

    def run() -> int:
        faults = Faults("kill", 0, folder)
        faults.install()
        done = scenario.perform(place)
        (folder / "points").write_text(str(faults.points))
        return _PASSED if done else _FAILED

    if _in_child(run, folder / "said") != _PASSED:
        raise RuntimeError((folder / "said").read_text())
    return int((folder / "points").read_text())


def attempt(folder: Path, inputs: Path, trial: Trial, whole: dict[str, list[Any]]) -> str | None:
    """Make one trial; return what is wrong afterwards, or null."""
    place = _place(folder, inputs)

    def fail() -> int:
        Faults(trial.mode, trial.nth, folder).install()
        return _PASSED if scenario.perform(place, _acknowledge(place)) else _FAILED

    def look() -> int:
        wrong = scenario.check(place)
        print(*wrong, sep="\n")  # noqa: T201 (the child's answer)
        return _FAILED if wrong else _PASSED

    def complete() -> int:
        if not (scenario.perform(place) and scenario.perform(place)):
            print("the run does not complete")  # noqa: T201
            return _FAILED
        found = scenario.final(place)
        wrong = [
            f"{name} differ: {set(found[name]) ^ set(whole[name])}"
            for name in whole
            if found[name] != whole[name]
        ]
        wrong += [f"damage: {one}" for one in scenario.check(place)]
        wrong += [f"not erased: {name}" for name in scenario.traces(place)]
        print(*wrong, sep="\n")  # noqa: T201
        return _FAILED if wrong else _PASSED

    said = folder / "said"
    for step, name in ((fail, "fault"), (look, "look"), (complete, "again")):
        code = _in_child(step, said)
        if code == _UNEXPECTED or (step is not fail and code != _PASSED):
            return f"{trial}: {name}: {said.read_text().strip()[-2_000:]}"
    shutil.rmtree(folder)
    return None


def whole_run(folder: Path, inputs: Path) -> dict[str, list[Any]]:
    """Return the content of a run that nothing disturbed; it stays in a child's file."""
    place = _place(folder, inputs)

    def run() -> int:
        # Twice: a statement that the first run ends with is grouped by the second.
        done = scenario.perform(place) and scenario.perform(place)
        (folder / "content").write_text(repr(scenario.final(place)))
        return _PASSED if done and not scenario.traces(place) else _FAILED

    if _in_child(run, folder / "said") != _PASSED:
        raise RuntimeError((folder / "said").read_text())
    found: dict[str, list[Any]] = ast.literal_eval((folder / "content").read_text())
    return found


def _place(folder: Path, inputs: Path) -> Place:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return Place(folder, inputs)


def _acknowledge(place: Place) -> Callable[[str], None]:
    def told(name: str) -> None:
        with place.acknowledged.open("a") as stream:
            stream.write(name + "\n")

    return told


def _in_child(run: Callable[[], int], said: Path) -> int:
    """Run in a forked child, its words in a file; a killed one counts as one that failed."""
    child = os.fork()
    if child == 0:
        code = _UNEXPECTED
        try:
            out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.dup2(out, 1)
            os.dup2(out, 2)
            code = run()
            sys.stdout.flush()
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return _FAILED if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
