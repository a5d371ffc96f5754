"""Logs with a time and a name in front of each message: ``2023-01-01 10:00 Ann: text``."""

import re
from collections.abc import Callable, Iterable, Iterator

from muniment.adapters.formats.chats.message import Head, Message, split_messages
from muniment.adapters.formats.moments import CLOCK, wall_moment

MEDIA_TYPE = "text/x-chat-stamped"
_LINE = re.compile(
    r"\ufeff?[\[(]?(?P<a>\d{4})[./年-](?P<b>\d{1,2})[./月-](?P<c>\d{1,2})日?[T\s]\s?"
    rf"{CLOCK}[\])]?\s*[,-]?\s*(?P<author>[^\s:：<>\[\](){{}}=/][^:：\r\n<>={{}}/]{{0,39}})[:：]"
    r"(?:[ \t]|(?<=：)|(?=[\r\n]|$))"
)
_MACHINES = re.compile(
    r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|TRACE|FATAL|NOTICE|CRITICAL)\b|.*\[\d+\]|\S+\.\S+$",
    re.IGNORECASE,
)
_SHARE = 0.3
_SOME = 4


def recognise(text: str, suffix: str) -> bool:
    """Tell whether the text starts so and goes on so, and is not the log of a program."""
    if suffix == "log" or not _LINE.match(text.lstrip()[:300]):
        return False
    written = [line for line in text.splitlines() if line.strip()]
    authors = [found["author"] for line in written if (found := _LINE.match(line))]
    if len(authors) < _SHARE * len(written) or any(map(_MACHINES.match, authors)):
        return False
    # A diary whose every line has a topic of its own is no conversation.
    return len(authors) < _SOME or 2 * len(set(authors)) <= len(authors) + 1


def parse(blocks: Callable[[], Iterable[str]]) -> Iterator[Message]:
    """Yield the messages."""
    yield from split_messages(blocks(), _head)


def _head(line: str) -> Head | None:
    found = _LINE.match(line)
    if found is None:
        return None
    return Head(found["author"].strip(), wall_moment(found), found.end())
