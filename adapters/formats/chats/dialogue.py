"""Plain ``name: text`` logs without times."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from muniment.adapters.formats.chats.message import Head, Message, split_messages

MEDIA_TYPE = "text/x-chat-dialogue"
_LINE = re.compile(
    r"\ufeff?(?P<author>[^\W\d_][^:：\r\n\t|<>=\"'{}()/\\@#$;]{0,29})(?:：|:(?=[ \t]))[ \t]*(?=\S)"
)
_NOT_NAMES = re.compile(
    r"(?:info|warn|warning|error|debug|trace|fatal|notice|note|notes|tip|todo|fixme|https?|date|time"
    r"|subject|from|to|cc|title|author|url|example|step \d+|注意|备注|例如|标题|时间|地点|日期)",
    re.IGNORECASE,
)
_SUFFIXES = frozenset(("", "txt", "text", "chat"))
_SHARE, _SPEAKERS, _TURNS = 0.7, 8, 4


def recognise(text: str, suffix: str) -> bool:
    """Tell whether most lines are said by two to eight names that each come back."""
    if suffix not in _SUFFIXES or not _LINE.match(text.lstrip()[:100]):
        return False
    written = [line for line in text.splitlines() if line.strip()]
    authors = Counter(found["author"] for line in written if (found := _LINE.match(line)))
    if any(_NOT_NAMES.fullmatch(author) for author in authors):
        return False
    often = [author for author, count in authors.items() if count > 1]
    spoken = authors.total() >= max(_TURNS, _SHARE * len(written))
    return spoken and len(often) > 1 and len(authors) <= _SPEAKERS


def parse(blocks: Callable[[], Iterable[str]]) -> Iterator[Message]:
    """Yield the messages."""
    yield from split_messages(blocks(), _head)


def _head(line: str) -> Head | None:
    found = _LINE.match(line)
    return Head(found["author"].strip(), None, found.end()) if found else None
