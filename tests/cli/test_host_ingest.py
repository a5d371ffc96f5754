"""Host batches: events first, the cursor by compare and set, replays harmless (CONTRACT 7)."""

import hashlib
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


@pytest.mark.parametrize("options", [[], ["--dry-run"]])
def test_another_writer_that_reached_the_same_cursor_is_told(
    agent: Agent, options: list[str]
) -> None:
    batch(agent, "10", None, event(1, "One."))
    batch(agent, "20", "10", event(2, "Two."))

    def again(expect: str, *events: dict[str, Any]) -> Any:
        return agent.answer(
            "host-ingest", "bot", "-", "--stream", "st", "--cursor", "20", "--expect", expect,
            *options, stdin=lines(*events),
        )  # fmt: skip

    others = [event(2, "Two."), event("b2", "Another writer's words.")]
    for said in (again("10", *others), again("20", *others), again("99", event(2, "Two."))):
        assert (said.code, said.json["error"]["code"]) == (12, "cursor_conflict")
    assert agent.answer("show", "event:eb2").code == 4

    own = again("10", event(2, "Two."))
    assert (own.json["status"], own.json["appended"], own.json["known"]) == ("replayed", 0, 1)


@pytest.mark.parametrize(
    ("options", "counts"), [([], {"known": 1}), (["--hard", "--yes"], {"forgotten": 1})]
)
def test_what_was_forgotten_makes_no_other_writer_of_a_replay(
    agent: Agent, options: list[str], counts: dict[str, int]
) -> None:
    batch(agent, "10", None, event(1, "One."))
    agent.run("forget", "event:e1", *options)

    said = batch(agent, "10", None, event(1, "One."))

    assert said["status"] == "replayed"
    assert {name: said[name] for name in counts} == counts


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


@pytest.mark.parametrize("options", [["--dry-run"], []])
def test_turns_dropped_up_to_an_unknown_event_keep_the_batch_out(
    agent: Agent, options: list[str]
) -> None:
    batch(agent, "1", None, event(1, "One."))

    said = agent.run(
        "host-ingest", "bot", "-", "--stream", "st", "--cursor", "2", "--expect", "1",
        "--dropped-through", "nope", *options, stdin=lines(event(2, "Two.")), code=2,
    )  # fmt: skip

    assert said["error"]["code"] == "bad_event"
    assert agent.run("session", "show", "s1")["messages"] == 1
    assert agent.run("host-ingest", "bot", "--show", "--stream", "st")["cursor"] == "1"


def test_turns_dropped_up_to_an_erased_event_do_not_stop_a_host(agent: Agent) -> None:
    batch(agent, "1", None, event(1, "One."), event(2, "Two."))
    agent.run("forget", "--hard", "event:e1", "--yes")

    said = agent.run(
        "host-ingest", "bot", "-", "--stream", "st", "--cursor", "1", "--dropped-through", "e1",
        stdin=lines(event(1, "One."), event(2, "Two.")),
    )  # fmt: skip

    assert (said["status"], said["forgotten"], said["known"]) == ("replayed", 1, 1)


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

    assert said.code == 2
    assert said.json["error"]["code"] == "unreadable"
    assert said.json["error"]["path"] == str(tmp_path / "none.jsonl")


def test_no_path_and_no_plain_digest_of_a_forgotten_transcript_stays(
    agent: Agent, tmp_path: Path
) -> None:
    file = tmp_path / "my zebrafinch diary.jsonl"
    file.write_text(entry(1, "My PIN is tamarillo."))
    agent.run("host-ingest", "claude-code", file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert found_in(agent, "zebrafinch diary")
    assert found_in(agent, digest)

    done = agent.run("forget", "--hard", "--yes", "session:cc")

    assert done["clean"]
    assert not found_in(agent, "zebrafinch diary")
    assert not found_in(agent, digest)
    assert agent.run("host-ingest", "claude-code", file)["status"] == "replayed"
    file.write_text(entry(1, "My PIN is tamarillo.") + entry(2, "Good morning."))
    again = agent.run("host-ingest", "claude-code", file)
    assert (again["status"], again["appended"], again["forgotten"]) == ("advanced", 1, 0)
    file.write_text(entry(3, "Rewritten.") + entry(1, "My PIN is tamarillo."))
    again = agent.run("host-ingest", "claude-code", file)
    assert (again["appended"], again["forgotten"]) == (1, 1)
    assert not found_in(agent, "zebrafinch diary")
    assert not found_in(agent, "tamarillo")
    shown = agent.run("host-ingest", "claude-code", "--show", "--stream", str(file))
    assert "keyed" in json.loads(shown["cursor"])


def test_the_cursor_of_another_host_stays_as_it_is(agent: Agent, tmp_path: Path) -> None:
    file = tmp_path / "kept.jsonl"
    file.write_text(entry(1, "One."))
    agent.run("host-ingest", "claude-code", file)
    batch(agent, "10", None, event(1, "My PIN is tamarillo.", session="s2"))

    assert agent.run("forget", "--hard", "--yes", "session:s2")["clean"]

    assert found_in(agent, "kept.jsonl")
    assert batch(agent, "20", "10", event(2, "Two."))["status"] == "advanced"


def found_in(agent: Agent, text: str) -> bool:
    files = [path for path in agent.root.rglob("*") if path.is_file()]
    return any(text.encode() in path.read_bytes() for path in files)
