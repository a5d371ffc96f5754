"""The private socket of a resident process: one line of JSON in, one out."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.pipeline.output import to_json
from muniment.pipeline.resident import MOST_BYTES, SOCKET, fingerprint, is_served
from muniment.pipeline.serving.runtime import runtime_file
from muniment.store.errors import LockedError, MunimentError

if TYPE_CHECKING:
    from muniment.pipeline.serving.tools import Tools

_PRIVATE = 0o600
_IDLE_SECONDS = 30.0


class _Handler(socketserver.StreamRequestHandler):
    """Answers one request."""

    timeout = _IDLE_SECONDS
    server: "Door"

    def handle(self) -> None:
        """Read a request and write its answer; what goes wrong is told by its code alone."""
        with contextlib.suppress(OSError):
            line = self.rfile.readline(MOST_BYTES)
            self.wfile.write(to_json(self.server.answer(line)).encode() + b"\n")


class Door(socketserver.ThreadingUnixStreamServer):
    """Lets the commands of this user ask a warm store."""

    daemon_threads = True

    def __init__(self, tools: "Tools") -> None:
        self._tools = tools
        workspace = tools.warm.workspace
        self.path = runtime_file(workspace.root.path, workspace.scope, SOCKET, make=True)
        if is_served(self.path):
            raise LockedError("another process serves this scope", path=str(self.path))
        self.path.unlink(missing_ok=True)  # what a process that was killed left behind
        super().__init__(str(self.path), _Handler)
        self.path.chmod(_PRIVATE)
        self._made = self.path.stat().st_ino

    def answer(self, line: bytes) -> dict[str, Any]:
        """Return the answer to one request."""
        try:
            request = json.loads(line)
            if request["settings"] != fingerprint(self._tools.session):
                return {"error": "other_settings"}
            pack, markdown = self._tools.recall(
                request["query"], request["asked"], request["session"]
            )
        except MunimentError as error:
            return {"error": error.code}
        except (ValueError, KeyError, TypeError, RecursionError):
            return {"error": "bad_request"}
        return {"pack": pack, "markdown": markdown}

    def server_close(self) -> None:
        """Stop listening and take the socket's name away, unless it is another's by now."""
        super().server_close()
        with contextlib.suppress(OSError):
            if self.path.stat().st_ino == self._made:
                self.path.unlink()


@contextlib.contextmanager
def open_beside(tools: "Tools") -> Iterator[Path | None]:
    """Open the socket beside another server; null where somebody has opened it already."""
    try:
        door = Door(tools)
    except (MunimentError, OSError):
        yield None
        return
    thread = threading.Thread(target=door.serve_forever, daemon=True, name="door")
    thread.start()
    try:
        yield door.path
    finally:
        door.shutdown()
        door.server_close()
        thread.join(_IDLE_SECONDS)
