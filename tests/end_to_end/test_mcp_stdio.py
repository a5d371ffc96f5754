"""The process of an MCP server on stdio: what it does with bad lines, signals and closed ends."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")  # an extra

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.cli import SCRIPT
from support.mcp_client import READ_SECONDS

SECONDS = 30.0
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(tool: str, number: int = 1, **arguments: Any) -> bytes:
    """Return the line of a call."""
    params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(asked).encode() + b"\n"


@contextmanager
def server(root: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a server with pipes to all three of its streams."""
    process = subprocess.Popen(
        [SCRIPT, "--root", root, "--offline", "serve", "mcp"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        yield process
        process.kill()


def ask(process: "subprocess.Popen[bytes]", line: bytes) -> Any:
    """Return the result of the next answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    return json.loads(process.stdout.readline())["result"]


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGTERM, 143, b"terminated"), (signal.SIGINT, 130, b"interrupted")],
)
def test_a_signal_ends_it_while_the_client_is_there(
    tmp_path: Path, number: signal.Signals, code: int, word: bytes
) -> None:
    with server(tmp_path / "root") as process:
        ask(process, request("persona_read"))
        process.send_signal(number)
        assert process.wait(SECONDS) == code
        assert process.stderr is not None
        assert word in process.stderr.read()


def test_half_an_emoji_is_taken_in(tmp_path: Path) -> None:
    half = {"event_id": "e1", "role": "user", "text": "half \ud83d emoji \ud83d\ude00"}
    with server(tmp_path / "root") as process:
        kept = ask(process, request("session_append", session="s1", events=[half]))
        assert kept["structuredContent"]["events"][0]["status"] == "appended"
        read = ask(process, request("memory_read", 2, ref="event:e1"))
    assert read["structuredContent"]["text"] == "half \ufffd emoji \U0001f600"


def test_a_client_that_closes_its_end_ends_it(tmp_path: Path) -> None:
    with server(tmp_path / "root") as process:
        ask(process, request("persona_read"))
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SECONDS) == 0


def test_a_client_that_takes_no_answers_any_more_ends_it(tmp_path: Path) -> None:
    with server(tmp_path / "root") as process:
        ask(process, request("persona_read"))
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(request("persona_read"))
        process.stdin.flush()
        assert process.wait(SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_a_client_that_reads_nothing_does_not_keep_it_from_ending(tmp_path: Path) -> None:
    with server(tmp_path / "root") as process:
        ask(process, request("memory_remember", text="x" * 15_000))
        assert process.stdin is not None
        process.stdin.write(request("memory_recall", query="x", token_budget=100_000) * 40)
        process.stdin.flush()
        time.sleep(1)  # the answers fill the pipe
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 143


def test_calls_that_are_piped_in_are_all_answered(tmp_path: Path) -> None:
    with server(tmp_path / "root") as process:
        calls = [request("memory_recall", number, query=f"lake {number}") for number in range(9)]
        told, errors = process.communicate(b"".join(calls), SECONDS)

    answers = [json.loads(one) for one in told.splitlines()]
    assert {one["id"] for one in answers} == set(range(9))
    assert all(one["result"]["structuredContent"]["coverage"] == "none" for one in answers)
    assert (process.returncode, errors) == (0, b"")


def test_answers_that_have_no_room_end_it_with_that_word(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.write_bytes(request("persona_read"))
    command = [str(SCRIPT), "--root", str(tmp_path / "root"), "--offline", "serve", "mcp"]
    with asked.open("rb") as source, Path("/dev/full").open("wb") as sink:
        done = subprocess.run(
            command, stdin=source, stdout=sink, stderr=subprocess.PIPE, timeout=SECONDS, check=False
        )

    assert (done.returncode, b"no_space" in done.stderr) == (13, True)
    assert b"Traceback" not in done.stderr


def test_bad_lines_are_passed_over(tmp_path: Path) -> None:
    with server(tmp_path / "root") as process:
        bad = b"{broken\n\n\xff\xfe\n" + b"[" * 100_000 + b"\n"
        assert ask(process, bad + request("persona_read"))["structuredContent"]["default"] is True


def test_without_a_standard_input_it_says_so(tmp_path: Path) -> None:
    command = [str(SCRIPT), "--root", str(tmp_path / "root"), "serve", "mcp"]
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" "$@" <&-', *command],
        capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


def test_a_client_of_the_older_protocol_is_served(tmp_path: Path) -> None:
    process = StdioServerParameters(
        command=str(SCRIPT), args=["--root", str(tmp_path / "root"), "--offline", "serve", "mcp"]
    )

    async def main() -> None:
        transport = stdio_client(process)
        async with Client(transport, mode="legacy", read_timeout_seconds=READ_SECONDS) as client:
            pack = await client.call_tool("memory_recall", {"query": "where do I live?"})
        assert pack.structured_content["coverage"] == "none"
        assert pack.content

    anyio.run(main)
