import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from muniment.adapters.formats.chats import ChatReader
from muniment.adapters.formats.sniff import sniff
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError


@dataclass
class FakeTools:
    limits: Limits = field(default_factory=Limits)


def read(text: str | bytes, name: str = "chat.txt") -> list[Finding]:
    data = text.encode() if isinstance(text, str) else text
    kind = sniff(data, data, len(data), name)
    assert kind.family == "chat"
    source = Source("sha256:0", len(data), kind.media_type, kind.family, name, Path(), data=data)
    return list(ChatReader().read(source, cast("Tools", FakeTools())))


def messages(text: str | bytes, name: str = "chat.txt") -> list[Draft]:
    return [finding for finding in read(text, name) if isinstance(finding, Draft)]


def lines_of(*events: dict[str, Any]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def test_events_give_roles_origins_threads_and_times() -> None:
    text = lines_of(
        {"event_id": "1", "role": "user", "text": "hi", "occurred_at": "2026-01-02T03:04:05+08:00",
         "author": "Ann", "session": "s1", "category": "talk"},
        {"event_id": "2", "role": "assistant", "text": "hello"},
        {"event_id": "3", "role": "tool", "text": "42"},
    )  # fmt: skip
    first, second, third = messages(text, "a.jsonl")

    assert [d.origin for d in (first, second, third)] == ["user", "agent", "tool"]
    assert (first.author, first.thread, first.role) == ("Ann", "s1", "user")
    assert first.attributes == {"line": 1, "event_id": "1", "category": "talk"}
    assert first.occurred is not None
    assert (first.occurred.utc, first.occurred.offset) == ("2026-01-01T19:04:05.000000Z", "+08:00")


def test_a_broken_event_makes_the_log_partial() -> None:
    text = (
        lines_of({"role": "user", "text": "a"})
        + "{broken\n"
        + lines_of({"role": "user", "text": "b"})
    )
    *found, outcome = read(text, "a.jsonl")

    assert len(found) == 2
    assert outcome == Outcome("partial", "broken_messages", "1 messages could not be read")


def test_a_long_event_line_is_read_whole() -> None:
    words = "long " * 20_000
    text = lines_of({"role": "user", "text": "short"}, {"role": "user", "text": words})
    _, draft = messages(text, "a.jsonl")

    assert draft.text == words


def test_lone_surrogates_become_replacement_characters() -> None:
    (draft,) = messages('{"role": "user", "text": "a\\ud800b 😀"}\n', "a.jsonl")

    assert draft.text == "a\ufffdb 😀"


def test_telegram_joins_wall_time_and_instant() -> None:
    said_it = {"id": 1, "type": "message", "from": "Jim", "text": ["a ", {"text": "b"}]}
    said_it |= {"date": "2023-08-23T13:11:23", "date_unixtime": "1692821483"}
    pinned = {"id": 2, "type": "service", "actor": "Jim", "action": "pin_message", "text": ""}
    voice = {"id": 3, "from": "Bo", "text": "", "file": "voice.ogg", "reply_to_message_id": 1}
    chat = {"name": "Jim", "type": "personal_chat", "messages": [said_it, pinned, voice]}
    text = json.dumps(chat)
    first, second, third = messages(text, "result.json")

    assert (first.text, first.author, first.thread) == ("a b", "Jim", "Jim")
    assert first.occurred is not None
    assert (first.occurred.utc, first.occurred.offset) == ("2023-08-23T20:11:23.000000Z", "-07:00")
    assert (second.role, second.text) == ("system", "pin_message")
    assert (third.text, third.attributes) == (
        "voice.ogg",
        {"reply_to": 1, "attachment": "voice.ogg"},
    )


def test_chatgpt_follows_the_tree_and_marks_what_was_abandoned() -> None:
    def node(parent: str | None, role: str, text: str) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        return {"parent": parent, "message": {"author": {"role": role}, "content": content}}

    tree = {
        "c": node("a", "user", "new"),
        "a": node(None, "user", "hi"),
        "b": node("a", "user", "old"),
    }
    text = json.dumps([{"title": "T", "current_node": "c", "mapping": tree}])
    found = [(d.text, d.origin, d.thread, "abandoned" in d.attributes) for d in messages(text)]

    assert found == [
        ("hi", "user", "T", False),
        ("new", "user", "T", False),
        ("old", "user", "T", True),
    ]


def test_claude_messages_have_roles() -> None:
    text = json.dumps([{"name": "T", "chat_messages": [
        {"sender": "human", "text": "hi", "created_at": "2024-01-01T10:00:00Z"},
        {"sender": "assistant", "text": "", "content": [{"type": "text", "text": "hello"}]},
        {"sender": "assistant"},
    ]}])  # fmt: skip
    *found, outcome = read(text)

    assert [(cast("Draft", d).text, cast("Draft", d).role) for d in found] == [
        ("hi", "user"),
        ("hello", "assistant"),
    ]
    assert cast("Outcome", outcome).code == "broken_messages"


def test_a_cut_export_is_the_inputs_fault() -> None:
    with pytest.raises(InputError, match="JSON"):
        read('{"name": "x", "type": "personal_chat", "messages": [')
