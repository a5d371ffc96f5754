"""Outlook messages: the named streams of a compound file."""

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_string
from typing import TYPE_CHECKING

from muniment.adapters.formats.chats.message import clean
from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.mail.drafts import Mail
from muniment.adapters.formats.mail.headers import (
    Person,
    Thread,
    ids_of,
    people,
    sent_at,
    thread_named,
    thread_of,
)
from muniment.adapters.formats.mail.parts import Attachment, Contents
from muniment.adapters.formats.visible_text import visible_text
from muniment.adapters.media.moments import moment_of, plausible
from muniment.adapters.ports import Source
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from email.message import Message

    from olefile import OleFileIO

    from muniment.store.records import Moment

MAX_DEPTH = 4
_SUBJECT, _BODY, _HTML, _HEADERS = 0x0037, 0x1000, 0x1013, 0x007D
_SENDER_NAME, _SENDER_ADDRESS, _SENDER_SMTP = 0x0C1A, 0x0C1F, 0x5D01
_TO, _CC, _MESSAGE_ID, _IN_REPLY_TO, _REFERENCES = 0x0E04, 0x0E03, 0x1035, 0x1042, 0x1039
_LONG_NAME, _SHORT_NAME, _DATA = 0x3707, 0x3704, 0x3701
_SENT, _DELIVERED = 0x0039, 0x0E06
_UNICODE, _STRING, _BINARY, _TIME = 0x001F, 0x001E, 0x0102, 0x0040
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
_PROPERTY_BYTES = 16


def mails_of(source: Source) -> Iterator[Mail]:
    """Yield the message of a file, then the messages inside it."""
    import olefile

    with source.open() as stream:
        try:
            opened = olefile.OleFileIO(stream)
        except Exception as fault:  # broken files raise plain errors of every kind
            raise InputError("not a whole Outlook message", code="unreadable") from fault
        with opened:
            yield from _mails(opened, (), 0)


def _mails(opened: "OleFileIO", folder: tuple[str, ...], depth: int) -> Iterator[Mail]:
    storage = _Storage(opened, folder)
    yield _mail(storage)
    for name in storage.attachments():
        inner = (*folder, name, f"__substg1.0_{_DATA:04X}000D")
        if depth < MAX_DEPTH and opened.exists("/".join((*inner, "__properties_version1.0"))):
            yield from _mails(opened, inner, depth + 1)


def _mail(storage: "_Storage") -> Mail:
    headers = message_from_string(storage.text(_HEADERS))
    subject = " ".join(storage.text(_SUBJECT).split())
    contents = Contents(texts=[_body(storage)], attachments=list(_files(storage)))
    sent = _moment(storage) or (found[0] if (found := sent_at(headers)) else None)
    return Mail(
        subject=subject,
        author=_author(storage, headers),
        to=people(headers, "to") or _names(storage.text(_TO)),
        cc=people(headers, "cc") or _names(storage.text(_CC)),
        sent=sent,
        thread=_thread(storage, headers, subject),
        contents=contents,
    )


class _Storage:
    """The properties of one message or attachment."""

    def __init__(self, opened: "OleFileIO", folder: tuple[str, ...]) -> None:
        self._opened = opened
        self.folder = folder

    def text(self, tag: int) -> str:
        raw = self.raw(tag, _UNICODE)
        text = raw.decode("utf-16-le", "replace") if raw else decode(self.raw(tag, _STRING)).text
        return clean(text).replace("\x00", "").replace("\r\n", "\n").replace("\r", "\n")

    def raw(self, tag: int, kind: int) -> bytes:
        path = "/".join((*self.folder, f"__substg1.0_{tag:04X}{kind:04X}"))
        try:
            if not self._opened.exists(path):
                return b""
            with self._opened.openstream(path) as stream:
                return bytes(stream.read())
        except Exception:  # a broken stream takes nothing from the others
            return b""

    def time(self, tag: int) -> datetime | None:
        path = "/".join((*self.folder, "__properties_version1.0"))
        try:
            with self._opened.openstream(path) as stream:
                table = bytes(stream.read())
        except Exception:  # as above
            return None
        start = 24 if self.folder else 32
        for at in range(start, len(table) - _PROPERTY_BYTES + 1, _PROPERTY_BYTES):
            kind, found, _, ticks = struct.unpack_from("<HHIQ", table, at)
            if (kind, found) == (_TIME, tag):
                try:
                    return _EPOCH + timedelta(microseconds=ticks // 10)
                except OverflowError:
                    return None
        return None

    def attachments(self) -> list[str]:
        depth = len(self.folder)
        found = {
            entry[depth]
            for entry in self._opened.listdir(storages=True)
            if tuple(entry[:depth]) == self.folder and len(entry) > depth
        }
        return sorted(name for name in found if name.startswith("__attach_version1.0_"))

    def inside(self, name: str) -> "_Storage":
        return _Storage(self._opened, (*self.folder, name))


def _body(storage: _Storage) -> str:
    if text := storage.text(_BODY).strip():
        return text
    page = storage.raw(_HTML, _BINARY)
    return visible_text(decode(page).text if page else storage.text(_HTML)).text


def _files(storage: _Storage) -> Iterator[Attachment]:
    for count, name in enumerate(storage.attachments()):
        file = storage.inside(name)
        data = file.raw(_DATA, _BINARY)
        if data:
            title = file.text(_LONG_NAME) or file.text(_SHORT_NAME) or f"part-{count}"
            yield Attachment(title.replace("/", "_").strip(), data)


def _author(storage: _Storage, headers: "Message") -> Person | None:
    if named := people(headers, "from"):
        return named[0]
    name = storage.text(_SENDER_NAME).strip()
    address = (storage.text(_SENDER_SMTP) or storage.text(_SENDER_ADDRESS)).strip()
    address = address if "@" in address else ""
    return Person("" if name == address else name, address) if name or address else None


def _names(text: str) -> tuple[Person, ...]:
    return tuple(Person(name.strip(), "") for name in text.split(";") if name.strip())


def _thread(storage: _Storage, headers: "Message", subject: str) -> Thread:
    told = thread_of(headers)
    own = (*ids_of(storage.text(_MESSAGE_ID)), told.own)[0]
    parents = ids_of(storage.text(_REFERENCES), storage.text(_IN_REPLY_TO)) or told.parents
    return thread_named(subject, own, parents)


def _moment(storage: _Storage) -> "Moment | None":
    when = storage.time(_SENT) or storage.time(_DELIVERED)
    return moment_of(when, "header") if when is not None and plausible(when) else None
