"""A run of the whole pipeline over light inputs, and what must be true of it at any moment."""

import contextlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from support.contents import contents_of

from muniment.pipeline import cli
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger
from muniment.store.verify import verify

SECRET = "The zanzibar canary sings at midnight by the violet lighthouse."
STATEMENT = "Remember that my allergy is peanuts."
_CHAT = """\
2026-03-01 10:00 Ann: Shall we meet at the old mill on Friday?
2026-03-01 10:05 Bob: Yes, at nine. I bring the tickets.
2026-03-02 18:00 Ann: I live in Bergen now.
"""
# Exit codes that a step may end with; a repeated hard forget finds nothing any more.
_FINE = {0, 4}


class Step(NamedTuple):
    """One command of the run, by the name that it is acknowledged under."""

    name: str
    arguments: tuple[str, ...]


class Place(NamedTuple):
    """Where one trial takes place."""

    folder: Path
    inputs: Path

    @property
    def root(self) -> Root:
        """The root under torture."""
        return Root(self.folder / "root")

    @property
    def acknowledged(self) -> Path:
        """The list of steps that reported success."""
        return self.folder / "acknowledged"


def make_inputs(folder: Path) -> None:
    """Write the files: two notes, a chat, and one that is large enough to lie beside the ledger."""
    folder.mkdir(parents=True)
    (folder / "note.txt").write_text("My name is Ada. The heron stands in the reeds.")
    (folder / "secret.txt").write_text(SECRET)
    (folder / "chat.txt").write_text(_CHAT)
    lines = (f"Line {n}: the river carries leaf number {n} to the sea." for n in range(1_400))
    (folder / "long.txt").write_text("\n".join(lines))


def steps(inputs: Path) -> list[Step]:
    """Return the run, in order; doing it again from the start changes nothing."""
    return [
        Step("ingest", ("ingest", str(inputs), "--no-embeddings", "--me", "Ann")),
        Step("remember", ("remember", STATEMENT)),
        Step("forget", ("forget", str(inputs / "chat.txt"))),
        Step("unforget", ("unforget", str(inputs / "chat.txt"))),
        Step("erase", ("forget", "--hard", "--yes", str(inputs / "secret.txt"))),
    ]


def perform(place: Place, acknowledge: Callable[[str], None] = lambda _: None) -> bool:
    """Do every step until one fails; return whether all ended well."""
    os.environ |= {
        "MUNIMENT_ROOT": str(place.root.path), "MUNIMENT_CACHE": str(place.folder / "cache"),
    }  # fmt: skip
    for step in steps(place.inputs):
        code, said = _run(["-q", "--json", *step.arguments])
        if code not in _FINE:
            print(f"{step.name} ended with {code}: {said.strip()}")  # noqa: T201 (for the trial)
            return False
        if code == 0:
            acknowledge(step.name)
        elif json.loads(said)["error"]["code"] != "not_found":
            return False
    return True


def _run(arguments: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = int(cli.run(arguments))
    return code, out.getvalue()


def check(place: Place) -> list[str]:
    """Say what is wrong with a store after a fault: nothing, if all promises hold."""
    told = place.acknowledged.read_text().split() if place.acknowledged.exists() else []
    if not place.root.scope(Scope()).ledger.exists():
        return ["the ledger is gone"] if told else []
    report = verify(place.root, Scope())
    wrong = [f"{one.code}: {one.ref}: {one.message}" for one in report.findings if one.damage]
    with Ledger.read(place.root, Scope()) as ledger:
        wrong += [f"lost after {step}" for step in told if not _HELD[step](ledger, told)]
    return wrong


def _holds_files(ledger: Ledger, told: list[str]) -> bool:
    least = 2 if "unforget" in told else 1  # the erasing may be under way, the chat be hidden
    names = {row.name for row in ledger.assets.rows()}
    return len(names & {"note.txt", "long.txt", "chat.txt"}) >= least + 1


def _holds_statement(ledger: Ledger, _told: list[str]) -> bool:
    return any("peanuts" in str(one["value"] or one["text"]) for one in ledger.memory.records())


def _hides_chat(ledger: Ledger, told: list[str]) -> bool:
    return "unforget" in told or len(ledger.tombstones.all()) > 0


def _shows_chat(ledger: Ledger, _told: list[str]) -> bool:
    return any(row.name == "chat.txt" for row in ledger.assets.rows())


def _erased(ledger: Ledger, _told: list[str]) -> bool:
    return all(row.name != "secret.txt" for row in ledger.assets.rows())


_HELD: dict[str, Callable[[Ledger, list[str]], bool]] = {
    "ingest": _holds_files, "remember": _holds_statement, "forget": _hides_chat,
    "unforget": _shows_chat, "erase": _erased,
}  # fmt: skip


def final(place: Place) -> dict[str, list[Any]]:
    """Return the content that a whole run ends in; times of saying and of files differ."""
    found = contents_of(place.root, Scope())
    # A statement says when it was made, and each trial makes it anew.
    for name in ("observations", "episodes", "times", "members"):
        found[name] = [row for row in found[name] if "peanuts" not in row]
    return found


def traces(place: Place) -> list[str]:
    """Return the files that still hold what was erased."""
    words = (SECRET[:30].encode(), b"violet lighthouse")
    return [
        str(path.relative_to(place.folder))
        for path in place.folder.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in words)
    ]
