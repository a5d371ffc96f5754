"""A thousand calls of parallel clients to one MCP server process: ``make soak``.

Every tool is called, writes among reads, over HTTP by several clients at once or over stdio by as
many tasks. Any error counts as wrong, and so do memory or open files that grow from the first fifth
of the calls to the last.
"""

import argparse
import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import anyio
import httpx2
import psutil
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from support.cli import SCRIPT
from support.mcp_client import READ_SECONDS, http_server, text_of

MIB = 1024**2
MOST_GROWTH_MIB = 24
MOST_FILES_MORE = 12  # calls in hand hold some
NOTES = 60
TOPICS = 7


@dataclass
class Soak:
    """What is asked of one server, and what was seen of it."""

    calls: int
    server: psutil.Process | None = None
    made: int = 0
    done: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    seen: dict[int, tuple[float, int]] = field(default_factory=dict)

    async def work(self, client: Client, name: str) -> None:
        """Call one tool after the other until all calls are made."""
        while self.made < self.calls:
            self.made += 1
            number = self.made
            tool, arguments = call_number(number, name)
            try:
                result = await client.call_tool(tool, arguments)
            except Exception as error:
                self.wrong.append(f"{tool}: {error!r}")
                continue
            if result.is_error:
                self.wrong.append(f"{tool}: {text_of(result)}")
            self.done[tool] += 1
            self.look(number)

    def look(self, number: int) -> None:
        """Note memory (MiB) and open files of the server at every twentieth of the calls."""
        if self.server is not None and number % max(self.calls // 20, 1) == 0:
            memory = self.server.memory_info().rss / MIB
            self.seen[number] = memory, self.server.num_fds()

    def verdict(self) -> list[str]:
        """Return what was wrong."""
        marks = sorted(self.seen)
        first = next(mark for mark in marks if mark >= self.calls // 5)
        (memory, files), (later, open_later) = self.seen[first], self.seen[marks[-1]]
        wrong = list(self.wrong)
        if later - memory > MOST_GROWTH_MIB:
            wrong.append(f"memory grew from {memory:.0f} to {later:.0f} MiB")
        if open_later - files > MOST_FILES_MORE:
            wrong.append(f"open files grew from {files} to {open_later}")
        return wrong

    def told(self) -> str:
        """Return figures for people."""
        marks = [f"{mark}: {self.seen[mark][0]:.0f} MiB, {self.seen[mark][1]} files"
                 for mark in sorted(self.seen)]  # fmt: skip
        counts = ", ".join(f"{tool} {count}" for tool, count in sorted(self.done.items()))
        return "\n".join([counts, *marks])


def call_number(number: int, client: str) -> tuple[str, dict[str, Any]]:
    """Return the tool and arguments of a call: mostly reads, with writes among them."""
    topic, session = number % TOPICS, f"s-{client}"
    said = {"event_id": f"n{number}", "role": "user", "session": session,
            "text": f"Note {number}: the lamp of pier {topic} was lit."}  # fmt: skip
    calls: list[tuple[str, dict[str, Any]]] = [
        ("session_append", {"events": [said]}),
        ("memory_recall", {"query": f"what happened at pier {topic}?"}),
        ("memory_read", {"ref": f"event:seed-{number % NOTES}"}),
        ("memory_recall", {"query": f"lighthouse north of pier {topic}", "token_budget": 256}),
        ("session_resume", {"session": "seed"}),
        ("persona_read", {}),
        ("turn_prepare", {"session": "seed", "query": f"pier {topic}"}),
        ("memory_timeline", {"about": "home"}),
        ("memory_recall", {"query": f"lamp {topic}", "since": "2020"}),
        ("checkpoint_save", {"session": session, "goal": f"light lamp {number}"}),
        ("memory_remember", {"text": f"I like the lamp of pier {topic}."}),
        ("memory_propose", {"proposals": [
            {"text": "Likes piers.", "quote": "lighthouse", "ref": f"seed-{number % NOTES}"}]}),
        ("turn_complete", {"session": session, "events": [{**said, "event_id": f"t{number}"}]}),
    ]  # fmt: skip
    return calls[number % len(calls)]


async def seed(client: Client) -> None:
    """Give every call something to find."""
    notes = [{"event_id": f"seed-{n}", "role": "user", "session": "seed",
              "text": f"Note {n}: a lighthouse stands north of pier {n % TOPICS}."}
             for n in range(NOTES)]  # fmt: skip
    home = {"event_id": "home", "role": "user", "session": "seed", "text": "I live in Bergen."}
    result = await client.call_tool("session_append", {"events": [home, *notes]})
    assert not result.is_error, text_of(result)


@contextlib.asynccontextmanager
async def over_http(url: str, token: str) -> AsyncIterator[Client]:
    """Open a client of its own."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=READ_SECONDS) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield client


def soak_http(folder: Path, calls: int, clients: int) -> Soak:
    """Let several clients call one server over HTTP."""
    soak = Soak(calls)

    async def one(url: str, token: str, name: str) -> None:
        async with over_http(url, token) as client:
            await soak.work(client, name)

    async def main(url: str, token: str) -> None:
        async with over_http(url, token) as client:
            await seed(client)
        async with anyio.create_task_group() as group:
            for number in range(clients):
                group.start_soon(one, url, token, f"client-{number}")

    with http_server(folder / "root", folder / "token") as (url, pid):
        soak.server = psutil.Process(pid)
        anyio.run(main, url, (folder / "token").read_text().strip())
    return soak


def soak_stdio(folder: Path, calls: int, clients: int) -> Soak:
    """Let several tasks call one server over stdio."""
    soak = Soak(calls)
    server = StdioServerParameters(
        command=str(SCRIPT), args=["--root", str(folder / "root"), "--offline", "serve", "mcp"]
    )

    async def main() -> None:
        async with Client(server, read_timeout_seconds=READ_SECONDS) as client:
            (soak.server,) = psutil.Process().children()
            await seed(client)
            async with anyio.create_task_group() as group:
                for number in range(clients):
                    group.start_soon(soak.work, client, f"task-{number}")

    anyio.run(main)
    return soak


TRANSPORTS = {"http": soak_http, "stdio": soak_stdio}


def main() -> int:
    """Run the soak; return 1 when anything was wrong."""
    parser = argparse.ArgumentParser(description="Call an MCP server many times.")
    parser.add_argument("--calls", type=int, default=1_000)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--transport", choices=[*TRANSPORTS], nargs="+", default=[*TRANSPORTS])
    options = parser.parse_args()
    code = 0
    for name in options.transport:
        with tempfile.TemporaryDirectory() as folder:
            soak = TRANSPORTS[name](Path(folder), options.calls, options.clients)
        wrong = soak.verdict()
        sys.stdout.write("\n".join([f"{name}: {soak.told()}", *wrong, f"{len(wrong)} wrong\n"]))
        code = code or int(bool(wrong))
    return code


if __name__ == "__main__":
    sys.exit(main())
