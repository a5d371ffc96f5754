"""Chats as tables: CSV with columns for when, who and what, as some WeChat exporters write."""

import csv
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.chats.exports import Blocks, Parsed
from muniment.adapters.formats.chats.message import MESSAGE_CHARACTERS, Flaw, Message
from muniment.adapters.formats.moments import iso_moment, unix_moment
from muniment.adapters.formats.passages import lines

if TYPE_CHECKING:
    from muniment.store.records import Moment

MEDIA_TYPE = "text/x-chat-csv"
# Column names in lower case, the telling ones first.
_WHEN = (
    "strtime",
    "timestamp",
    "createtime",
    "time",
    "datetime",
    "date",
    "sent_at",
    "时间",
    "日期",
)
_WHO = ("remark", "nickname", "sender", "sender_name", "author", "from", "user", "talker", "发送者",
        "发送人", "昵称")  # fmt: skip
_WHAT = ("strcontent", "content", "message", "text", "body", "msg", "内容", "消息")
_THREAD = ("chat", "room", "conversation", "channel", "chatroom", "群聊", "会话")
_DELIMITERS = (",", "\t", ";")
_MAX_COLUMNS = 64
_FEW = 5


def recognise(text: str, suffix: str) -> bool:
    """Tell whether the first line names columns for when, who and what."""
    if suffix not in {"csv", "tsv", "tab", ""}:
        return False
    return _columns(text.lstrip("\ufeff").partition("\n")[0]) is not None


def parse(blocks: Blocks) -> Parsed:
    """Yield one message a row; a row without words or columns is a flaw."""
    first = next((line.text for line in lines(blocks())), "")
    found = _columns(first.lstrip("\ufeff").rstrip("\r\n"))
    if found is None:
        return
    delimiter, (when, who, what, thread) = found
    rows = csv.reader(_texts(blocks()), delimiter=delimiter)
    next(rows, None)
    for number in _numbers():
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as fault:
            yield Flaw(number, str(fault))
            continue
        if len(row) > max(when, who, what) and row[what].strip():
            talk = row[thread].strip() if thread is not None and thread < len(row) else None
            yield Message(
                row[what], row[who].strip() or None, _time(row[when]), thread=talk or None
            )
        elif any(field.strip() for field in row):
            yield Flaw(number, "no words in this row")


def _numbers() -> Iterator[int]:
    from itertools import count

    return count(2)


def _texts(blocks: Iterable[str]) -> Iterator[str]:
    """Yield lines; what goes on without an end is cut, so that one quote can't hold them all."""
    for line in lines(blocks):
        yield line.text[:MESSAGE_CHARACTERS].replace("\x00", "")


def _columns(header: str) -> tuple[str, tuple[int, int, int, int | None]] | None:
    for delimiter in _DELIMITERS:
        names = [name.strip().strip('"').lower() for name in header.split(delimiter)[:_MAX_COLUMNS]]
        places = [_place(names, wanted) for wanted in (_WHEN, _WHO, _WHAT)]
        when, who, what = places
        if len(names) > _FEW and "strcontent" not in names:
            continue  # a table of something else, whose other columns count
        if when is not None and who is not None and what is not None:
            return delimiter, (when, who, what, _place(names, _THREAD))
    return None


def _place(names: list[str], wanted: tuple[str, ...]) -> int | None:
    return next((names.index(name) for name in wanted if name in names), None)


def _time(text: str) -> "Moment | None":
    return iso_moment(text.replace("/", "-")) or unix_moment(text.strip())
