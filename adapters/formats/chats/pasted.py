"""Messages copied out of WeChat or exported by QQ: a line with name and time, then the text."""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from muniment.adapters.formats.chats.message import Head, Message, split_messages
from muniment.adapters.formats.moments import CLOCK, wall_moment

MEDIA_TYPE = "text/x-chat-pasted"
_DATE = r"(?P<a>\d{4})[./年-](?P<b>\d{1,2})[./月-](?P<c>\d{1,2})日?"
_NAME_FIRST = re.compile(rf"\ufeff?(?P<author>\S.{{0,59}}?)[:：]?\s{_DATE}\s+{CLOCK}\s*$")
_TIME_FIRST = re.compile(
    rf"\ufeff?{_DATE}\s+{CLOCK}\s+(?P<author>\S.{{0,59}}?)(?:[(（<](?P<account>[^()（）<>]+)[)）>])?\s*$"
)
_TALK = 2


def recognise(text: str, suffix: str) -> bool:
    """Tell whether a line near the start and several after it are such heads."""
    if suffix == "log":
        return False
    written = [line for line in text.splitlines() if line.strip()]
    heads = [index for index, line in enumerate(written) if _match(line)]
    if not heads or heads[0] > 8:  # noqa: PLR2004 (a header of the exporting program)
        return False
    followed = all(later - index > 1 for index, later in pairwise(heads))
    return len(heads) >= _TALK and followed and len(heads) * 6 >= len(written) - heads[0]


def parse(blocks: Callable[[], Iterable[str]]) -> Iterator[Message]:
    """Yield the messages."""
    yield from split_messages(blocks(), _head)


def _match(line: str) -> re.Match[str] | None:
    if ":" not in line or not line.rstrip()[-1:]:
        return None
    return _TIME_FIRST.match(line) or _NAME_FIRST.match(line)


def _head(line: str) -> Head | None:
    found = _match(line)
    if found is None:
        return None
    account = found.groupdict().get("account")
    notes = {"account": account} if account else {}
    return Head(found["author"].strip(), wall_moment(found), len(line), None, notes)
