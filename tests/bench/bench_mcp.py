"""Measure ``memory_recall`` of a warm MCP server: ``python tests/bench/bench_mcp.py [PASSAGES]``.

The store is that of ``bench_speed.py``; as many other questions come first. One server process
answers over stdio and one over HTTP; a call that finds nothing is what the transport costs.
``round_trip`` is what the SDK's own client takes in all, ``server`` what passes from the line of a
call to the line of its answer: the rest is the client's. What the tool itself costs is measured on
the same object in this process, as wall and as CPU milliseconds. Prints one JSON line.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import anyio
import httpx2
from bench.bench_speed import Passages, filled
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import LATEST_PROTOCOL_VERSION
from support.cli import SCRIPT
from support.mcp_client import READ_SECONDS, http_server

from muniment.pipeline.options import Session
from muniment.pipeline.serving.tools import Tools

KINDS = ("rare word", "3 mid words", "8 mixed words")
PINGS = 20


def p50(times: list[float]) -> float:
    """Return the median, in milliseconds."""
    return round(sorted(times)[len(times) // 2] * 1_000, 2)


def questions(passages: Passages) -> list[str]:
    """Return the questions of the kinds that people ask, mixed."""
    asked = passages.queries()
    return [query for one in zip(*(asked[kind] for kind in KINDS), strict=True) for query in one]


def inside(root: Path, others: list[str], asked: list[str]) -> dict[str, float]:
    """Ask the tool in this process."""
    tools = Tools(Session({"root": str(root), "offline": True}))
    tools.warm.settle()
    wall, cpu = [], []
    for query in others + asked:
        began, spent = time.perf_counter(), time.process_time()
        tools.recall(query, {"token_budget": 2_000}, None)
        wall.append(time.perf_counter() - began)
        cpu.append(time.process_time() - spent)
    tools.warm.close()
    return {"wall": p50(wall[len(others) :]), "cpu": p50(cpu[len(others) :])}


async def outside(client: Client, others: list[str], asked: list[str]) -> dict[str, float]:
    """Ask a server as its client."""

    async def timed(call: Callable[[], Awaitable[Any]]) -> float:
        began = time.perf_counter()
        await call()
        return time.perf_counter() - began

    for query in others:
        await client.call_tool("memory_recall", {"query": query})
    recall, read = partial(client.call_tool, "memory_recall"), {"ref": "observation:obs_0"}
    trips = [await timed(partial(recall, {"query": query})) for query in asked]
    bare = [await timed(partial(client.call_tool, "memory_read", read)) for _ in range(PINGS)]
    return {"round_trip": p50(trips), "empty_call": p50(bare)}


def over_stdio(root: Path, others: list[str], asked: list[str]) -> dict[str, float]:
    """Start a server on stdio and ask it."""
    server = StdioServerParameters(
        command=str(SCRIPT), args=["--root", str(root), "--offline", "serve", "mcp"],
        env=dict(os.environ),
    )  # fmt: skip

    async def main() -> dict[str, float]:
        async with Client(server, read_timeout_seconds=READ_SECONDS) as client:
            return await outside(client, others, asked)

    return anyio.run(main)


def by_lines(root: Path, others: list[str], asked: list[str]) -> float:
    """Ask a server on stdio as a client that does nothing with an answer but read its line."""
    command = [str(SCRIPT), "--root", str(root), "--offline", "serve", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        to_server, from_server = cast(IO[bytes], server.stdin), cast(IO[bytes], server.stdout)

        def sent(method: str, params: dict[str, Any], number: int | None = None) -> float:
            call = {"jsonrpc": "2.0", "method": method, "params": params}
            began = time.perf_counter()
            to_server.write(json.dumps(call if number is None else {**call, "id": number}).encode())
            to_server.write(b"\n")
            to_server.flush()
            if number is not None and b'"error"' in from_server.readline()[:200]:
                raise RuntimeError(f"the server refused: {method}")
            return time.perf_counter() - began

        about = {"name": "bench", "version": "1"}
        version = {"protocolVersion": LATEST_PROTOCOL_VERSION}
        sent("initialize", {**version, "capabilities": {}, "clientInfo": about}, 0)
        sent("notifications/initialized", {})
        times = [
            sent("tools/call", {"name": "memory_recall", "arguments": {"query": query}}, number)
            for number, query in enumerate(others + asked, 1)
        ]
        to_server.close()
    return p50(times[len(others) :])


def over_http(root: Path, others: list[str], asked: list[str]) -> dict[str, float]:
    """Start a server on loopback and ask it."""
    token = root.parent / "token"

    async def main(url: str) -> dict[str, float]:
        headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=READ_SECONDS) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            return await outside(client, others, asked)

    with http_server(root, token) as (url, _):
        return anyio.run(main, url)


def main() -> None:
    """Build the store and measure."""
    parser = argparse.ArgumentParser(description="Measure a warm MCP server.")
    parser.add_argument("passages", type=int, nargs="?", default=100_000)
    count = parser.parse_args().passages
    with tempfile.TemporaryDirectory() as folder:
        root, cache = Path(folder) / "root", Path(folder) / "cache"
        os.environ["MUNIMENT_CACHE"] = str(cache)
        passages = Passages()
        filled(root, cache, passages, count)
        both = questions(passages), questions(passages)
        figures = {
            "what": "memory_recall, p50 in ms", "passages": count, "questions": len(both[1]),
            "in_process": inside(root, *both),
            "stdio": {"server": by_lines(root, *both), **over_stdio(root, *both)},
            "http": over_http(root, *both),
        }  # fmt: skip
    sys.stdout.write(json.dumps(figures) + "\n")


if __name__ == "__main__":
    main()
