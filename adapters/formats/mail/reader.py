"""Read mail: single messages, mailboxes and Outlook messages."""

import codecs
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import compat32

from muniment.adapters.formats.encodings import decode
from muniment.adapters.formats.mail.drafts import Mail, Threads, findings
from muniment.adapters.formats.mail.headers import people, sent_at, text_of, thread_of
from muniment.adapters.formats.mail.mailbox import Oversized, split_mailbox
from muniment.adapters.formats.mail.parts import contents
from muniment.adapters.formats.wide import wide_encoding
from muniment.adapters.ports import Derived, Draft, Finding, Outcome, Source, TimeClaim, Tools
from muniment.store.errors import InputError

# A message is held in memory several times over while it is taken apart.
MAX_MESSAGE_BYTES = 256 * 1024 * 1024
OUTLOOK, MAILBOX = "application/vnd.ms-outlook", "application/mbox"

_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_WIDE_CHARSET = re.compile(r"charset=\"?utf-?(?:16|32)[a-z-]*\"?", re.IGNORECASE)


class MailReader:
    """Read eml, mbox and msg (kind ``message``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield each message and its attachments; a single one also claims its time.

        Raises ``InputError`` ``unreadable`` or ``too_large``. Ends ``encrypted`` when the one body
        is, else ``partial`` with ``encrypted_parts``, ``broken_messages`` or ``depth_limit``.
        """
        ending = _Ending()
        threads = Threads()
        for index, mail in enumerate(_mails(source, ending)):
            ending.see(mail)
            if source.media_type != MAILBOX and index == 0 and mail.sent:
                yield TimeClaim(mail.sent, "header", 1.0 if mail.sent.utc else 0.8)
            for finding in findings(mail, index, threads):
                if isinstance(finding, Derived) and source.depth >= tools.limits.max_depth:
                    ending.too_deep += 1
                    continue
                ending.found += isinstance(finding, Draft)
                yield finding
        if outcome := ending.outcome():
            yield outcome


class _Ending:
    def __init__(self) -> None:
        self.found = 0
        self.broken = 0
        self.too_deep = 0
        self._sealed = 0
        self._bodies = 0

    def see(self, mail: Mail) -> None:
        self._sealed += "encrypted" in mail.contents.flaws
        self._bodies += bool(mail.contents.body)
        self.broken += "broken_part" in mail.contents.flaws

    def outcome(self) -> Outcome | None:
        if self._sealed:
            words = f"{self._sealed} messages are encrypted"
            return Outcome("partial" if self._bodies else "encrypted", "encrypted_parts", words)
        if self.broken:
            return Outcome("partial", "broken_messages", f"{self.broken} could not be read whole")
        if self.too_deep:
            return Outcome("partial", "depth_limit", f"{self.too_deep} attachments lie too deep")
        return None if self.found else Outcome("empty", "no_text", "no message says anything")


def _mails(source: Source, ending: _Ending) -> Iterator[Mail]:
    if source.media_type == OUTLOOK:
        from muniment.adapters.formats.mail.outlook import mails_of

        yield from mails_of(source)
    elif source.media_type == MAILBOX:
        with source.open() as stream:
            for data in split_mailbox(stream, MAX_MESSAGE_BYTES):
                if isinstance(data, Oversized):
                    ending.broken += 1
                else:
                    yield mail_of(data)
    elif source.size > MAX_MESSAGE_BYTES:
        raise InputError("the message is too large to be taken apart", code="too_large")
    else:
        with source.open() as stream:
            yield mail_of(stream.read())


def mail_of(data: bytes) -> Mail:
    """Take one message of RFC 5322 apart; broken ones give what there is."""
    data = _narrow(data)
    try:
        message = message_from_bytes(data, policy=compat32)
    except (ValueError, LookupError, RecursionError) as fault:
        raise InputError("not a readable message", code="unreadable") from fault
    author = (*people(message, "from"), *people(message, "sender"), None)[0]
    sent = sent_at(message)
    return Mail(
        subject=text_of(message, "subject"),
        author=author,
        to=people(message, "to"),
        cc=people(message, "cc"),
        sent=sent[0] if sent else None,
        thread=thread_of(message),
        contents=contents(message),
    )


def _narrow(data: bytes) -> bytes:
    """Make a message that was saved as UTF-16 one of bytes."""
    if not data.startswith(_MARKS) and not (b"\x00" in data[:64] and wide_encoding(data)):
        return data
    text = _WIDE_CHARSET.sub("charset=utf-8", decode(data).text)
    return text.encode("utf-8", "replace")
