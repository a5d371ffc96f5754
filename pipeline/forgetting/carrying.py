"""The forget list over a restore: a snapshot from before a hard forget does not revive anything."""

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline.forgetting.erasing import erase_again
from muniment.pipeline.workspace import Workspace
from muniment.store import files
from muniment.store.forgetting.list import scopes, standing
from muniment.store.layout import Root

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.backup.repository import Repository


class Carried(NamedTuple):
    """A forget list and the key that it is kept under."""

    digests: tuple[str, ...] = ()
    key: bytes | None = None


def erase_what_was_forgotten(
    session: "Session", document: dict[str, Any], repository: "Repository | None"
) -> int:
    """Erase again what a restore brought back; return how many scopes that touched.

    The list is the store's that was put aside, else that of the repository's newest snapshot.
    """
    aside = document["displaced"]
    found = of_root(Root(Path(aside))) if aside else Carried()
    if not found.digests and repository is not None:
        found = _of_repository(repository)
    return apply(session, session.workspace().root, found)


def apply(session: "Session", root: Root, found: Carried) -> int:
    """Erase whatever a forget list names from every scope of a root; return how many had any."""
    if not found.digests or found.key is None:
        return 0
    if not root.forget_key.exists():
        files.make_directory(root.temporary)
        files.write_atomic(root.forget_key, [found.key], folder=root.temporary)
    touched = 0
    for scope in list(scopes(root)):
        values = {**session.settings.values, **scope.as_dict(), "root": os.fspath(root.path)}
        workspace = Workspace(replace(session.settings, values=values))
        touched += erase_again(workspace, found.digests).tombstone is not None
    return touched


def of_root(root: Root) -> Carried:
    """Return the forget list that stands in a root; one without its key tells nothing."""
    try:
        key = root.forget_key.read_bytes()
    except OSError:
        return Carried()
    return Carried(standing(root), key)


def _of_repository(repository: "Repository") -> Carried:
    newest = repository.read("latest")
    path = "store/forget.key"
    parts = [part for entry in newest.entries if entry.path == path for part in entry.parts]
    key = b"".join(chunk for part in parts for chunk in repository.chunks(part.sha256))
    return Carried(newest.forgotten, key or None)
