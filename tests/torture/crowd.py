"""Two writers, four readers and a backup every few seconds on one scope: ``make crowd``.

Writers take in chats of several lines, statements, and hide and show again. Readers look for
units that are there in part, and for acknowledged ones that are not. Each snapshot is verified,
restored, and looked into the same way. Locked is the only failure that may be tried again.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from muniment.pipeline import cli
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.verify import verify

LINES = 5  # of a chat: a unit that is there has all of them
LOCKED = 11
WRITERS, READERS = 2, 4
PAUSE_SECONDS = 3.0


class Place(NamedTuple):
    """Where it takes place, and when it ends."""

    folder: Path
    ends: float
    root: Path

    @property
    def repository(self) -> Path:
        """The backup repository."""
        return self.folder / "repository"

    def acknowledged(self) -> set[str]:
        """Return the units whose writing was reported as done."""
        return {name for path in self.folder.glob("told-*") for name in path.read_text().split()}


class Ended(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


class Member:
    """One of the crowd, in a process of its own: it counts what it did and what was wrong."""

    def __init__(self, place: Place, name: str) -> None:
        self.place, self.name = place, name
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.random = random.Random(name)

    def ask(self, *arguments: str | Path) -> Ended:
        """Run a command until it is not locked; note any other failure."""
        while True:
            ended = run(["--root", str(self.place.root), "--json", *map(str, arguments)])
            if ended.code != LOCKED:
                break
            self.done["tried again"] += 1
            time.sleep(0.1)
        if ended.code:
            said = (ended.err or ended.out).strip()[-400:]
            self.wrong.append(f"{self.name}: {' '.join(map(str, arguments))}: {ended.code}: {said}")
        return ended

    def look(self, ledger: Ledger, told: Iterable[str]) -> None:
        """Note every unit that a ledger holds in part, and every one that it should hold."""
        found: Counter[str] = Counter()
        with ledger.snapshot():
            hidden = {row[0] for row in ledger.database.execute("SELECT asset FROM hidden_asset")}
            for asset, text in ledger.database.execute(
                "SELECT asset, text FROM observation WHERE text LIKE 'unit %'"
            ):
                found[text.split()[1]] += 1 if asset not in hidden else LINES
        for unit, lines in found.items():
            if lines % LINES:
                self.wrong.append(f"{self.name}: {unit} has {lines} of {LINES} lines")
        self.wrong += [f"{self.name}: {unit} is lost" for unit in set(told) - found.keys()]


def run(arguments: list[str]) -> Ended:
    """Run a command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = int(cli.run(arguments))
    return Ended(code, out.getvalue(), err.getvalue())


def write(member: Member) -> None:
    """Take in one unit after the other, with a statement or a hiding now and then."""
    place, number = member.place, 0
    told = place.folder / f"told-{member.name}"
    wait = ("--lock-wait", "60")
    while time.monotonic() < place.ends:
        number += 1
        unit = f"{member.name}-{number}"
        file = place.folder / "inputs" / f"{unit}.txt"
        file.write_text("".join(
            f"2026-03-01 10:{number % 60:02d} Ann: unit {unit} line {line} of the heron\n"
            for line in range(1, LINES + 1)
        ))  # fmt: skip
        ended = member.ask("ingest", file, "--no-embeddings", "--jobs", "1", *wait)
        if ended.code == 0:
            with told.open("a") as stream:
                stream.write(unit + "\n")
            member.done["units"] += 1
        if number % 3 == 0:
            member.ask("remember", f"Remember that I like tea {unit}.", *wait)
            member.done["statements"] += 1
        if _is_hidden_for_a_while(unit):
            member.ask("forget", file, *wait)
            member.ask("unforget", file, *wait)
            member.done["hidden and shown"] += 1


def read(member: Member) -> None:
    """Look into the ledger, list and recall; what was told before must be there."""
    place = member.place
    while time.monotonic() < place.ends:
        told = sorted(place.acknowledged())
        with Ledger.read(Root(place.root), Scope()) as ledger:
            member.look(ledger, told)
        member.done["looks"] += 1
        if told:
            _recall(member, member.random.choice(told))
        if member.done["looks"] % 7 == 0:
            member.ask("list", "episodes", "--limit", "20")
            member.ask("status")
            member.done["lists"] += 1


def _is_hidden_for_a_while(unit: str) -> bool:
    """Tell which units their writer forgets and brings back once they have been told."""
    return int(unit.rpartition("-")[2]) % 5 == 0


def _recall(member: Member, unit: str) -> None:
    ended = member.ask("recall", f"unit {unit} heron", "--format", "json", "--no-semantic")
    member.done["recalls"] += 1
    if ended.code == 0:
        pack = json.loads(ended.out)
        if pack["coverage"] == "none" and not _is_hidden_for_a_while(unit):
            member.wrong.append(f"{member.name}: nothing is recalled of {unit}")
        for citation in pack["citations"]:
            if not citation["quote"] or not citation["asset"]:
                member.wrong.append(f"{member.name}: an open citation for {unit}")


