"""Conversations in JSON and CSV, and whole Slack exports."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.documents import derived, drafts, outcome, quote_of, read, source_of, zipped

from muniment.adapters.ports import Draft
from muniment.store.records import MemberLocator, MessageLocator


def said(found: list[Draft]) -> list[tuple[str | None, str]]:
    return [(draft.author, draft.text) for draft in found]


def discord(*messages: dict[str, Any]) -> bytes:
    export = {"guild": {"name": "Pond"}, "channel": {"name": "frogs"}, "messages": list(messages)}
    return json.dumps(export).encode()


def test_a_discord_channel_is_a_thread_with_its_authors_and_files() -> None:
    data = discord(
        {
            "id": "1",
            "type": "Default",
            "timestamp": "2024-01-15T10:30:00+01:00",
            "content": "Hello",
            "author": {"name": "alice", "nickname": "Alice", "isBot": False},
        },
        {
            "id": "2",
            "type": "Reply",
            "timestamp": "2024-01-15T10:31:00+01:00",
            "content": "",
            "author": {"name": "bot", "isBot": True},
            "attachments": [{"fileName": "pond.jpg"}],
            "reference": {"messageId": "1"},
        },
    )

    first, second = drafts(read(data))

    assert (first.author, first.text, first.thread) == ("Alice", "Hello", "Pond / frogs")
    assert first.occurred is not None
    assert first.occurred.utc == "2024-01-15T09:30:00.000000Z"
    assert second.text == "pond.jpg"
    assert second.attributes == {"attachment": "pond.jpg", "bot": True, "reply_to": "1"}


def test_an_export_that_starts_with_the_newest_is_put_in_order_and_mended() -> None:
    data = json.dumps(
        {
            "participants": [{"name": "a"}],
            "messages": [
                {
                    "sender_name": "Ren\u00c3\u00a9",
                    "timestamp_ms": 1710061500000,
                    "content": "late",
                },
                {
                    "sender_name": "bo",
                    "timestamp_ms": 1708437600000,
                    "content": "\u00e4\u00bd\u00a0",
                },
                {"timestamp_ms": 1708437600000, "content": "nobody"},
            ],
        }
    ).encode()

    found = read(data)

    assert said(drafts(found)) == [("bo", "你"), ("René", "late")]
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "broken_messages")


@pytest.mark.parametrize(
    "text",
    [
        '{"messages": ["one", "two"]}',
        '{"model": "m", "messages": [{"role": "user", "content": "hi"}]}',
        '{"messages": {"hello": "Bonjour"}}',
        '{"log": "messages", "author": "x"}',
    ],
)
def test_other_json_is_no_conversation(text: str) -> None:
    assert source_of(text.encode(), "a.json").family == "text"


def test_a_table_of_when_who_and_what_is_a_chat() -> None:
    data = b'timestamp,sender,content\n2023-01-01 10:00,Me,"Hi, you"\n\n2023-01-01,Bo\n'

    found = read(data, "chat.csv")

    (draft,) = drafts(found)
    assert (draft.author, draft.text) == ("Me", "Hi, you")
    assert draft.occurred is not None
    assert draft.occurred.local == "2023-01-01T10:00:00"
    assert outcome(found)


@pytest.mark.parametrize("header", ["date,amount,text", "date,from,a,b,c,d,text", "name,age"])
def test_other_tables_are_text(header: str) -> None:
    assert source_of(f"{header}\n1,2,3\n".encode(), "a.csv").family == "text"


SLACK = {
    "channels.json": "[]",
    "users.json": json.dumps(
        [{"id": "U1", "name": "ann", "profile": {"display_name": "Ann", "real_name": "Ann Lee"}}]
    ),
    "general/2024-05-06.json": json.dumps(
        [
            {
                "type": "message",
                "user": "U1",
                "ts": "1714986000.000100",
                "text": "Hi <@U1> &amp; x",
            },
            {
                "type": "message",
                "subtype": "channel_join",
                "user": "U2",
                "ts": "1714986001.000100",
                "text": "joined <#C1|room>",
            },
            {"type": "message", "user": "U1", "text": "no time"},
        ]
    ),
    "general/notes.txt": "walrus",
}


def test_a_slack_export_is_read_with_names_channels_and_the_rest_of_the_zip() -> None:
    data = zipped(SLACK)

    found = read(data)

    first, second = drafts(found)
    assert (first.author, first.text, first.thread) == ("Ann", "Hi @Ann & x", "#general")
    assert isinstance(first.locator, MemberLocator)
    assert isinstance(first.locator.inner, MessageLocator)
    assert (first.locator.path, first.locator.inner.index) == ("general/2024-05-06.json", 0)
    assert (second.author, second.text, second.role) == ("U2", "joined #room", "system")
    assert [item.name for item in derived(found)] == ["notes.txt"]
    assert all(quote_of(data, draft) == draft.text for draft in (first, second))
    ending = outcome(found)
    assert ending
    assert (ending.status, ending.code) == ("partial", "broken_messages")


def test_a_day_of_slack_by_itself_has_the_names_that_stand_in_it() -> None:
    day = [
        {
            "type": "message",
            "user": "U1",
            "ts": "1714986000.000100",
            "text": "see <https://x.example|this>",
            "user_profile": {"real_name": "Ann Lee"},
        }
    ]

    (draft,) = drafts(read(json.dumps(day).encode(), "2024-05-06.json"))

    assert (draft.author, draft.text) == ("Ann Lee", "see this (https://x.example)")


@pytest.mark.corpus
def test_exports_of_the_corpus_are_read(corpus: Path) -> None:
    for name, count in (
        ("discord/chatpack_discord_export.json", 7),
        ("instagram/chatpack_instagram_export.json", 7),
        ("messenger/langchain_facebook_chat.json", 11),
        ("wechat/wememoir_sample_chat.csv", 19),
        ("wechat/wememoir_sample_chat.json", 20),
        ("slack/langchain_slack_export.zip", 5),
    ):
        data = (corpus / "chats" / name).read_bytes()
        assert len(drafts(read(data, name))) == count, name
