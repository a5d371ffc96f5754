"""Mail headers, decoded: whatever a sender's program made of them, something readable comes out."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses, parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple

from muniment.adapters.formats.chats.message import clean
from muniment.adapters.formats.encodings import decode, text_codec
from muniment.adapters.media.moments import moment_of, plausible

if TYPE_CHECKING:
    from muniment.store.records import Moment

MAX_HEADER = 64 * 1024
MAX_PEOPLE = 1000
_SUPERSETS = {"gb2312": "gb18030", "gbk": "gb18030", "hz-gb-2312": "hz", "x-gbk": "gb18030"}
_ID = re.compile(r"<([^<>\s]{1,998})>")
_REPLY = re.compile(
    r"\s*(?:re|fwd?|aw|wg|sv|vs|antw|tr|rif|回复|答复|回覆|转发|轉寄|返信)\s*(?:\[\d+\])?\s*[:：]\s*",
    re.IGNORECASE,
)
_TAG = re.compile(r"\s*\[[^\]]{1,40}\]\s*")
_MIN_YEAR = 1970


class Person(NamedTuple):
    """A name, where there is one, and an address."""

    name: str
    address: str

    def __str__(self) -> str:
        return f"{self.name} <{self.address}>" if self.name and self.address else self.who

    @property
    def who(self) -> str:
        """The name, else the address."""
        return self.name or self.address


class Thread(NamedTuple):
    """What tells which thread a message belongs to."""

    own: str
    parents: tuple[str, ...]
    subject: str
    is_reply: bool


def text_of(message: Message, name: str) -> str:
    """Return a header's words on one line, or nothing."""
    for header, value in message.raw_items():
        if header.lower() == name:
            return decoded(str(value))
    return ""


def decoded(raw: str) -> str:
    """Decode encoded words and raw bytes of a header."""
    text = raw[:MAX_HEADER]
    if not text.isascii():
        text = decode(text.encode("utf-8", "surrogateescape")).text
    if "=?" in text:
        text = _words(text)
    return " ".join(clean(text).replace("\x00", "").split())


def people(message: Message, name: str) -> tuple[Person, ...]:
    """Return the people that a header names."""
    raw = [str(value) for header, value in message.raw_items() if header.lower() == name]
    joined = ", ".join(raw)[:MAX_HEADER]
    if not joined.isascii():
        joined = decode(joined.encode("utf-8", "surrogateescape")).text
    found = []
    for name_text, address in _addresses(" ".join(joined.split()))[:MAX_PEOPLE]:
        person = Person(decoded(name_text).strip("\"' "), decoded(address))
        if person.who:
            found.append(Person("" if person.name == person.address else person.name, person[1]))
    return tuple(found)


def sent_at(message: Message) -> "tuple[Moment, float] | None":
    """Return when a message was sent and how sure that is: its own date, else the last relay's."""
    own = _date(text_of(message, "date"))
    if own is not None:
        return own, 1.0
    for name, value in message.raw_items():
        if name.lower() == "received":
            relayed = _date(decoded(str(value)).rpartition(";")[2])
            return (relayed, 0.6) if relayed is not None else None
    return None


def thread_of(message: Message) -> Thread:
    """Return what the headers say about the thread."""
    parents = ids_of(text_of(message, "references"), text_of(message, "in-reply-to"))
    own = (*ids_of(text_of(message, "message-id")), "")[0]
    return thread_named(text_of(message, "subject"), own, parents)


def thread_named(subject: str, own: str, parents: tuple[str, ...]) -> Thread:
    """Return what a subject and ids say about the thread."""
    plain, is_reply = subject, False
    while match := _REPLY.match(plain) or _TAG.match(plain):
        is_reply = is_reply or match.re is _REPLY
        plain = plain[match.end() :]
    return Thread(own, parents, " ".join(plain.lower().split()), is_reply)


def ids_of(*texts: str) -> tuple[str, ...]:
    """Return the message ids in texts, in order."""
    return tuple(dict.fromkeys(found for text in texts for found in _ID.findall(text)))


def charset_of(name: str | None) -> str | None:
    """Return a codec for a charset's name; null when there is none of that name."""
    wanted = (name or "").strip().strip("\"'").lower()
    return text_codec(_SUPERSETS.get(wanted, wanted)) if wanted else None


def _addresses(text: str) -> list[tuple[str, str]]:
    try:
        found = getaddresses([text])
    except (ValueError, IndexError, RecursionError):
        found = []
    if any(address for _, address in found):
        return found
    return [(text, "")] if text.strip() else []


def _words(text: str) -> str:
    try:
        pieces: Iterable[tuple[bytes | str, str | None]] = decode_header(text)
    except (ValueError, IndexError, MessageError):
        return text
    return "".join(_word(piece, charset) for piece, charset in pieces)


def _word(piece: bytes | str, charset: str | None) -> str:
    if isinstance(piece, str):
        return piece
    codec = charset_of(charset)
    if codec is not None:
        try:
            return piece.decode(codec)
        except (ValueError, LookupError):
            pass
    return decode(piece).text if charset else piece.decode("utf-8", "replace")


def _date(text: str) -> "Moment | None":
    if not text:
        return None
    try:
        when = parsedate_to_datetime(text)
        if when.year < _MIN_YEAR or not plausible(when):
            return None
        return moment_of(_honest(when), "header")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _honest(when: datetime) -> datetime:
    """Drop offsets that no place on earth has."""
    offset = when.utcoffset()
    hours = 0.0 if offset is None else abs(offset.total_seconds()) / 3600
    return when.astimezone(UTC) if hours > 14 else when  # noqa: PLR2004 (the widest offset)