def back_up(member: Member) -> None:
    """Make a snapshot every few seconds; write down what it must hold."""
    place = member.place
    while time.monotonic() < place.ends:
        told = sorted(place.acknowledged())
        ended = member.ask("backup", "create", place.repository, "--lock-wait", "60")
        if ended.code == 0:
            name = json.loads(ended.out)["snapshot"]
            partial = place.folder / "partial"
            partial.write_text(json.dumps(told))
            partial.rename(place.folder / "made" / name)
            member.done["backups"] += 1
        time.sleep(PAUSE_SECONDS)


def restore(member: Member) -> None:
    """Verify and restore every snapshot, and look into what comes back, until none is left."""
    place, seen = member.place, set[str]()
    while True:
        over = time.monotonic() > place.ends + PAUSE_SECONDS
        for path in sorted((place.folder / "made").iterdir()):
            if path.name not in seen:
                seen.add(path.name)
                _try(member, path)
        if over and (place.folder / "no-more").exists():
            break
        time.sleep(0.2)


def _try(member: Member, path: Path) -> None:
    place, target = member.place, member.place.folder / "restored"
    named = ("--snapshot", path.name, "--lock-wait", "120")
    member.ask("backup", "verify", place.repository, *named)
    elsewhere = Member(Place(place.folder, place.ends, target), member.name)
    ended = elsewhere.ask("restore", place.repository, *named)
    if ended.code == 0:
        report = verify(Root(target), Scope())
        elsewhere.wrong += [f"{path.name}: {one.message}" for one in report.findings if one.damage]
        with Ledger.read(Root(target), Scope()) as ledger:
            elsewhere.look(ledger, json.loads(path.read_text()))
        member.done["restored and verified"] += 1
    member.wrong += elsewhere.wrong
    shutil.rmtree(target, ignore_errors=True)


def main() -> int:
    """Let the crowd in; return 1 when anything was wrong."""
    asked = _arguments()
    with tempfile.TemporaryDirectory(prefix="crowd-", dir=asked.folder) as made:
        folder = Path(made)
        for name in ("inputs", "made"):
            (folder / name).mkdir()
        os.environ["MUNIMENT_CACHE"] = str(folder / "cache")
        _begin(folder)
        place = Place(folder, time.monotonic() + asked.seconds, folder / "root")
        writers = [f"writer{n}" for n in range(WRITERS)]
        crowd: dict[str, Callable[[Member], None]] = {
            **dict.fromkeys(writers, write),
            **dict.fromkeys([f"reader{n}" for n in range(READERS)], read), "backup": back_up,
        }  # fmt: skip
        children = {name: _child(place, name, work) for name, work in crowd.items()}
        last = _child(place, "restore", restore)
        failed = [name for name, child in children.items() if os.waitpid(child, 0)[1]]
        (folder / "no-more").touch()
        failed += ["restore"] if os.waitpid(last, 0)[1] else []
        return _report(folder, failed, [*crowd, "restore"])


def _begin(folder: Path) -> None:
    """Make the store, and import what the members need before they are made."""
    (folder / "first.txt").write_text("The heron stands in the reeds.")
    for arguments in (
        ["ingest", str(folder / "first.txt"), "--no-embeddings", "--jobs", "1"],
        ["remember", "I like coffee."], ["recall", "heron", "--no-semantic"],
        ["backup", "create", str(folder / "warm")],
    ):  # fmt: skip
        ended = run(["--root", str(folder / "root"), "-q", *arguments])
        if ended.code:
            raise RuntimeError(ended.err)


def _child(place: Place, name: str, work: Callable[[Member], None]) -> int:
    child = os.fork()
    if child == 0:
        member, code = Member(place, name), 0
        try:
            work(member)
        except BaseException:
            member.wrong.append(f"{name}: {traceback.format_exc()}")
            code = 1
        said: dict[str, Any] = {"done": member.done, "wrong": member.wrong}
        (place.folder / f"said-{name}").write_text(json.dumps(said))
        os._exit(code)
    return child


def _report(folder: Path, failed: list[str], names: list[str]) -> int:
    done: Counter[str] = Counter()
    wrong = [f"{name} died" for name in failed]
    for name in names:
        path = folder / f"said-{name}"
        if path.exists():
            said = json.loads(path.read_text())
            done.update(said["done"])
            wrong += said["wrong"]
    for one in wrong[:50]:
        _say(f"WRONG {one}")
    _say(", ".join(f"{count} {name}" for name, count in sorted(done.items())))
    _say(f"{len(wrong)} wrong")
    return 1 if wrong or done["restored and verified"] != done["backups"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="how long the crowd stays")
    parser.add_argument("--folder", help="where to work")
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 (this is its output)


if __name__ == "__main__":
    sys.exit(main())
