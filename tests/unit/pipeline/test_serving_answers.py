"""An answer reaches the client of its call as the tool gave it, and nobody else."""

from typing import Any

import pytest

pytest.importorskip("mcp")  # an extra

import anyio
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent

from muniment.pipeline.serving.answers import answer, lay_in


@pytest.fixture
def server() -> MCPServer[Any]:
    """Return a server of three tools: of an answer, of one that fails after it, of none."""
    server: MCPServer[Any] = MCPServer("test", middleware=[lay_in])

    @server.tool()
    def echo(text: str) -> CallToolResult:
        result = answer({"said": text, "nothing": None}, f"# {text}")
        result.meta = {"about": text}
        return result

    @server.tool()
    def fail() -> CallToolResult:
        answer({"said": "half"}, "half")
        raise ToolError("it broke")

    @server.tool()
    def plain() -> dict[str, Any]:
        return {"said": "plain"}

    return server


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_what_a_tool_answers_arrives_whole(server: MCPServer[Any], mode: Any) -> None:
    async def story() -> None:
        async with Client(server, mode=mode) as client:
            result = await client.call_tool("echo", {"text": "上海"})
        assert result.structured_content == {"said": "上海", "nothing": None}
        assert result.content == [TextContent(type="text", text="# 上海")]
        assert result.meta is not None
        assert result.meta["about"] == "上海"
        assert result.is_error is False

    anyio.run(story)


def test_calls_beside_each_other_get_their_own(server: MCPServer[Any]) -> None:
    async def story() -> None:
        async with Client(server) as client:

            async def ask(text: str) -> None:
                result = await client.call_tool("echo", {"text": text})
                assert result.structured_content == {"said": text, "nothing": None}

            async with anyio.create_task_group() as group:
                for number in range(30):
                    group.start_soon(ask, str(number))

    anyio.run(story)


def test_a_tool_that_fails_after_its_answer_tells_its_failure_alone(server: MCPServer[Any]) -> None:
    async def story() -> None:
        async with Client(server) as client:
            failed = await client.call_tool("fail")
            plain = await client.call_tool("plain")
        assert failed.is_error is True
        assert failed.structured_content is None
        assert "it broke" in str(failed.content)
        assert plain.structured_content == {"said": "plain"}

    anyio.run(story)
