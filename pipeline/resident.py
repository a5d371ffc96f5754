"""Ask the resident process of a scope, where there is one; costs next to nothing where not."""

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

SOCKET = "sock"
MOST_BYTES = 4 * 1024 * 1024
_CONNECT_SECONDS, _ANSWER_SECONDS = 0.5, 60.0


def ask(
    session: "Session", query: str, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], str] | None:
    """Return pack and Markdown from the resident process; null where this one has to answer.

    That is: nobody is at home, another configuration is wanted, or the answer was an error, which
    is told better by who was asked first.
    """
    from muniment.pipeline.serving.runtime import runtime_file

    settings = session.settings
    try:
        path = runtime_file(settings.root, settings.scope, SOCKET)
        if not path.is_socket():
            return None
        answer = _exchange(path, _request(session, query, asked))
    except (OSError, ValueError):
        return None
    if "error" in answer:
        return None
    return answer["pack"], str(answer["markdown"])


def is_served(path: Path) -> bool:
    """Tell whether a process listens at a socket."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        try:
            connection.connect(str(path))
        except OSError:
            return False
    return True


def fingerprint(session: "Session") -> str:
    """Return the digest of what an answer depends on besides the scope and the question."""
    from muniment.store.ids import digest

    settings = session.settings
    return digest(settings["offline"], settings["languages"], settings["zone"], settings.tables)


def _request(session: "Session", query: str, asked: Mapping[str, Any]) -> bytes:
    fields = dict(asked)
    if fields.get("path"):  # as it is seen from here
        fields["path"] = os.path.abspath(fields["path"])  # noqa: PTH100 (a name is bytes here)
    request = {
        "query": query, "asked": fields, "session": session.settings["session"],
        "settings": fingerprint(session),
    }  # fmt: skip
    return json.dumps(request).encode() + b"\n"


def _exchange(path: Path, request: bytes) -> dict[str, Any]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_CONNECT_SECONDS)
        connection.connect(str(path))
        connection.settimeout(_ANSWER_SECONDS)
        connection.sendall(request)
        with connection.makefile("rb") as stream:
            answer: dict[str, Any] = json.loads(stream.readline())
    return answer
