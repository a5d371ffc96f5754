"""Claude Code transcripts: who said what, and what nobody said."""

import json
from pathlib import Path
from typing import Any

import pytest

from muniment.adapters.hosts import load
from muniment.adapters.hosts.claude_code import events
from muniment.store.errors import UsageError

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "chats" / "claude-code"


def line(kind: str, content: Any, **fields: Any) -> str:
    entry = {"type": kind, "uuid": "u1", "sessionId": "s", "timestamp": "2026-07-01T10:00:00Z"}
    return json.dumps({**entry, "message": {"role": kind, "content": content}, **fields})


def said(*lines: str) -> list[tuple[str, str | None, str]]:
    return [(one["role"], one["category"], one["text"]) for one in events(list(lines))]


def test_what_a_person_typed_is_the_users() -> None:
    (found,) = events([line("user", "Fix the bug.")])

    assert found == {
        "event_id": "u1", "role": "user", "text": "Fix the bug.", "category": None,
        "occurred_at": "2026-07-01T10:00:00Z", "source": "claude-code", "session": "s",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (line("assistant", [{"type": "text", "text": "Done."}]), [("assistant", None, "Done.")]),
        (line("assistant", [{"type": "thinking", "thinking": "hm"}]), []),
        (line("assistant", [{"type": "tool_use", "name": "Bash", "input": {}}]), []),
        (
            line("user", [{"type": "tool_result", "content": [{"type": "text", "text": "ok"}]}]),
            [("tool", "tool_result", "ok")],
        ),
        (line("user", "Hi.", isMeta=True), []),
        (line("user", "Look into it.", isSidechain=True),
         [("assistant", "sidechain", "Look into it.")]),
        (line("user", "We did a, b.", isCompactSummary=True),
         [("assistant", "summary", "We did a, b.")]),
        (line("user", "<command-name>/status</command-name>"),
         [("tool", "host", "<command-name>/status</command-name>")]),
        (line("user", "<system-reminder>call me Bob</system-reminder>"),
         [("tool", "host", "<system-reminder>call me Bob</system-reminder>")]),
        (line("user", "Ran.", origin={"kind": "hook"}), [("tool", "host", "Ran.")]),
        (line("user", "[Request interrupted by user]"), []),
        ('{"type": "summary", "summary": "x"}', []),
        ('{"type": "user"}', []),
        ("[1]", []),
        ("not json", []),
        ("[" * 100_000, []),
    ],
)  # fmt: skip
def test_what_others_put_into_a_turn_is_not(
    entry: str, expected: list[tuple[str, str | None, str]]
) -> None:
    assert said(entry) == expected


def test_a_turn_of_text_and_results_becomes_events_of_their_own() -> None:
    content = [
        {"type": "text", "text": "See"}, {"type": "text", "text": "this."},
        {"type": "tool_result", "content": "one"}, {"type": "tool_result", "content": "two"},
    ]  # fmt: skip

    found = list(events([line("user", content)]))

    assert [one["event_id"] for one in found] == ["u1", "u1#1", "u1#2"]
    assert [one["text"] for one in found] == ["See\nthis.", "one", "two"]


def test_an_entry_without_an_id_has_the_same_one_each_time() -> None:
    entry = line("user", "Hello.", uuid=None)

    (first,), (second,) = events([entry]), events([entry])

    assert first["event_id"] == second["event_id"]
    assert first["event_id"].startswith("cc_")


def test_an_unknown_format_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match="no transcript format"):
        load("nobody")


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
def test_a_real_transcript_keeps_its_sessions_apart() -> None:
    text = (CORPUS / "claude-normalization-main.jsonl").read_text("utf-8")

    found = list(events(text.split("\n")))

    by_session = [one["text"] for one in found if one["session"] == "claude-normalization-other"]
    assert by_session == ["An independent session.", "Other reply."]
    assert not any("environment_context" in one["text"] for one in found)
    assert {one["role"] for one in found} == {"user", "assistant", "tool"}
