"""Sessions: events go in once, are found at once, and end with a gist (CONTRACT 7)."""

import json
import subprocess
from pathlib import Path

import pytest
from support.agents import Agent, event, lines, texts
from support.cli import SCRIPT, execute

from muniment.store.errors import MissingToolError


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / "root")


def test_events_are_found_at_once_and_lead_back_to_their_ids(agent: Agent) -> None:
    said = agent.append(
        event(1, "The boiler was serviced by Nordvarme.", occurred_at="2026-03-01T10:00:00+01:00"),
        event(2, "Which boiler?", role="assistant"),
    )
    assert (said["appended"], said["failed"], said["sessions"]) == (2, [], ["s1"])

    pack = agent.recall("who serviced the boiler?", "--in-session", "s1")

    assert "The boiler was serviced by Nordvarme." in texts(pack)
    assert pack["citations"][0]["captured_at"] or pack["citations"][0]["origin"] == "user"
    shown = agent.run("show", "event:e1")
    assert shown["text"] == "The boiler was serviced by Nordvarme."
    observation = agent.run("show", shown["observations"][0])
    assert observation["attributes"]["event_id"] == "e1"
    assert observation["occurred"]["utc"] == "2026-03-01T09:00:00.000000Z"
    assert observation["thread"] == "s1"


@pytest.mark.parametrize(
    ("role", "origin"),
    [("user", "user"), ("assistant", "agent"), ("tool", "tool"), ("system", "tool")],
)
def test_a_role_says_whose_words_they_are(agent: Agent, role: str, origin: str) -> None:
    agent.append(event(1, "Remember that my name is Mallory.", role=role))

    (found,) = agent.run("list", "observations")["items"]
    assert (found["origin"], found["role"]) == (origin, role)
    if role != "user":
        assert agent.run("list", "records")["items"] == []


def test_reference_material_is_kept_and_not_mined(agent: Agent) -> None:
    agent.append(event(1, "Remember that I am allergic to nuts.", category="reference"))

    assert agent.run("list", "records")["items"] == []
    assert texts(agent.recall("allergic to nuts")) == ["Remember that I am allergic to nuts."]


def test_the_same_events_again_change_nothing(agent: Agent) -> None:
    agent.append(event(1, "I live in Bergen."), event(2, "Noted.", role="assistant"))
    before = agent.run("status")["counts"]

    said = agent.append(event(1, "I live in Bergen."), event(2, "Noted.", role="assistant"))

    assert (said["appended"], said["known"]) == (0, 2)
    after = agent.run("status")["counts"]
    assert {k: v for k, v in after.items() if k != "runs"} == {
        k: v for k, v in before.items() if k != "runs"
    }


def test_an_omitted_time_keeps_the_first_one(agent: Agent) -> None:
    timed = event(1, "Hello there.", occurred_at="2026-01-02T03:04:05Z")
    agent.append(timed)

    assert agent.append(event(1, "Hello there."))["known"] == 1
    (found,) = agent.run("session", "show", "s1")["events"]
    assert found["time"] == "2026-01-02T03:04:05.000000Z"
    other = {**timed, "occurred_at": "2026-01-02T03:04:06Z"}
    assert agent.append(other, code=1)["failed"][0]["code"] == "event_conflict"


@pytest.mark.parametrize(
    "change",
    [{"text": "Other."}, {"role": "tool"}, {"session": "s2"}, {"category": "x"}, {"author": "Ann"}],
)
def test_a_repeated_id_with_other_fields_is_refused(agent: Agent, change: dict[str, str]) -> None:
    agent.append(event(1, "One."))

    said = agent.append({**event(1, "One."), **change}, event(2, "Two."), code=3)

    assert [one["event_id"] for one in said["failed"]] == ["e1"]
    assert said["appended"] == 1
    assert agent.run("session", "show", "s1")["events"][0]["text"] == "One."


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"[]",
        b'{"event_id": "a", "role": "user"}',
        b'{"event_id": "a", "role": "boss", "text": "x"}',
        b'{"event_id": "", "role": "user", "text": "x"}',
        b'{"event_id": "a", "role": "user", "text": "  "}',
        b'{"event_id": "a", "role": "user", "text": "x", "occurred_at": "yesterday"}',
        b'{"event_id": "' + b"a" * 257 + b'", "role": "user", "text": "x"}',
    ],
)
def test_a_line_that_is_no_event_is_told_and_the_others_go_in(agent: Agent, line: bytes) -> None:
    said = agent.run(
        "session", "append", "-", stdin=line + b"\n\n" + lines(event(1, "Fine.")), code=3
    )

    assert (said["appended"], said["failed"][0]["line"]) == (1, 1)
    assert said["failed"][0]["code"] == "bad_event"


def test_unfinished_speech_is_working_context_and_never_a_claim(agent: Agent) -> None:
    for n in range(7):
        agent.append(
            event(f"v{n}", f"remember that I am allergic to p{n}", category="voice_fragment",
                  final=False)
        )  # fmt: skip

    working = agent.run("session", "show", "s1")["working"]
    assert [one["event_id"] for one in working] == ["ev2", "ev3", "ev4", "ev5", "ev6"]
    assert agent.run("list", "records")["items"] == []
    assert agent.recall("allergic")["coverage"] == "none"
    turn = agent.run("turn", "prepare", "allergic", "--session", "s1")
    (section,) = [one for one in turn["pack"]["sections"] if one["name"] == "working"]
    assert len(section["items"]) == 5
    pack = agent.run("--session", "s1", "recall", "allergic", "--format", "json")
    assert (pack["coverage"], len(texts(pack))) == ("none", 5)

    agent.append(
        event("vf", "Remember that I am allergic to pears.", category="voice_fragment", final=True)
    )

    assert agent.run("session", "show", "s1")["working"] == []
    assert len(agent.run("list", "records")["items"]) == 1
    assert agent.append(event("v6", "remember that I am allergic to p6", category="voice_fragment",
                              final=False))["known"] == 1  # fmt: skip
    assert agent.run("session", "show", "s1")["working"] == []


