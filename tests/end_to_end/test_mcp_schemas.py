"""What the MCP tools take and return: unknown arguments are named, answers fit their schemas."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")  # an extra

from mcp.client import Client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, TypeAdapter
from support.agents import Agent, event
from support.mcp_client import call, refused, run

from muniment.pipeline.recall.schema import MemoryPack
from muniment.pipeline.refs import KINDS
from muniment.pipeline.serving import returns
from muniment.pipeline.serving.objects_read import ADAPTER, read_schema

ANSWERS: dict[str, type[BaseModel]] = {
    "memory_recall": MemoryPack,
    "memory_timeline": returns.Timeline,
    "persona_read": returns.Persona,
    "memory_remember": returns.Remembered,
    "memory_propose": returns.ProposedAll,
    "memory_correct": returns.Corrected,
    "memory_forget": returns.Forgotten,
    "session_append": returns.Appended,
    "session_resume": returns.Resumed,
    "turn_prepare": returns.Prepared,
    "turn_complete": returns.TurnDone,
    "checkpoint_save": returns.CheckpointSaved,
}


class Asking:
    """Calls tools and holds every answer against its record, down to a field too many."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.called: set[str] = set()
        self.read: set[str] = set()

    async def __call__(self, tool: str, **arguments: Any) -> Any:
        # The client holds the answer against the schema that was served, too.
        said = await call(self._client, tool, **arguments)
        self.called.add(tool)
        if tool == "memory_read":
            self.read.add(said["object"])
        adapter = ADAPTER if tool == "memory_read" else TypeAdapter(ANSWERS[tool])
        adapter.validate_json(json.dumps(said), extra="forbid")
        return said


def said(number: int, text: str, **fields: Any) -> dict[str, Any]:
    return {"event_id": f"e{number}", "role": "user", "text": text, **fields}


PROPOSALS = [
    {"text": "Is happy.", "quote": "happy", "ref": "e2"},
    {"text": "Is sad.", "quote": "sad", "ref": "e2"},
]


async def talk(ask: Asking) -> None:
    """Call what keeps a conversation and a task."""
    await ask("session_resume", session="s1")
    await ask(
        "session_append", session="s1",
        events=[
            said(2, "I feel happy about the boat."), said(1, "Other words."),
            said(3, "and then", category="voice_fragment"),
            said(4, "I live in Oslo now.", occurred_at="2026-03-01T10:00:00+01:00"),
            said(5, "Reference text.", category="reference"),
        ],
    )  # fmt: skip
    saved = [
        await ask("checkpoint_save", session="s1", goal="find a flat", pending=["call"])
        for _ in range(2)
    ]
    assert [one["status"] for one in saved] == ["created", "known"]
    done = await ask(
        "turn_complete", session="s1", events=[said(6, "Noted.", role="assistant"), said(1, "x")],
        proposals=PROPOSALS,
    )  # fmt: skip
    assert [one["status"] for one in done["events"]] == ["appended", "failed"]
    assert [one["code"] for one in done["proposals"]] == [None, "quote_mismatch"]


async def change(ask: Asking) -> list[str]:
    """Call what changes memory; return the references of what it made."""
    kept = await ask("memory_remember", text="My boat is red.", key="boat", value="red")
    assert (await ask("memory_remember", text="My boat is red."))["status"] == "known"
    (record,) = kept["records"]
    corrected = await ask("memory_correct", ref=record, value="blue")
    assert corrected["status"] == "corrected"
    repeated = await ask("memory_correct", ref=record, value="blue")
    assert repeated == {**corrected, "status": "unchanged"}
    proposed = await ask("memory_propose", proposals=PROPOSALS)
    assert [one["status"] for one in proposed["candidates"]] == ["pending", "failed"]
    return [corrected["record"], proposed["candidates"][0]["ref"]]


async def look(ask: Asking, refs: list[str]) -> None:
    """Call what only reads."""
    for query in ("where do I live?", "nothing of the kind"):
        pack = await ask("memory_recall", query=query, session="s1", include_history=True)
        assert pack["sections"]
        for session in ("s1", "new"):
            await ask("turn_prepare", session=session, query=query)
    await ask("session_resume", session="s1", query="where do I live?")
    await ask("session_resume", session="s1", token_budget=256)
    await ask("memory_timeline", about="user")
    await ask("persona_read")
    shown = await ask("memory_read", ref="event:e4")
    for ref in (*refs, "event:e3", "session:s1", "persona:1", *shown["observations"]):
        await ask("memory_read", ref=ref)


