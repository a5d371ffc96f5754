"""The MCP server as clients meet it: the SDK's own client against the real process."""

import json
import stat
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")  # an extra

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from support.agents import Agent, event, texts
from support.mcp_client import call, http_server, read, refused, run, text_of
from support.stores import TinyStore

from muniment.pipeline.recall.schema import MemoryPack, PackCitation
from muniment.pipeline.stages.follow import BATCH
from muniment.store import manifest
from muniment.store.layout import Root

READING = {
    "memory_recall", "memory_read", "memory_timeline", "persona_read", "session_resume",
    "turn_prepare",
}  # fmt: skip
WRITING = {
    "memory_remember", "memory_propose", "memory_correct", "memory_forget", "session_append",
    "checkpoint_save", "turn_complete",
}  # fmt: skip


def events(*texts: str, session: str = "s1", start: int = 1) -> list[dict[str, Any]]:
    return [
        {"event_id": f"{session}-{n}", "role": "user", "text": text, "session": session}
        for n, text in enumerate(texts, start)
    ]


def test_every_tool_has_a_schema_and_says_whether_it_changes_anything(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) >= READING | WRITING
        for name, tool in tools.items():
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint is (name in READING)
            assert tool.annotations.open_world_hint is False
            assert tool.description
            assert tool.input_schema["type"] == "object"
            json.dumps(tool.input_schema)
        correct = tools["memory_correct"].annotations
        assert correct is not None
        assert correct.destructive_hint is True
        recall = tools["memory_recall"]
        assert recall.output_schema is not None
        cited = recall.output_schema["properties"]["citations"]
        assert (cited["type"], cited["x-items"]) == ("array", {"$ref": "#/$defs/PackCitation"})
        told = recall.output_schema["$defs"]["PackCitation"]
        assert told["required"] == list(PackCitation.model_fields)
        assert "final" in str(tools["session_append"].input_schema)
        templates = (await client.list_resource_templates()).resource_templates
        assert {one.uri_template for one in templates} == {
            "muniment://pack/{identity}", "muniment://evidence/{kind}/{identity}",
        }  # fmt: skip

    run(tmp_path / "root", conversation)