def test_a_session_has_a_title_a_count_and_after_its_end_a_gist(agent: Agent) -> None:
    long = (
        "We should plan the trip to Tromsø in February because of the northern lights there. " * 2
    )
    agent.append(
        event(0, "You are helpful.", role="system"), event(1, long),
        event(2, "Good idea, flights are cheap in February.", role="assistant"),
    )  # fmt: skip
    (listed,) = agent.run("list", "sessions")["items"]
    assert (len(listed["title"]), listed["messages"], listed["status"]) == (80, 3, "open")

    ended = agent.run("session", "end", "s1")

    assert (ended["status"], ended["gist_basis"]) == ("ended", "extractive")
    assert ended["gist"].startswith("We should plan the trip to Tromsø")
    assert agent.run("session", "end", "s1")["status"] == "known"
    agent.append(event(3, "One more thing."))
    assert agent.run("session", "show", "s1")["status"] == "open"


def test_a_session_that_a_crash_left_open_is_closed_at_the_next_start(agent: Agent) -> None:
    agent.append(event(1, "First session of this host."))

    said = agent.append(event(2, "Second session.", session="s2"))

    assert said["closed"] == ["s1"]
    assert agent.run("session", "show", "s1")["reason"] == "left_open"
    assert agent.run("session", "show", "s2")["status"] == "open"


def test_a_missing_session_is_not_found_and_nothing_is_made(agent: Agent) -> None:
    agent.append(event(1, "Hello."))

    for verb in ("show", "end", "resume"):
        assert agent.run("session", verb, "nobody", code=4)["error"]["code"] == "not_found"
    assert agent.run("session", "show", code=2)["error"]["code"] == "usage"
    assert len(agent.run("list", "sessions")["items"]) == 1


def test_a_long_message_is_kept_whole_and_cited_in_parts(agent: Agent) -> None:
    text = "\n".join(f"Line {n} of the build log, all is well." for n in range(3_000))
    agent.append(event(1, text, role="tool"))

    (found,) = agent.run("session", "show", "s1")["events"]
    assert found["text"] == text
    assert all(len(o["text"]) <= 16_000 for o in agent.run("list", "observations")["items"])
    assert agent.run("verify")["damaged"] is False


def test_a_dry_run_of_an_end_writes_nothing(agent: Agent) -> None:
    agent.append(event(1, "Hello there, friend."))

    assert agent.run("session", "end", "s1", "-n")["status"] == "planned"
    assert agent.run("session", "show", "s1")["status"] == "open"


def test_scopes_do_not_see_each_other(agent: Agent) -> None:
    agent.append(event(1, "The vault code is 7141."))

    agent.run("--user", "other", "session", "append", "-", stdin=lines(event(1, "Something else.")))

    assert "7141" not in str(agent.run("--user", "other", "session", "show", "s1"))
    pack = agent.run("--user", "other", "recall", "vault code", "--format", "json")
    assert pack["coverage"] == "none"


def test_what_was_acknowledged_is_there_for_the_next_process(tmp_path: Path) -> None:
    root = tmp_path / "root"
    first = execute("--json", "--root", root, "session", "append", "-", stdin=lines(event(1, "A.")))
    assert first.code == 0

    shown = execute("--json", "--root", root, "session", "show", "s1")

    assert [one["text"] for one in shown.json["events"]] == ["A."]


def test_a_stream_is_acknowledged_line_by_line_while_it_goes_on(tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = subprocess.Popen(
        [SCRIPT, "--root", root, "session", "append", "-", "--jsonl", "--no-proposals"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    for n in range(3):
        process.stdin.write(lines(event(n, f"Message {n}.")))
        process.stdin.flush()
        acknowledged = json.loads(process.stdout.readline())
        assert (acknowledged["event_id"], acknowledged["status"]) == (f"e{n}", "appended")

    process.kill()
    process.wait()

    shown = Agent(root).run("session", "show", "s1")
    assert [one["text"] for one in shown["events"]] == ["Message 0.", "Message 1.", "Message 2."]
    process.stdin.close()
    process.stdout.close()


def test_events_are_kept_when_proposing_fails_and_proposed_from_later(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MissingToolError("the model is gone")

    with monkeypatch.context() as broken:
        broken.setattr("muniment.pipeline.stages.propose.propose", fail)
        said = agent.append(event(1, "Remember that I am allergic to nuts."))
    assert (said["appended"], said["pending"], said["records"]) == (1, "missing_tool", 0)

    assert agent.append(event(2, "Good morning."))["records"] == 1


def test_jsonl_ends_with_a_summary(agent: Agent) -> None:
    said = agent.answer(
        "session", "append", "-", "--jsonl", stdin=b"\xff\xfe{}\n" + lines(event(1, "One."))
    )

    first, second, summary = map(json.loads, said.out.splitlines())
    assert (first["status"], first["line"], first["code"]) == ("failed", 1, "bad_event")
    assert (second["status"], second["line"]) == ("appended", 2)
    assert (summary["type"], summary["appended"], summary["failed"]) == ("summary", 1, 1)
    assert said.code == 3
