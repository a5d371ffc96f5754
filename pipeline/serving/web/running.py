"""Listen on loopback and serve until the process is told to end."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from muniment.store.errors import UsageError

if TYPE_CHECKING:
    from muniment.pipeline.serving.web.guard import Guard

_GRACE_SECONDS = 2
_BACKLOG = 128


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Open the socket; port 0 takes a free one."""
    listener = socket.socket(socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(_BACKLOG)  # who opens the printed address at once is kept waiting
        except OSError as error:
            raise UsageError(
                f"port {port} can't be used: {error.strerror}", code="port_in_use",
                hint="name another: --port 0",
            ) from error  # fmt: skip
        yield listener
    finally:
        listener.close()


def serve(app: "Guard", listener: socket.socket) -> None:
    """Serve until interrupted or terminated."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, server_header=False, lifespan="off",
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])
