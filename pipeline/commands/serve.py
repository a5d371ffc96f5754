"""``muniment serve local|mcp|web``."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.commands.serve_web import web
from muniment.pipeline.options import Session, command, group

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from muniment.pipeline.serving.tools import Tools

PORT = 8377
LOCK_WAIT_SECONDS = 10.0


@command("mcp")
@click.option("--http", is_flag=True, help="Streamable HTTP on loopback instead of stdio.")
@click.option("--port", type=click.IntRange(0, 65_535), default=PORT, help="Port for --http.")
@click.option("--token-file", metavar="FILE", help="Holds the token; made when it is not there.")
def mcp(session: Session, http: bool, port: int, token_file: str | None) -> None:
    """Serve the memory of this scope to agents over MCP.

    On standard input and output unless --http is given. Models and index stay loaded.
    """
    require_sdk()
    from muniment.pipeline.serving.door import open_beside
    from muniment.pipeline.serving.mcp_server import build
    from muniment.pipeline.serving.stdio import serve as serve_stdio

    tools = _tools(session)
    tools.close_left_open()
    tools.warm.load_in_background()
    server = build(tools)
    tools.warm.settle()
    try:
        with open_beside(tools):
            if http:
                _over_http(session, server, port, token_file)
            else:
                serve_stdio(server)
    finally:
        tools.warm.close()


def _tools(session: Session) -> "Tools":
    """Open the scope for a resident process."""
    from muniment.pipeline.serving.tools import Tools

    # A call waits for another writer a while; who types a command can do that by hand.
    if session.settings.origins["lock_wait"] == "default":
        session.add({"lock_wait": LOCK_WAIT_SECONDS})
    session.workspace().initialize()
    return Tools(session)


def _over_http(
    session: Session, server: "MCPServer[Any]", port: int, token_file: str | None
) -> None:
    from pathlib import Path

    from muniment.pipeline.serving.http import serve as serve_http
    from muniment.pipeline.serving.http import token_of
    from muniment.pipeline.serving.runtime import runtime_file

    workspace = session.workspace()
    default = runtime_file(workspace.root.path, workspace.scope, "mcp-token", make=True)
    path = Path(token_file) if token_file else default
    token = token_of(path)
    session.output.note(f"http://127.0.0.1:{port}/mcp, token in {path}")
    serve_http(server, port, token)


@command("local")
def local(session: Session) -> None:
    """Keep the scope warm for the other commands, which find it by a private socket.

    Models and index stay loaded; it runs until it is told to end.
    """
    from muniment.pipeline.serving.door import Door

    tools = _tools(session)
    tools.warm.load_in_background()
    door = Door(tools)
    tools.warm.settle()
    session.output.note(f"serving at {door.path}")
    try:
        door.serve_forever()
    finally:
        door.server_close()
        tools.warm.close()


def require_sdk() -> str:
    """Return the version of the MCP SDK.

    Raises ``MissingToolError`` where it is absent or of another major version.
    """
    from importlib.metadata import PackageNotFoundError, version

    from muniment.store.errors import MissingToolError

    hint = "pip install 'muniment[mcp]'"
    try:
        found = version("mcp")
    except PackageNotFoundError:
        raise MissingToolError("the MCP SDK is not installed", hint=hint) from None
    if not found.startswith("2."):
        raise MissingToolError(f"the MCP SDK is {found}, 2.x is needed", hint=hint)
    return found


serve = group("serve", {"local": local, "mcp": mcp, "web": web}, "Keep a store warm and serve it.")
