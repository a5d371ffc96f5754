"""Who the assistant is for a user: read by agents, written by the command line alone."""

from typing import TYPE_CHECKING, Any

from muniment.store import personas

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

MOST_CHARACTERS = 20_000
NEUTRAL = "You are a helpful assistant. You have no persona of your own for this user."


def current(session: "Session", version: int | None = None) -> dict[str, Any]:
    """Return a persona version, the newest unless one is named; a missing one is the neutral one.

    Raises ``NotFoundError`` for a version that does not exist.
    """
    from muniment.store.errors import NotFoundError

    workspace = session.workspace()
    wait = session.settings["lock_wait"]
    with personas.reading(workspace.root, workspace.scope, wait) as held:
        versions = held.versions()
        found = held.version(version)
    if found is None and version:
        raise NotFoundError(f"no persona version {version}", hint="see: muniment persona show")
    neutral = {"version": 0, "text": NEUTRAL, "restores": None, "actor": None, "reason": None,
               "at": None}  # fmt: skip
    listed = [{k: v for k, v in one.items() if k != "text"} for one in versions]
    return {
        **(found or neutral),
        "default": found is None,
        "user": workspace.scope.user,
        "versions": listed,
    }
