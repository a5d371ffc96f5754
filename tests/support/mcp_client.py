"""Drive a real MCP server process with the SDK's own client."""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent, TextResourceContents
from support.cli import SCRIPT

READ_SECONDS = 60.0


def run(root: Path, conversation: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Start a server on stdio for one conversation."""
    server = StdioServerParameters(
        command=str(SCRIPT), args=["--root", str(root), "--offline", *options, "serve", "mcp"]
    )

    async def main() -> None:
        async with Client(server, read_timeout_seconds=READ_SECONDS) as client:
            await conversation(client)

    anyio.run(main)


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that must succeed; return its document."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that must fail; return what a model reads."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error
    return text_of(result)


async def read(client: Client, uri: str) -> str:
    """Return the text of a resource."""
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


def text_of(result: Any) -> str:
    """Return the text that a model reads."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


@contextlib.contextmanager
def http_server(root: Path, token_file: Path) -> Iterator[tuple[str, int]]:
    """Start a server on loopback; yield its address and its process id."""
    port = _free_port()
    process = subprocess.Popen(
        [SCRIPT, "--root", root, "--offline", "serve", "mcp", "--http", "--port", str(port),
         "--token-file", token_file],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "MUNIMENT_MCP_TOKEN": ""},
    )  # fmt: skip
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}/mcp", process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        assert process.poll() is None, "the server ended by itself"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server does not listen")
