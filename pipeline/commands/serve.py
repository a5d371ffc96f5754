"""``muniment serve mcp``."""

import click

from muniment.pipeline.options import Session, command, group

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
    from pathlib import Path

    require_sdk()
    # A call waits for another writer a while; who types a command can do that by hand.
    if session.settings.origins["lock_wait"] == "default":
        session.add({"lock_wait": LOCK_WAIT_SECONDS})
    from muniment.pipeline.serving.mcp_server import build
    from muniment.pipeline.serving.tools import Tools

    session.workspace().initialize()
    tools = Tools(session)
    tools.close_left_open()
    tools.warm.load_in_background()
    server = build(tools)
    try:
        if http:
            from muniment.pipeline.serving.http import serve, token_of
            from muniment.pipeline.serving.runtime import runtime_file

            root = session.workspace().root.path
            path = Path(token_file) if token_file else runtime_file(root, "mcp-token")
            token = token_of(path)
            session.output.note(f"http://127.0.0.1:{port}/mcp, token in {path}")
            serve(server, port, token)
        else:
            server.run("stdio")
    finally:
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


serve = group("serve", {"mcp": mcp}, "Keep a store warm and serve it.")
