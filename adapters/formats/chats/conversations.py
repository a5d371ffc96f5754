"""Conversations in JSON: Discord, Instagram and Messenger exports, and others of that shape."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
from muniment.adapters.formats.moments import iso_moment, unix_moment

if TYPE_CHECKING:
    from muniment.store.records import Moment

MEDIA_TYPE = "application/x-conversation+json"
# Names that programs give to who wrote, what and when, the telling ones first.
_AUTHORS = ("sender_name", "sender", "author", "from")
_TEXTS = ("content", "text", "body", "message")
_TIMES = ("timestamp", "timestamp_ms", "time", "date", "created_at", "sent_at")
_NAMES = ("nickname", "global_name", "name", "username", "display_name")
_FILES = ("fileName", "filename", "name", "uri")
_KEPT = ("attachments", "photos", "videos", "files", "audio_files")
_LIST = re.compile(r'"messages"\s*:\s*\[\s*\{')
_KEY = re.compile(r'"(\w+)"\s*:')
_FIRST_MESSAGE = 4096
_SYSTEM = frozenset(("GuildMemberJoin", "ChannelPinnedMessage", "Call", "RecipientAdd"))


def recognise(text: str, _suffix: str) -> bool:
    """Tell whether JSON text lists messages, each with who wrote and what."""
    found = _LIST.search(text) if is_json(text) else None
    if found is None:
        return False
    keys = frozenset(_KEY.findall(text, found.end(), found.end() + _FIRST_MESSAGE))
    return all(not keys.isdisjoint(names) for names in (_AUTHORS, _TEXTS, _TIMES))


def parse(blocks: Blocks) -> Parsed:
    """Yield the messages in order of time, as far as every one has a time."""
    document = mapping(document_of(blocks()))
    thread = _thread(document)
    read = [_message(item, n, thread) for n, item in enumerate(items(document.get("messages")), 1)]
    found = [message for message in read if isinstance(message, Message)]
    times = [_instant(message) for message in found]
    if all(times) and times != sorted(times):
        found.sort(key=_instant)
    yield from found
    yield from (flaw for flaw in read if isinstance(flaw, Flaw))


def _message(item: Item, number: int, thread: str | None) -> Message | Flaw | None:
    text = next((found for name in _TEXTS if (found := words(item.get(name)))), None)
    files = [file for name in _KEPT for file in _files(item.get(name))]
    author, is_program = _author(item)
    if author is None:
        return Flaw(number, "no author")
    if text is None and not files:
        return None
    notes: dict[str, Any] = {"attachment": files[-1]} if files else {}
    role = "system" if item.get("type") in _SYSTEM else None
    if is_program:
        notes["bot"] = True
    if reply := words(mapping(item.get("reference")).get("messageId")):
        notes["reply_to"] = reply
    said = _mended(text or files[-1])
    return Message(said, _mended(author), _time(item), None, role, thread, notes)


def _author(item: Item) -> tuple[str | None, bool]:
    for name in _AUTHORS:
        value = item.get(name)
        if isinstance(value, dict):
            named = next((found for key in _NAMES if (found := words(value.get(key)))), None)
            return named, value.get("isBot") is True or value.get("bot") is True
        if found := words(value):
            return found, False
    return None, False


def _files(value: object) -> Iterator[str]:
    for item in items(value):
        if name := next((found for key in _FILES if (found := words(item.get(key)))), None):
            yield name.rpartition("/")[2] or name


def _time(item: Item) -> "Moment | None":
    for name in _TIMES:
        value = item.get(name)
        if moment := iso_moment(value) or unix_moment(value):
            return moment
    return None


def _instant(message: Message) -> str:
    return (message.sent.utc or message.sent.local or "") if message.sent else ""


def _thread(document: Item) -> str | None:
    guild = words(mapping(document.get("guild")).get("name"))
    channel = words(mapping(document.get("channel")).get("name"))
    title = words(document.get("title")) or words(document.get("name"))
    return " / ".join(filter(None, (guild, channel))) or (_mended(title) if title else None)


def _mended(text: str) -> str:
    """Undo what some exports do: bytes of UTF-8 spelt as Latin-1 characters."""
    try:
        return text.encode("latin-1").decode("utf-8") if not text.isascii() else text
    except UnicodeError:
        return text