async def everything(client: Client, refs: list[str]) -> None:
    ask = Asking(client)
    await talk(ask)
    made = await change(ask)
    await look(ask, [*refs, *made])
    for status in ("forgotten", "unchanged"):
        assert (await ask("memory_forget", refs=made[:1]))["status"] == status

    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert ask.called == set(tools)
    assert ask.read == set(KINDS)
    for name, tool in tools.items():
        assert tool.input_schema["additionalProperties"] is False
        if name not in {"memory_recall", "memory_read"}:
            assert tool.output_schema == returns.schema_of(ANSWERS[name])
    assert tools["memory_read"].output_schema == read_schema()


def test_every_tool_returns_what_its_schema_says(tmp_path: Path) -> None:
    root, agent = tmp_path / "root", Agent(tmp_path / "root")
    agent.append(event(1, "I live in Rome with Alice Smith."))
    agent.append(event(10, "I will forget this.", session="s2"))
    for text in ("You are Ada.", "You are Ada, brief and kind."):
        agent.run("persona", "set", text)
    agent.run("forget", "event:e10")
    for month in ("03", "04"):
        chat = tmp_path / f"{month}.txt"
        chat.write_text(f"2026-{month}-01 10:00 Ann: Tea?\n2026-{month}-01 10:05 Bob: Tea.\n")
        agent.run("ingest", chat, "--no-embeddings")
    agent.run("entities", "merge", "--all-proposed", "same_name")
    kinds = ("assets", "episodes", "entities", "runs", "tombstones", "topics")
    refs = [agent.run("list", kind)["items"][0]["ref"] for kind in kinds]

    run(root, lambda client: everything(client, refs))


def test_an_argument_that_a_tool_does_not_take_is_named(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        await call(client, "session_append", session="s1", events=[said(1, "The harbour.")])
        misspelt = await refused(client, "memory_recall", query="x", in_sesion="s1")
        assert "'in_sesion' (did you mean 'in_session'?)" in misspelt
        assert "it takes query, token_budget, kind" in misspelt
        for name, value in (("min_confidence", 1.1), ("token_budget", 10)):
            told = await refused(client, "memory_recall", query="x", **{name: value})
            assert f"{name}: Input should be" in told
        told = await refused(client, "persona_read", secret="a-word")
        assert "'secret'" in told
        assert "a-word" not in told
        assert "pydantic" not in told

    run(tmp_path / "root", conversation)


def test_recall_can_be_narrowed_as_on_the_command_line(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        await call(client, "session_append", session="s1", events=[said(1, "The old harbour.")])
        for wide in ({}, {"media": ["event"]}, {"min_confidence": 0.5}):
            pack = await call(client, "memory_recall", query="harbour", **wide)
            assert pack["citations"]
        for narrow in ({"media": ["image"]}, {"path": "/nowhere"}):
            pack = await call(client, "memory_recall", query="harbour", **narrow)
            assert (pack["coverage"], pack["citations"]) == ("none", [])
        assert "nonsense" in await refused(
            client, "memory_recall", query="harbour", media=["nonsense"]
        )

    run(tmp_path / "root", conversation)


def test_a_session_is_read_in_pages(tmp_path: Path) -> None:
    texts = [f"Note {n} {'x' * 300}" for n in range(40)] + ["y" * 5_000, "The end."]

    async def conversation(client: Client) -> None:
        events = [said(n, text) for n, text in enumerate(texts)]
        await call(client, "session_append", session="s1", events=events)
        found: list[dict[str, Any]] = []
        offset: int | None = 0
        while offset is not None:
            page = await call(client, "memory_read", ref="session:s1", offset=offset, limit=2_000)
            assert len(page["events"]) == 1 or len(json.dumps(page["events"])) < 2_100
            found += page["events"]
            offset = page["next_offset"]
        assert [one["text"] for one in found] == [text[:2_000] for text in texts]
        assert [one["text_characters"] for one in found] == [len(text) for text in texts]
        rest = await call(client, "memory_read", ref="event:e40", offset=2_000)
        assert (rest["text"], rest["next_offset"]) == ("y" * 3_000, None)

    run(tmp_path / "root", conversation)


def test_what_is_no_resource_is_told_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async def conversation(client: Client) -> None:
        await call(client, "session_append", session="s1", events=[said(1, "The harbour.")])
        for uri, told in (
            ("muniment://evidence/entity/x", "no entity x"),
            ("muniment://evidence/folder/x", "the kinds are asset"),
            ("muniment://evidence/record/rec_1@x", "not a number"),
            ("muniment://evidence/event/a%2Fb", "no event a/b"),
            ("muniment://evidence/event/..%2F..%2Fx", "event"),
            ("muniment://pack/x", "no longer kept"),
        ):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert told in str(caught.value)

    run(tmp_path / "root", conversation)

    assert "Traceback" not in capfd.readouterr().err
