"""Slack: the messages of one channel and day as JSON, alone or inside a whole export."""

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from muniment.adapters.formats.chats.exports import (
    Blocks,
    Item,
    Parsed,
    document_of,
    is_json,
    items,
    mapping,
    words,
)
from muniment.adapters.formats.chats.message import Flaw, Message
from muniment.adapters.formats.moments import unix_moment

MEDIA_TYPE = "application/x-slack+json"
_STAMP = re.compile(r'"ts"\s*:\s*"\d{9,11}\.\d+"')
_TYPE = re.compile(r'"type"\s*:\s*"message"')
# <@U1>, <@U1|bo>, <#C1|room>, <!here>, <https://x|label>
_LINK = re.compile(r"<([@#!]?)([^<>|\s]{1,2000})(?:\|([^<>]*))?>")
_NAMES = ("display_name", "real_name", "name")
_SPOKEN = frozenset(("bot_message", "me_message", "thread_broadcast", "file_share", "file_comment"))


def recognise(text: str, _suffix: str) -> bool:
    """Tell whether JSON text lists Slack messages."""
    return is_json(text) and _TYPE.search(text) is not None and _STAMP.search(text) is not None


def parse(blocks: Blocks) -> Parsed:
    """Yield the messages of a day, without the names that only the whole export knows."""
    yield from messages_of(document_of(blocks()), {}, None)


def messages_of(day: object, people: Mapping[str, str], channel: str | None) -> Parsed:
    """Yield the messages of a list; ``people`` are names by user id."""
    listed = day if isinstance(day, list) else mapping(day).get("messages")
    for number, item in enumerate(items(listed), 1):
        if item.get("type") != "message" or unix_moment(item.get("ts")) is None:
            yield Flaw(number, "not a message")
            continue
        files = [name for file in items(item.get("files")) if (name := words(file.get("name")))]
        text = _plain(words(item.get("text")) or "", people) or (files[-1] if files else "")
        if text.strip():
            yield replace(_message(item, text, files, people), thread=channel)


def people_of(users: object) -> dict[str, str]:
    """Return the names of people by id from ``users.json``."""
    return {
        str(user.get("id")): name
        for user in items(users)
        if (name := _named(mapping(user.get("profile"))) or _named(user))
    }


def _message(item: Item, text: str, files: list[str], people: Mapping[str, str]) -> Message:
    notes: dict[str, Any] = {"attachment": files[-1]} if files else {}
    started = words(item.get("thread_ts"))
    if started and started != item.get("ts"):
        notes["reply_to"] = started
    subtype = words(item.get("subtype"))
    if item.get("bot_id"):
        notes["bot"] = True
    role = "system" if subtype and subtype not in _SPOKEN else None
    return Message(
        text, _author(item, people), unix_moment(item.get("ts")), None, role, None, notes
    )


def _author(item: Item, people: Mapping[str, str]) -> str | None:
    user = words(item.get("user"))
    return (
        people.get(user or "")
        or _named(mapping(item.get("user_profile")))
        or words(item.get("username"))
        or _named(mapping(item.get("bot_profile")))
        or user
        or words(item.get("bot_id"))
    )


def _named(profile: Item) -> str | None:
    return next((found for key in _NAMES if (found := words(profile.get(key)))), None)


def _plain(text: str, people: Mapping[str, str]) -> str:
    """Return text as it is shown: names for ids, labels for links."""

    def shown(match: re.Match[str]) -> str:
        kind, target, label = match.groups()
        if kind == "@":
            return f"@{people.get(target) or label or target}"
        if kind:
            return f"{'#' if kind == '#' else '@'}{label or target}"
        return f"{label} ({target})" if label and label not in target else target

    return html.unescape(_LINK.sub(shown, text))
