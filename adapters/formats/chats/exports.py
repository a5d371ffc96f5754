"""Conversations exported as one JSON document: Telegram, ChatGPT, Claude."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, TypeAlias

from muniment.adapters.formats.chats.events import ROLES
from muniment.adapters.formats.chats.message import Flaw, Message, clean
from muniment.adapters.formats.moments import aware_moment, iso_moment, unix_moment
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.store.records import Moment

TELEGRAM = "application/x-telegram+json"
CHATGPT = "application/x-chatgpt+json"
CLAUDE = "application/x-claude+json"
MAX_CHARACTERS = 128 * 1024 * 1024
_TELEGRAM_MARKS = re.compile(
    r'"from_id"\s*:|"type"\s*:\s*"(?:personal|private|public|saved|bot)_|"date_unixtime"'
)
_CHATGPT_MARKS = re.compile(r'"mapping"\s*:\s*\{')
_CLAUDE_MARKS = re.compile(r'"chat_messages"\s*:\s*\[')
_WIDEST_OFFSET = timedelta(hours=14)
_FILES = ("photo", "file", "file_name")
_SENDERS = {"human": "user", "assistant": "assistant"}

Parsed: TypeAlias = Iterator[Message | Flaw]
Blocks: TypeAlias = Callable[[], Iterable[str]]
Item: TypeAlias = dict[str, Any]


def recognise_telegram(text: str, _suffix: str) -> bool:
    """Tell whether JSON text has the fields of a Telegram export."""
    return is_json(text) and '"messages"' in text and _TELEGRAM_MARKS.search(text) is not None


def recognise_chatgpt(text: str, _suffix: str) -> bool:
    """Tell whether JSON text has the tree of a ChatGPT conversation."""
    return is_json(text) and _CHATGPT_MARKS.search(text) is not None and '"author"' in text


def recognise_claude(text: str, _suffix: str) -> bool:
    """Tell whether JSON text has the messages of a Claude conversation."""
    return is_json(text) and _CLAUDE_MARKS.search(text) is not None


def parse_telegram(blocks: Blocks) -> Parsed:
    """Yield the messages of one chat or of a whole account."""
    document = document_of(blocks())
    chats = items(mapping(mapping(document).get("chats")).get("list"))
    for chat in chats or items([document]):
        for item in items(chat.get("messages")):
            yield from _telegram(item, words(chat.get("name")))


def parse_chatgpt(blocks: Blocks) -> Parsed:
    """Yield the messages on the way to each conversation's current end, then abandoned ones."""
    document = document_of(blocks())
    for talk in items(document if isinstance(document, list) else [document]):
        nodes = mapping(talk.get("mapping"))
        path = _path(nodes, talk.get("current_node"))
        title = words(talk.get("title"))
        for name in path:
            yield from _chatgpt(mapping(nodes[name]), title, {})
        notes = {"abandoned": True} if path else {}
        for name in [name for name in nodes if name not in frozenset(path)]:
            yield from _chatgpt(mapping(nodes[name]), title, notes)


def parse_claude(blocks: Blocks) -> Parsed:
    """Yield the messages of each conversation."""
    document = document_of(blocks())
    number = 0
    for talk in items(document if isinstance(document, list) else [document]):
        for item in items(talk.get("chat_messages")):
            number += 1
            text = words(item.get("text")) or _joined(item.get("content"))
            role = _SENDERS.get(words(item.get("sender")) or "")
            if text is None or role is None:
                yield Flaw(number, "no text or no sender")
                continue
            sent = iso_moment(item.get("created_at"))
            yield Message(
                text, words(item.get("sender")), sent, None, role, words(talk.get("name"))
            )


def _telegram(item: Item, thread: str | None) -> Iterator[Message]:
    sent = _telegram_moment(item)
    if item.get("type") == "service":
        text, author, role = words(item.get("action")), words(item.get("actor")), "system"
    else:
        text, author, role = _joined(item.get("text")), words(item.get("from")), None
    notes: Item = {"reply_to": item["reply_to_message_id"]} if "reply_to_message_id" in item else {}
    if edited := words(item.get("edited")):
        notes["edited"] = edited
    files = [name for key in _FILES if (name := words(item.get(key)))]
    if files:
        notes["attachment"] = files[-1]
    if text or files:
        yield Message(text or files[-1], author, sent, None, role, thread, notes)


def _telegram_moment(item: Item) -> "Moment | None":
    """Join the wall time and the instant that an export gives side by side."""
    instant, wall = unix_moment(item.get("date_unixtime")), iso_moment(item.get("date"))
    if instant is None or wall is None or wall.local is None or instant.local is None:
        return instant or wall
    ahead = datetime.fromisoformat(wall.local) - datetime.fromisoformat(instant.local)
    if abs(ahead) > _WIDEST_OFFSET:
        return instant
    return aware_moment(datetime.fromisoformat(wall.local).replace(tzinfo=timezone(ahead)))


def _path(nodes: Item, current: object) -> list[str]:
    """Return the names of the nodes from the root to the current end of a conversation."""
    path: list[str] = []
    while isinstance(current, str) and current in nodes and current not in path:
        path.append(current)
        current = mapping(nodes[current]).get("parent")
    return path[::-1]


def _chatgpt(node: Item, title: str | None, notes: Item) -> Iterator[Message]:
    item = mapping(node.get("message"))
    content = mapping(item.get("content"))
    text = _joined(content.get("parts")) or words(content.get("text"))
    author = mapping(item.get("author"))
    role = words(author.get("role"))
    if text and text.strip() and role in ROLES:
        sent = unix_moment(item.get("create_time"))
        yield Message(text, words(author.get("name")) or role, sent, None, role, title, notes)


def document_of(blocks: Iterable[str]) -> Any:
    """Parse a whole export; ``InputError`` ``too_large`` or ``broken_json``."""
    held, size = [], 0
    for block in blocks:
        held.append(block)
        size += len(block)
        if size > MAX_CHARACTERS:
            raise InputError("the export is too large to be read at once", code="too_large")
    try:
        return json.loads("".join(held).removeprefix("\ufeff"))
    except (ValueError, RecursionError) as fault:
        raise InputError("the export is not whole JSON", code="broken_json") from fault


def is_json(text: str) -> bool:
    """Tell whether text starts as a JSON object or list."""
    return text.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")


def items(value: object) -> list[Item]:
    """Return the objects of a list, or none."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def mapping(value: object) -> Item:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def words(value: object) -> str | None:
    """Return a string that says something, or null."""
    return clean(value) if isinstance(value, str) and value else None


def _joined(value: object) -> str | None:
    """Return text that is given whole or as a list of strings and ``{text}`` pieces."""
    if not isinstance(value, list):
        return words(value)
    pieces = [
        words(mapping(piece).get("text") if isinstance(piece, dict) else piece) for piece in value
    ]
    return "".join(piece for piece in pieces if piece) or None