def test_what_was_said_is_recalled_read_corrected_and_followed(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        said = await call(client, "session_append", events=events("I live in Bergen.", "Hello!"))
        assert [one["status"] for one in said["events"]] == ["appended", "appended"]
        again = await call(client, "session_append", events=events("I live in Bergen."))
        assert again["events"][0]["status"] == "known"

        result = await client.call_tool("memory_recall", {"query": "where do I live?"})
        pack = result.structured_content
        MemoryPack.model_validate_json(json.dumps(pack))
        assert pack["coverage"] == "supported"
        assert result.meta is not None
        assert await read(client, result.meta["muniment/pack"]) == text_of(result)
        assert text_of(result).startswith("# Memory: where do I live?")

        ref = pack["citations"][0]["ref"]
        page = await call(client, "memory_read", ref=ref, limit=6)
        assert (page["text"], page["next_offset"]) == ("I live", 6)
        rest = await call(client, "memory_read", ref=ref, offset=6)
        assert (rest["text"], rest["next_offset"]) == (" in Bergen.", None)
        evidence = await read(client, "muniment://evidence/" + ref.replace(":", "/"))
        assert json.loads(evidence)["text"] == "I live in Bergen."

        corrected = await call(client, "memory_correct", ref=record_in(pack), value="Oslo")
        assert corrected["status"] == "corrected"
        line = await call(client, "memory_timeline", about="home")
        assert line["spans"][-1]["value"] == "Oslo"

    run(tmp_path / "root", conversation)


def record_in(pack: dict[str, Any]) -> str:
    refs = [item["ref"] or "" for section in pack["sections"] for item in section["items"]]
    return next(ref for ref in refs if ref.startswith("record:"))


def test_a_task_is_kept_and_taken_up(tmp_path: Path) -> None:
    root = tmp_path / "root"
    Agent(root).run("persona", "set", "You are Ada, brief and kind.")
    proposal = {"text": "Greets people.", "quote": "Hello!", "ref": "s1-1"}

    async def conversation(client: Client) -> None:
        await call(client, "session_append", events=events("Hello!"))
        remembered = await call(client, "memory_remember", text="I am allergic to shellfish.")
        assert remembered["records"]
        proposed = await call(client, "memory_propose", proposals=[proposal])
        assert [one["status"] for one in proposed["candidates"]] == ["pending"]
        saved = await call(
            client, "checkpoint_save", session="s1", goal="find a flat", pending=["call Kari"],
            last_event="s1-1",
        )  # fmt: skip
        assert saved["status"] == "created"
        assert (await call(client, "persona_read"))["text"] == "You are Ada, brief and kind."
        resumed = await call(client, "session_resume", session="s1")
        assert [one["name"] for one in resumed["components"]][:2] == ["persona", "checkpoint"]
        turn = await call(client, "turn_prepare", session="s1", query="what am I allergic to?")
        assert turn["pack"]["coverage"] == "supported"
        assert turn["tokens_used"] <= turn["token_budget"]
        done = await call(
            client, "turn_complete", session="s1", events=events("I sail on Sundays.", start=2),
            proposals=[{"text": "Sails.", "quote": "I sail", "ref": "s1-2"}],
        )  # fmt: skip
        assert [one["status"] for one in done["events"]] == ["appended"]
        assert [one["status"] for one in done["proposals"]] == ["pending"]

    run(root, conversation)

    assert Agent(root).run("verify")["damaged"] is False


def test_what_is_forgotten_stays_so_whatever_is_said_next(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        said = await call(client, "memory_remember", text="I live in Rome")
        (record,) = said["records"]
        assert (await call(client, "memory_forget", refs=[record]))["status"] == "forgotten"
        done = event("a1", "Done, forgotten.", role="assistant")
        await call(client, "session_append", events=[done])

        pack = await call(client, "memory_recall", query="where do I live?")
        assert (pack["coverage"], texts(pack)) == ("none", [])
        for ref in (record, said["observation"]):
            assert "not_found" in await refused(client, "memory_read", ref=ref)

    run(tmp_path / "root", conversation)


def test_errors_say_what_to_do_next(tmp_path: Path) -> None:
    async def conversation(client: Client) -> None:
        await call(client, "session_append", events=events("Hello there."))
        assert "not_found" in await refused(client, "memory_read", ref="observation:obs_none")
        assert "reference" in await refused(client, "memory_read", ref="/etc/passwd")
        assert "can't be forgotten" in await refused(client, "memory_forget", refs=["scope:."])
        assert "copy the words exactly" in await refused(
            client, "memory_propose", proposals=[{"text": "x", "quote": "Bye", "ref": "s1-1"}]
        )
        assert "event_conflict" in str(
            await call(client, "session_append", events=events("Something else."))
        )
        assert "not_found" in await refused(client, "session_resume", session="nobody")
        assert "256" in await refused(client, "memory_recall", query="x", token_budget=10)
        assert "bad_time" in await refused(client, "memory_recall", query="x", since="someday")
        assert "session_append" in await refused(client, "session_append", events=[{"text": "x"}])
        assert "unknown" in (await refused(client, "memory_erase_everything")).lower()
        for uri in ("muniment://pack/0", "muniment://evidence/observation/obs_0", "file:///x"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    run(tmp_path / "root", conversation)


def test_progress_is_told_and_readers_go_on_beside_a_writer(tmp_path: Path) -> None:
    told: list[float] = []

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def conversation(client: Client) -> None:
        many = events(*(f"Note number {n} about the harbour." for n in range(250)))
        await call(client, "session_append", events=many[:1])
        answered: list[bool] = []

        async def write() -> None:
            result = await client.call_tool(
                "session_append", {"events": many}, progress_callback=progress
            )
            assert not result.is_error

        async def read() -> None:
            for _ in range(5):
                result = await client.call_tool("memory_recall", {"query": "harbour"})
                answered.append(not result.is_error)

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            group.start_soon(read)
        assert answered == [True] * 5

    run(tmp_path / "root", conversation)

    assert told == [100, 200, 250]


STORIES = {
    "en": {
        "told": "I live in Bergen.", "changed": "I live in Oslo now.", "asked": "where do I live?",
        "old": "Bergen", "new": "Oslo", "right": "Tromsø", "goal": "find a flat",
        "later": "The ferry was late.",
    },
    "zh": {
        "told": "我住在上海。", "changed": "我现在住在北京。", "asked": "我住在哪里？",
        "old": "上海", "new": "北京", "right": "广州", "goal": "找房子",
        "later": "渡轮晚点了。",
    },
}  # fmt: skip


def claims(pack: dict[str, Any]) -> list[str]:
    """Return what a pack claims, having held every claim against its evidence."""
    MemoryPack.model_validate_json(json.dumps(pack))
    assert pack["tokens_used"] <= pack["token_budget"]
    known = {one["id"] for one in pack["citations"]}
    items = [item for section in pack["sections"] if section["name"] in {"profile", "records"}
             for item in section["items"]]  # fmt: skip
    assert all(item["citations"] and set(item["citations"]) <= known for item in items)
    return [item["text"] for item in items]


async def asked(client: Client, story: dict[str, str], **options: Any) -> dict[str, Any]:
    pack: dict[str, Any] = await call(client, "memory_recall", query=story["asked"], **options)
    return pack


def says(pack: dict[str, Any], here: str, *gone: str) -> None:
    found = claims(pack)
    assert pack["coverage"] == "supported"
    assert any(here in text for text in found)
    assert not [text for text in found for one in gone if one in text]


def is_silent(pack: dict[str, Any], *gone: str) -> None:
    """Hold that no section tells what is gone, nor any quote, as evidence or as an episode."""
    claims(pack)
    told = [item["text"] for section in pack["sections"] for item in section["items"]]
    told += [one["quote"] for one in pack["citations"]]
    assert not [text for text in told for one in gone if one in text]


async def first_session(client: Client, story: dict[str, str]) -> None:
    """State a fact, change it, leave the task."""
    old, new = story["old"], story["new"]
    empty = await asked(client, story)
    assert (empty["coverage"], claims(empty), empty["citations"]) == ("none", [], [])
    await call(client, "session_append", events=events(story["told"]))
    pack = await asked(client, story)
    says(pack, old)
    assert all(one["quote"] in story["told"] for one in pack["citations"])
    await call(client, "session_append", events=events(story["changed"], start=2))
    says(await asked(client, story), new, old)
    assert old in str(claims(await asked(client, story, include_history=True)))
    line = await call(client, "memory_timeline", about="home")
    assert [span["value"] for span in line["spans"]] == [old, new]
    saved = await call(
        client, "checkpoint_save", session="s1", goal=story["goal"], done=[story["told"]],
        next_action=story["asked"], last_event="s1-2",
    )  # fmt: skip
    assert saved["status"] == "created"


async def second_session(client: Client, story: dict[str, str]) -> None:
    """Take the task up, ask, correct, forget."""
    old, new, right = story["old"], story["new"], story["right"]
    resumed = await call(client, "session_resume", session="s1")
    assert [one["name"] for one in resumed["components"]][:2] == ["persona", "checkpoint"]
    assert story["goal"] in str(resumed["components"][1])
    assert new in str([one for one in resumed["components"] if one["name"] == "memories"])
    await call(client, "session_append", events=events(story["asked"], session="s2"))
    pack = await asked(client, story, session="s2")
    says(pack, new, old)

    corrected = await call(client, "memory_correct", ref=record_in(pack), value=right)
    assert corrected["status"] == "corrected"
    pack = await asked(client, story)
    says(pack, right, new, old)
    is_silent(pack, new)
    stale = await call(client, "session_resume", session="s1")
    assert "checkpoint" not in [one["name"] for one in stale["components"]]

    await call(client, "memory_forget", refs=[record_in(pack)])
    for later in ((), (story["later"],)):
        if later:
            await call(client, "session_append", events=events(*later, session="s2", start=2))
        for options in ({}, {"session": "s2"}):
            is_silent(await asked(client, story, **options), right, new)
        is_silent(await asked(client, story, include_history=True), right)
        for value in (right, new):
            is_silent(await call(client, "memory_recall", query=value), right, new)
        turn = await call(client, "turn_prepare", session="s2", query=story["asked"])
        is_silent(turn["pack"], right, new)


@pytest.mark.parametrize("language", STORIES)
def test_a_story_of_two_sessions(tmp_path: Path, language: str) -> None:
    """State a fact, change it; another agent takes the task up, asks, corrects, forgets."""
    root, story = tmp_path / "root", STORIES[language]

    run(root, lambda client: first_session(client, story), "--agent", "first")
    run(root, lambda client: second_session(client, story), "--agent", "second")

    assert Agent(root).run("verify")["damaged"] is False
    agents = {item["id"]: item["agent"] for item in Agent(root).run("list", "sessions")["items"]}
    assert agents == {"s1": "first", "s2": "second"}


def test_a_call_that_is_taken_back_stops_and_leaves_no_half_state(tmp_path: Path) -> None:
    root = tmp_path / "root"
    many = events(*(f"Note number {n} about the harbour." for n in range(1_000)))

    async def conversation(client: Client) -> None:
        await call(client, "session_append", events=many[:1])
        begun, scope = anyio.Event(), anyio.CancelScope()

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            begun.set()

        async def write() -> None:
            with scope:
                await client.call_tool(
                    "session_append", {"events": many}, progress_callback=progress
                )

        async with anyio.create_task_group() as group:
            group.start_soon(write)
            await begun.wait()
            scope.cancel()
        pack = await call(client, "memory_recall", query="harbour")
        assert pack["coverage"] == "supported"

    run(root, conversation)

    kept = Agent(root).run("session", "show", "s1")["messages"]
    assert 0 < kept < 1_000
    assert kept % 100 == 0
    assert Agent(root).run("verify")["damaged"] is False


def test_a_recall_that_must_index_first_tells_how_far_it_is_and_can_be_taken_back(
    tmp_path: Path,
) -> None:
    root = tmp_path / "root"
    manifest.initialize(Root(root))
    store = TinyStore(root)
    lines = BATCH + 100
    store.chat([("Ann", f"Line {n} about the harbour.", None) for n in range(lines)])
    store.close()
    told: list[tuple[float, float | None]] = []

    async def conversation(client: Client) -> None:
        scope = anyio.CancelScope()

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            told.append((progress, total))
            scope.cancel()

        with scope:
            await client.call_tool("memory_recall", {"query": "x"}, progress_callback=progress)
        pack = await call(client, "memory_recall", query=f"line {lines - 1} harbour")
        assert any(f"Line {lines - 1} " in one["quote"] for one in pack["citations"])

    run(root, conversation)

    assert told[0] == (BATCH, lines)


def test_over_http_only_the_token_opens_it(tmp_path: Path) -> None:
    root, secret = tmp_path / "root", tmp_path / "token"
    Agent(root).append(event(1, "Remember that I am allergic to peanuts."))

    async def conversation(url: str, token: str) -> None:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Basic {token}"}):
            async with httpx2.AsyncClient() as http:
                assert (await http.post(url, json={}, headers=headers)).status_code == 401
        allowed = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        async with httpx2.AsyncClient() as http:
            evil = await http.post(url, json={}, headers={**allowed, "Host": "evil.example"})
            page = await http.post(
                url, json={}, headers={**allowed, "Origin": "https://evil.example"}
            )
        assert evil.status_code in {400, 403, 421}
        assert page.status_code in {400, 403, 421}
        async with (
            httpx2.AsyncClient(headers=allowed) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            pack = await call(client, "memory_recall", query="what am I allergic to?")
            assert pack["coverage"] == "supported"

    with http_server(root, secret) as (url, _):
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600
        anyio.run(conversation, url, secret.read_text().strip())


def test_many_calls_of_parallel_clients_leave_memory_flat(tmp_path: Path) -> None:
    root, secret = tmp_path / "root", tmp_path / "token"
    notes = [event(n, f"Note {n}: the {n}th lighthouse stands north of pier {n % 7}.")
             for n in range(60)]  # fmt: skip
    Agent(root).append(*notes)
    writer_codes: list[int] = []

    def write_beside() -> None:
        for n in range(3):
            said = Agent(root).answer(
                "--lock-wait", "30", "remember", f"The {n}th boat is moored at pier {n}."
            )
            writer_codes.append(said.code)

    async def client_of(url: str, token: str, calls: int) -> None:
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            for n in range(calls):
                await call(client, "memory_recall", query=f"pier {n % 7}", token_budget=256)

    async def clients(url: str, token: str, calls: int) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(4):
                group.start_soon(client_of, url, token, calls)

    with http_server(root, secret) as (url, pid):
        token = secret.read_text().strip()
        anyio.run(clients, url, token, 10)
        before = _resident(pid)
        beside = threading.Thread(target=write_beside)
        beside.start()
        anyio.run(clients, url, token, 40)
        beside.join()
        assert _resident(pid) - before < 24 * 1024 * 1024
    assert writer_codes == [0, 0, 0]


def _resident(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4096
