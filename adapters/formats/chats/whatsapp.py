"""WhatsApp's "export chat" text, in the date and clock forms of any locale."""

import re
from collections.abc import Callable, Iterable, Iterator

from muniment.adapters.formats.chats.message import Head, Message, split_messages
from muniment.adapters.formats.moments import CLOCK, DATE, DateOrder, wall_moment
from muniment.adapters.formats.passages import lines

MEDIA_TYPE = "text/x-whatsapp"
_MARKS = "\ufeff\u200e\u200f\u202a-\u202e\u2066-\u2069"
_WHEN = rf"{DATE}[,،]?\s+(?:(?:à|às|um|at|klo|kl\.?)\s)?{CLOCK}(?:\s?ч\.)?[{_MARKS}]*"
_BRACKETED = re.compile(rf"[{_MARKS}]*\[{_WHEN}\]\s?")
_DASHED = re.compile(rf"[{_MARKS}]*{_WHEN}\s[-–]\s")
# In Korean a comma ends the head, and the author's colon stands free.
_COMMA = re.compile(rf"[{_MARKS}]*{_WHEN},\s(?=[^:\r\n]{{1,100}}\s:\s)")
_MAY_OPEN = re.compile(rf"[{_MARKS}]*[\[\d]")
_AUTHOR = re.compile(rf"[{_MARKS}]*([^\r\n:\"“]{{1,100}}?)[{_MARKS}]*:(?: |(?=[\r\n]|$))")
_BY_PROGRAM = re.compile(r"[\u200e\u200f]")
_ATTACHED = re.compile(
    r"<[^<>:：]{2,30}[:：]\s?(?P<tagged>[^<>\r\n]+\.\w{2,5})>"
    r"|(?P<named>[^\r\n]*\S\.\w{2,5}) \([^()\r\n]+\)\s*$"
)
_OMITTED = re.compile(
    r"<?(?:media omitted|medien ausgeschlossen|multimedia omitido|m[ií]dia oculta|médias omis"
    r"|media omessi|media weggelaten|省略多媒体文件|媒体文件已省略|省略媒體|已省略媒體檔案"
    r"|(?P<kind>image|video|audio|sticker|gif|document|contact card|图片|视频|音频|图像|影像|圖片)"
    r"\s*(?:omitted|忽略|已忽略|省略|已省略|已略去))>?\.?",
    re.IGNORECASE,
)
_LEVELS = frozenset(("INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "NOTICE"))


def recognise(text: str, _suffix: str) -> bool:
    """Tell whether the text starts with a dated line and mostly has authors on such lines."""
    if not _open(text.lstrip()[:200].partition("\n")[0]):
        return False
    heads = [line for line in text.splitlines() if _open(line)]
    authors = [author for line in heads if (author := _author(line))]
    return 2 * len(authors) >= len(heads) and not _LEVELS.intersection(authors)


def parse(blocks: Callable[[], Iterable[str]]) -> Iterator[Message]:
    """Yield the messages, the order of day and month taken from the whole file."""
    dates, preferred = DateOrder(), ""
    for line in lines(blocks()):
        if found := _open(line.text):
            dates.see((int(found["a"]), int(found["b"]), int(found["c"])))
            preferred = preferred or _usual_order(found)
    order, ambiguous = dates.settle(preferred or "dmy")
    notes = {"date_order": "ambiguous"} if ambiguous else {}
    yield from split_messages(blocks(), lambda line: _head(line, order, notes))


def _open(line: str) -> re.Match[str] | None:
    if not _MAY_OPEN.match(line):
        return None
    return _BRACKETED.match(line) or _DASHED.match(line) or _COMMA.match(line)


def _usual_order(found: re.Match[str]) -> str:
    """Name the order that places which write the clock like this use."""
    if found["before"]:
        return "ymd"
    american = found["after"] and "/" in found[0]
    return "mdy" if american else "dmy"


def _author(line: str) -> str | None:
    opening = _open(line)
    named = opening and _AUTHOR.match(line, opening.end())
    return named[1].strip() if named else None


def _head(line: str, order: str, notes: dict[str, str]) -> Head | None:
    opening = _open(line)
    if opening is None:
        return None
    sent = wall_moment(opening, order)
    named = _AUTHOR.match(line, opening.end())
    if named is None:
        return Head(None, sent, opening.end(), "system", notes)
    author, body = named[1].strip(), line[named.end() :]
    media = _media(body.strip("\u200e\u200f \r\n"))
    role = "system" if _BY_PROGRAM.match(body) and not media else None
    return Head(author, sent, named.end(), role, {**notes, **media})


def _media(body: str) -> dict[str, str]:
    """Name the attachment that a message stands for, or its kind when it was left out."""
    if attached := _ATTACHED.match(body):
        return {"attachment": attached["tagged"] or attached["named"]}
    if omitted := _OMITTED.fullmatch(body):
        return {"omitted": omitted["kind"] or "media"}
    return {}
