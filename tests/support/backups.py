"""Build small stores and repositories for tests of backup, restore and archive."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

from support.fault_script import run

from muniment.store import files
from muniment.store.backup.cipher import Secret
from muniment.store.backup.create import create
from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Snapshot
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger

CANARY = b"text 1 text 1 "  # inside the first large asset of the script
DOORS = (
    "make_directory", "sync_directory", "create_temporary", "write_chunk", "sync_file",
    "close_file", "publish", "move", "remove", "remove_tree",
)  # fmt: skip
CONTENT = (
    "SELECT id, size, storage, derived, created_at FROM asset ORDER BY seq",
    "SELECT asset, bytes FROM asset_bytes ORDER BY asset",
    "SELECT id, path, source, seen_at FROM sighting ORDER BY seq",
    "SELECT id, kind, text, locator, created_at FROM observation ORDER BY seq",
)


def filled(folder: Path) -> Root:
    """Return a root with three small and three large assets in one scope."""
    root = Root(folder)
    list(run(root))
    return root


def backed_up(root: Root, place: Path, secret: Secret | None = None) -> tuple[Repository, Snapshot]:
    """Back a root up into a new or known repository."""
    known = (place / "repository.json").exists()
    repository = (Repository.open if known else Repository.create)(place, secret)
    with repository.writing():
        said = create(root, repository)
    return repository, repository.read(said["snapshot"])


def content(root: Root, scope: Scope | None = None) -> list[Any]:
    """Return what a scope holds: rows and the large files, each with its mode."""
    with Ledger.read(root, scope or Scope()) as ledger:
        held: list[Any] = [ledger.database.execute(one).fetchall() for one in CONTENT]
        large = sorted(path for path in ledger.paths.assets.rglob("*") if path.is_file())
        return [*held, [(path.name, path.read_bytes(), path.stat().st_mode) for path in large]]


def remember_more(root: Root, text: str) -> None:
    """Append one small fact to the scope of a root."""
    with Ledger.create(root, Scope()) as ledger, ledger.unit():
        ledger.attempts.start_run(f"run_{text}", "test")


def folder_of(repository: Repository) -> Path:
    """Return where a repository of this machine lies."""
    return Path(repository.place.name)


def large_objects(repository: Repository, snapshot: Snapshot) -> list[Path]:
    """Return the files of the objects that are assets."""
    return [
        path
        for entry in snapshot.entries
        if entry.kind == "asset"
        for path in folder_of(repository).rglob(repository.file_name(entry.sha256))
    ]


def uses_of(work: Callable[[], object]) -> int:
    """Do work in a process of its own; return how often it used a door."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            uses = _watch(lambda _: None)
            work()
            os.write(writing, str(next(uses) - 1).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        told = stream.read()
    os.waitpid(child, 0)
    return int(told)


def points(total: int, *, last: int = 0) -> list[int]:
    """Return the steps to try: some of all, and each of the last ones.

    ``MUNIMENT_FAULT_STRIDE=1`` tries every step.
    """
    stride = int(os.environ.get("MUNIMENT_FAULT_STRIDE", "6"))
    return sorted({*range(1, total + 1, stride), *range(max(1, total + 1 - last), total + 1)})


def killed_at(nth: int, work: Callable[[], object]) -> bool:
    """Do work in a process that kills itself before the n-th use of a door; tell if it died."""
    child = os.fork()
    if child == 0:
        with suppress(BaseException):
            _watch(lambda use: signal.raise_signal(signal.SIGKILL) if use == nth else None)
            work()
            os._exit(0)
        os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _watch(step: Callable[[int], object]) -> "count[int]":
    """Call ``step`` with the number of each use of a door, before it; return the counter."""
    uses = count(1)
    for name in DOORS:
        door = getattr(files, name)

        def watched(*arguments: Any, _door: Any = door, **named: Any) -> Any:
            step(next(uses))
            return _door(*arguments, **named)

        setattr(files, name, watched)
    return uses
