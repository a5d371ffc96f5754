"""Host batches: events first, the cursor by compare and set, replays harmless (CONTRACT 7)."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from support.agents import Agent, event, lines
from support.cli import execute


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "root")


def batch(
    agent: Agent, cursor: str, expect: str | None, *events: dict[str, Any], code: int = 0
) -> Any:
    options = ["--stream", "st", "--cursor", cursor, *(["--expect", expect] if expect else [])]
    return agent.run("host-ingest", "bot", "-", *options, stdin=lines(*events), code=code)


def test_a_batch_moves_the_cursor_that_it_was_read_from(agent: Agent) -> None:
    assert agent.run("host-ingest", "bot", "--show", "--stream", "st")["cursor"] is None

    assert batch(agent, "10", None, event(1, "One."))["status"] == "advanced"
    assert batch(agent, "20", "10", event(2, "Two."))["appended"] == 1

    assert agent.run("host-ingest", "bot", "--show", "--stream", "st")["cursor"] == "20"
    assert agent.run("session", "show", "s1")["host"] == "bot"


def test_a_batch_whose_answer_was_lost_is_taken_once(agent: Agent) -> None:
    batch(agent, "10", None, event(1, "One."))

    again = batch(agent, "10", None, event(1, "One."))

    assert (again["status"], again["appended"], again["known"]) == ("replayed", 0, 1)


def test_another_writer_is_told_and_nothing_of_its_batch_is_taken(agent: Agent) -> None:
    batch(agent, "10", None, event(1, "One."))
    batch(agent, "20", "10", event(2, "Two."))

    said = batch(agent, "21", "10", event(3, "Three."), code=12)

    assert said["error"]["code"] == "cursor_conflict"
    assert agent.answer("show", "event:e3").code == 4
    assert agent.run("host-ingest", "bot", "--show", "--stream", "st")["cursor"] == "20"


def test_of_many_writers_at_once_one_wins(agent: Agent, tmp_path: Path) -> None:
    batch(agent, "0", None, event(0, "Zero."))
    codes: list[int] = []

    def write(n: int) -> None:
        said = execute(
            "--json", "--root", agent.root, "--lock-wait", "60", "host-ingest", "bot", "-",
            "--stream", "st", "--cursor", f"c{n}", "--expect", "0", "--no-proposals",
            stdin=lines(event(100 + n, f"Number {n}.")),
        )  # fmt: skip
        codes.append(said.code)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert sorted(codes) == [0, 12, 12]
    assert agent.run("session", "show", "s1")["messages"] == 2


def test_an_older_cursor_does_not_bring_back_what_was_known(agent: Agent) -> None:
    """A host that lost its place sends everything again from its beginning."""
    batch(agent, "10", None, event(1, "One."), event(2, "Two."))

    said = batch(agent, "5", "10", event(1, "One."))

    assert (said["status"], said["known"]) == ("advanced", 1)
    assert agent.run("session", "show", "s1")["messages"] == 2


def test_a_line_that_is_no_event_keeps_none_from_going_in(agent: Agent) -> None:
    said = agent.run(
        "host-ingest", "bot", "-", "--stream", "s", "--cursor", "1",
        stdin=b"oops\n" + lines(event(1, "One.")), code=3,
    )  # fmt: skip

    assert (said["appended"], said["failed"][0]["code"]) == (1, "bad_event")


@pytest.mark.parametrize("options", [[], ["--stream", "s"], ["--cursor", "1"]])
def test_a_batch_needs_stream_and_cursor(agent: Agent, options: list[str]) -> None:
    assert agent.answer("host-ingest", "bot", "-", *options).code == 2


def test_turns_that_the_host_dropped_are_digested(agent: Agent) -> None:
    events = [event(n, f"We talked about part {n} of the long plan.") for n in range(1, 6)]
    agent.run(
        "host-ingest", "bot", "-", "--stream", "s", "--cursor", "1", "--dropped-through", "e4",
        stdin=lines(*events),
    )  # fmt: skip

    digest = agent.run("session", "show", "s1")["digest"]

    assert "part 4" in digest
    assert "part 5" not in digest


def entry(n: int, text: str, **fields: Any) -> str:
    found = {"type": "user", "uuid": f"u{n}", "sessionId": "cc", "message": {"content": text}}
    return json.dumps({**found, **fields}) + "\n"


def test_a_transcript_is_followed_from_where_it_was_left(agent: Agent, tmp_path: Path) -> None:
    file = tmp_path / "cc.jsonl"
    file.write_text(entry(1, "One.") + entry(2, "Two\u2028lines.") + entry(3, "Half")[:-20])
    assert agent.run("host-ingest", "claude-code", file)["appended"] == 2
    assert agent.run("host-ingest", "claude-code", file)["status"] == "replayed"

    file.write_text(entry(1, "One.") + entry(2, "Two\u2028lines.") + entry(3, "Half"))
    assert agent.run("host-ingest", "claude-code", file)["appended"] == 1

    file.write_text(entry(4, "Rewritten.") + entry(1, "One."))
    said = agent.run("host-ingest", "claude-code", file)
    assert (said["appended"], said["known"]) == (1, 1)
    shown = agent.run("session", "show", "cc")
    assert [one["text"] for one in shown["events"]] == [
        "One.", "Two\u2028lines.", "Half", "Rewritten.",
    ]  # fmt: skip


def test_a_sub_agents_orders_are_not_the_users_words(agent: Agent, tmp_path: Path) -> None:
    file = tmp_path / "cc.jsonl"
    file.write_text(entry(1, "Remember that I am allergic to nuts.", isSidechain=True))

    agent.run("host-ingest", "claude-code", file)

    assert agent.run("list", "records")["items"] == []


def test_a_transcript_that_is_not_there_is_told(agent: Agent, tmp_path: Path) -> None:
    said = agent.answer("host-ingest", "claude-code", tmp_path / "none.jsonl")

    assert said.code == 3
    assert said.json["error"]["code"] == "unreadable"
