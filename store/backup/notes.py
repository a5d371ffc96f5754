"""What the store remembers of its backups: where copies of it lie, and when one was tried.

One small file a repository and kind, beside the store and not in it: a restore does not turn it
back, and no backup holds it.
"""

import json
import os
from contextlib import suppress
from typing import Any

from muniment.store import files
from muniment.store.layout import Root
from muniment.store.times import now

BACKUP, DRILL = "backup", "drill"


def note(root: Root, kind: str, repository: str, said: dict[str, Any]) -> None:
    """Remember what was done last with a repository (its id); the caller holds the repository."""
    files.make_directory(root.backups)
    files.make_directory(root.temporary)
    text = json.dumps({"kind": kind, "id": repository, "at": now(), **said}, ensure_ascii=False)
    name = f"{repository}.{kind}.json"
    files.write_atomic(root.backups / name, [text.encode()], folder=root.temporary)


def noted(root: Root, kind: str) -> list[dict[str, Any]]:
    """Return the notes of a kind, the latest last; one that can't be read is passed over."""
    found = []
    for path in root.backups.glob(f"*.{kind}.json"):
        with suppress(OSError, ValueError):
            said = json.loads(path.read_bytes())
            if isinstance(said, dict) and said.get("kind") == kind:
                found.append(said)
    return sorted(found, key=lambda one: str(one.get("at")))


def latest(root: Root, kind: str) -> dict[str, Any] | None:
    """Return the latest note of a kind; null where there is none."""
    return next(reversed(noted(root, kind)), None)


def shown(path: "os.PathLike[str] | str") -> str:
    """Return the place of a repository as text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
