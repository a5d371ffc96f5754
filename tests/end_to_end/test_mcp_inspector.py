"""The MCP inspector's command line, a client of other makers, drives every tool.

It comes from npm (``npm install -g @modelcontextprotocol/inspector``) and runs where ``node`` is;
``MUNIMENT_TEST_INSPECTOR`` names its program when it is not on PATH as ``mcp-inspector``.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.cli import SCRIPT

pytest.importorskip("mcp")  # an extra

INSPECTOR = os.environ.get("MUNIMENT_TEST_INSPECTOR") or shutil.which("mcp-inspector")
pytestmark = pytest.mark.skipif(
    INSPECTOR is None or shutil.which("node") is None, reason="needs node and the MCP inspector"
)
SECONDS = 300
SAID = {"event_id": "m1", "role": "user", "session": "s1", "text": "I sail every Sunday."}
REPLY = {"event_id": "m2", "role": "assistant", "session": "s1", "text": "Fair winds."}
PROPOSAL = {"text": "Sails.", "quote": "sail every Sunday", "ref": "m1"}


class Inspector:
    """Asks a server of its own for each call, as the inspector does."""

    def __init__(self, folder: Path) -> None:
        self._config = folder / "servers.json"
        options = ["--root", str(folder / "root"), "--offline", "serve", "mcp"]
        server = {"command": str(SCRIPT), "args": options}
        self._config.write_text(json.dumps({"mcpServers": {"memory": server}}))

    def ask(self, method: str, *options: str) -> Any:
        """Return the answer to a method."""
        assert INSPECTOR is not None
        done = subprocess.run(
            [INSPECTOR, "--cli", "--config", self._config, "--server", "memory",
             "--method", method, *options],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that must succeed; return its document."""
        pairs = [f"{name}={said if isinstance(said, str) else json.dumps(said)}"
                 for name, said in arguments.items()]  # fmt: skip
        options = [part for pair in pairs for part in ("--tool-arg", pair)]
        result = self.ask("tools/call", "--tool-name", tool, *options)
        assert not result.get("isError"), result
        return result["structuredContent"]


def test_the_inspector_drives_every_tool(tmp_path: Path) -> None:
    inspector = Inspector(tmp_path)
    tools = {tool["name"] for tool in inspector.ask("tools/list")["tools"]}
    called = set()

    def call(tool: str, **arguments: Any) -> Any:
        called.add(tool)
        return inspector.call(tool, **arguments)

    assert call("session_append", events=[SAID])["events"][0]["status"] == "appended"
    kept = call("memory_remember", text="I live in Bergen.", key="home", value="Bergen")
    (record,) = kept["records"]
    pack = call("memory_recall", query="where do I live?", token_budget=512)
    assert pack["coverage"] == "supported"
    assert "Bergen" in call("memory_read", ref=pack["citations"][0]["ref"])["text"]
    moved = call("memory_correct", ref=record, value="Oslo")
    assert moved["status"] == "corrected"
    assert call("memory_timeline", about="home")["spans"][-1]["value"] == "Oslo"
    assert call("memory_propose", proposals=[PROPOSAL])["candidates"][0]["status"] == "pending"
    assert call("turn_prepare", session="s1", query="when do I sail?")["tokens_used"]
    done = call("turn_complete", session="s1", events=[REPLY], proposals=[PROPOSAL])
    assert done["events"][0]["status"] == "appended"
    assert call("checkpoint_save", session="s1", goal="plan a trip")["status"] == "created"
    assert call("session_resume", session="s1")["components"]
    assert call("persona_read")["default"] is True

    templates = inspector.ask("resources/templates/list")["resourceTemplates"]
    assert len(templates) == 2
    evidence = "muniment://evidence/" + pack["citations"][0]["ref"].replace(":", "/")
    assert inspector.ask("resources/read", "--uri", evidence)["contents"][0]["text"]
    assert call("memory_forget", refs=[moved["record"]])
    assert called == tools
