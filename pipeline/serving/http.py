"""Streamable HTTP for the MCP server: loopback only, every request with the token."""

import hmac
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.store.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from mcp.server.mcpserver import MCPServer

HOST = "127.0.0.1"
TOKEN_VARIABLE = "MUNIMENT_MCP_TOKEN"  # noqa: S105 (the name of a variable)
LEAST_CHARACTERS = 16
_PRIVATE = 0o600
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def token_of(path: Path) -> str:
    """Return the token of the environment, else of a private file that is made when missing.

    Raises ``UsageError`` for a token that is short, or a file that others may read.
    """
    token = os.environ.get(TOKEN_VARIABLE, "").strip()
    if not token:
        token = _from_file(path)
    if len(token) < LEAST_CHARACTERS:
        raise UsageError(
            f"the token is shorter than {LEAST_CHARACTERS} characters",
            code="bad_token",
            hint=f"set {TOKEN_VARIABLE}, or let --token-file be written anew",
        )
    return token


def _from_file(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _PRIVATE)
    except FileExistsError:
        if path.stat().st_mode & 0o077:
            raise UsageError(
                "others may read the token file", code="bad_token", hint="chmod 600 it",
                path=str(path),
            ) from None  # fmt: skip
        return path.read_text("utf-8").strip()
    except OSError as error:
        raise UsageError(
            f"the token file can't be written: {error.strerror}", code="bad_token", path=str(path)
        ) from error
    token = secrets.token_urlsafe(32)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(token + "\n")
    return token


class RequireToken:
    """Lets a request pass that carries ``Authorization: Bearer TOKEN``; others get 401."""

    def __init__(self, app: "Callable[..., Awaitable[None]]", token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(
        self,
        scope: "MutableMapping[str, Any]",
        receive: "Callable[..., Awaitable[Any]]",
        send: "Callable[..., Awaitable[None]]",
    ) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        given = dict(scope.get("headers") or ()).get(b"authorization", b"")
        if hmac.compare_digest(given, self._expected):
            await self._app(scope, receive, send)
            return
        headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


def serve(server: "MCPServer[Any]", port: int, token: str) -> None:
    """Serve on loopback until the process is told to end."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    names = [f"{host}:*" for host in _LOOPBACK]
    security = TransportSecuritySettings(
        allowed_hosts=names, allowed_origins=[f"http://{name}" for name in names]
    )
    app = server.streamable_http_app(host=HOST, transport_security=security)
    config = uvicorn.Config(
        RequireToken(app, token), host=HOST, port=port, log_level="warning", access_log=False,
        server_header=False,
    )  # fmt: skip
    uvicorn.Server(config).run()
