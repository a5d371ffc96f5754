"""What a mail holds: the words of its body, and its attachments."""

import mimetypes
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.errors import MessageError
from email.message import Message
from typing import NamedTuple

from muniment.adapters.formats.chats.message import clean
from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.mail.headers import charset_of, decoded, text_of
from muniment.adapters.formats.visible_text import visible_text

MAX_PARTS = 2000
_SIGNATURES = frozenset(
    ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
)
_SEALED = frozenset(("application/pkcs7-mime", "application/x-pkcs7-mime"))
_CIPHER = re.compile(r"-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----", re.DOTALL)
_RAW_NAME = re.compile(r"name=\"([^\"]+)\"", re.IGNORECASE)
_NO_NAME = re.compile(r"[\x00-\x1f/\\]+")


class Attachment(NamedTuple):
    """A file in a mail."""

    name: str
    data: bytes


@dataclass(slots=True)
class Contents:
    """A mail without its headers.

    ``flaws`` are stable words: ``unknown_charset``, ``undecodable_bytes``, ``encrypted``,
    ``signed``, ``too_many_parts``, ``broken_part``.
    """

    texts: list[str] = field(default_factory=list)
    attachments: list[Attachment] = field(default_factory=list)
    flaws: dict[str, str] = field(default_factory=dict)

    @property
    def body(self) -> str:
        """The words, in the order of the parts."""
        return "\n\n".join(text for text in self.texts if text.strip()).strip()


def contents(message: Message) -> Contents:
    """Take a mail apart; what can't be read is named in the flaws."""
    found = Contents()
    for count, part in enumerate(_shown(message, found)):
        if count >= MAX_PARTS:
            found.flaws["too_many_parts"] = str(MAX_PARTS)
            break
        try:
            _take(part, found, count)
        except (ValueError, LookupError, TypeError, AttributeError, MessageError) as fault:
            found.flaws["broken_part"] = str(fault)[:200]
    return found


def _shown(message: Message, found: Contents) -> Iterator[Message]:
    """Yield the parts to read, of alternatives the plainest; messages inside are not opened."""
    stack = [message]
    while stack:
        part = stack.pop()
        kind = part.get_content_type()
        if kind in _SEALED or kind == "multipart/encrypted":
            found.flaws["encrypted"] = kind
        elif kind == "multipart/alternative":
            stack.extend(reversed(_alternatives(_children(part))))
        elif part.get_content_maintype() == "multipart":
            if kind == "multipart/signed":
                found.flaws["signed"] = str(part.get_param("protocol", "") or "")
            stack.extend(reversed(_children(part)))
        else:
            yield part


def _children(part: Message) -> list[Message]:
    payload = part.get_payload()
    found = payload if isinstance(payload, list) else []
    return [child for child in found if isinstance(child, Message)]


def _alternatives(variants: list[Message]) -> list[Message]:
    """Choose plain text where it says anything, else the last; keep what is no text at all."""
    texts = [part for part in variants if _is_words(part)]
    others = [part for part in variants if not _is_words(part)]
    for part in texts:
        if part.get_content_type() == "text/plain" and _decoded_body(part, Contents()).strip():
            return [part, *(o for o in others if o.get_content_maintype() != "multipart")]
    if texts and not any(part.get_content_type() == "text/html" for part in texts):
        nested = [part for part in others if part.get_content_maintype() == "multipart"]
        return others if nested else [texts[-1], *others]
    return [*(part for part in texts if part.get_content_type() == "text/html")][:1] + others


def _is_words(part: Message) -> bool:
    kind = part.get_content_type()
    return kind in {"text/plain", "text/html", "text/enriched"} and not _is_file(part)


def _is_file(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or bool(_file_name(part))


def _take(part: Message, found: Contents, count: int) -> None:
    kind = part.get_content_type()
    if kind in _SIGNATURES:
        found.flaws.setdefault("signed", kind)
    elif part.get_content_maintype() == "message" and kind != "message/partial":
        _take_message(part, found, count)
    elif _is_words(part):
        text = _decoded_body(part, found)
        if "-----BEGIN PGP MESSAGE-----" in text:
            found.flaws["encrypted"] = "pgp"
            text = _CIPHER.sub("", text)
        found.texts.append(text)
    else:
        data = _bytes_of(part)
        if data:
            found.attachments.append(Attachment(_name(part, count), data))


def _take_message(part: Message, found: Contents, count: int) -> None:
    """Take a message inside this one as a file of its own; delivery reports are words."""
    inner = _children(part)
    if part.get_content_type() not in {"message/rfc822", "message/global"}:
        found.texts.extend(
            "\n".join(f"{name}: {decoded(str(value))}" for name, value in report.raw_items())
            for report in inner
        )
        return
    for message in inner[:1]:
        try:
            data = message.as_bytes()
        except (UnicodeError, LookupError, MessageError):
            data = message.as_string().encode("utf-8", "surrogateescape")
        subject = " ".join(_NO_NAME.sub(" ", text_of(message, "subject")).split())[:80]
        name = _file_name(part) or f"{subject or f'message-{count}'}.eml"
        found.attachments.append(Attachment(name, data))


def _decoded_body(part: Message, found: Contents) -> str:
    data = _bytes_of(part)
    declared = part.get_content_charset() if _has_charset(part) else None
    codec = charset_of(declared)
    if declared and codec is None:
        found.flaws["unknown_charset"] = declared[:60]
        text = _as_utf8(data) or data.decode("latin-1")
    else:
        text = _with_codec(data, codec, found)
    text = clean(text).replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return visible_text(text).text if part.get_content_type() == "text/html" else text


def _with_codec(data: bytes, codec: str | None, found: Contents) -> str:
    if codec is not None and codec != "ascii":
        try:
            return data.decode(codec)
        except (ValueError, LookupError):
            found.flaws["undecodable_bytes"] = codec
    read = decode(data)
    if read.had_errors:
        found.flaws["undecodable_bytes"] = read.encoding
    return read.text


def _as_utf8(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _has_charset(part: Message) -> bool:
    return part.get_param("charset") is not None


def _bytes_of(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _file_name(part: Message) -> str:
    try:
        name = part.get_filename()
    except (ValueError, LookupError, TypeError, MessageError):
        name = None
    if name and "\ufffd" in name:
        name = _raw_name(part) or name
    return _NO_NAME.sub("_", decoded(name)).strip() if name else ""


def _raw_name(part: Message) -> str | None:
    """Return a name that stands in the header as raw bytes."""
    for header, value in part.raw_items():
        found = _RAW_NAME.search(str(value)) if header.lower().startswith("content-") else None
        if found:
            return found[1]
    return None


def _name(part: Message, count: int) -> str:
    if name := _file_name(part):
        return name
    suffix = mimetypes.guess_extension(part.get_content_type()) or ""
    return f"part-{count}{suffix}"
