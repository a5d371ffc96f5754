"""One mail as observations: its words with who, when and which thread, and its files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.adapters.formats.chats.message import MESSAGE_CHARACTERS
from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.mail.headers import Person, Thread
from muniment.adapters.formats.mail.parts import Contents
from muniment.adapters.formats.passages import visible
from muniment.adapters.ports import Derived, Draft, Finding

if TYPE_CHECKING:
    from muniment.store.records import MessageLocator, Moment

MAX_REMEMBERED = 500_000
_MAX_NAMES = 50


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail taken apart."""

    subject: str
    author: Person | None
    to: Sequence[Person]
    cc: Sequence[Person]
    sent: "Moment | None"
    thread: Thread
    contents: Contents


@dataclass(slots=True)
class Threads:
    """Gives each message of a box the key of its thread; replies find it by ids, then by subject.

    The key of a thread is that of its first message, so replies in other files agree on it as far
    as they name it.
    """

    _by_id: dict[str, str] = field(default_factory=dict)
    _by_subject: dict[str, str] = field(default_factory=dict)

    def key(self, thread: Thread) -> str | None:
        """Return a stable key, or null when nothing tells."""
        known = [self._by_id[parent] for parent in thread.parents if parent in self._by_id]
        key = known[0] if known else self._first_seen(thread)
        if key is not None and len(self._by_id) < MAX_REMEMBERED:
            for name in (thread.own, *thread.parents):
                if name:
                    self._by_id.setdefault(name, key)
            self._by_subject.setdefault(thread.subject, key)
        return key

    def _first_seen(self, thread: Thread) -> str | None:
        if thread.parents:
            return f"mail:{thread.parents[0]}"
        by_subject = f"subject:{thread.subject[:200]}" if thread.subject else None
        if thread.is_reply and by_subject:
            return self._by_subject.get(thread.subject, by_subject)
        return f"mail:{thread.own}" if thread.own else by_subject


def findings(mail: Mail, index: int, threads: Threads) -> Iterator[Finding]:
    """Yield the words of a mail, in pieces when it is very long, then its attachments."""
    where = _locator(mail, index)
    key = threads.key(mail.thread)
    text = "\n\n".join(filter(visible, (mail.subject, mail.contents.body))) or _envelope(mail)
    notes = _attributes(mail)
    for number, piece in enumerate(_pieces(text)):
        yield Draft(
            kind="message",
            text=piece,
            locator=where,
            confidence=1.0,
            origin="third_party",
            language=script_language(piece),
            author=mail.author.who if mail.author else None,
            thread=key,
            occurred=mail.sent,
            attributes=notes,
            occurrence=number,
        )
    for attachment in dict.fromkeys(mail.contents.attachments):
        yield Derived("attachment", where, attachment.name, data=attachment.data, observe=True)


def _envelope(mail: Mail) -> str:
    """Return who wrote to whom, for mail that says nothing else."""
    sides = {"From": [mail.author], "To": mail.to, "Cc": mail.cc}
    lines = {name: [str(one) for one in people if one] for name, people in sides.items()}
    return "\n".join(f"{name}: {', '.join(who)}" for name, who in lines.items() if who)


def _locator(mail: Mail, index: int) -> "MessageLocator":
    from muniment.store.records import MessageLocator

    return MessageLocator(
        index=index,
        author=mail.author.who if mail.author else None,
        sent_at=(mail.sent.utc or mail.sent.local) if mail.sent else None,
    )


def _attributes(mail: Mail) -> dict[str, Any]:
    notes: dict[str, Any] = {}
    if mail.subject:
        notes["subject"] = mail.subject
    for name, people in (("from", [mail.author]), ("to", mail.to), ("cc", mail.cc)):
        if named := [str(person) for person in people if person][:_MAX_NAMES]:
            notes[name] = named
    if mail.thread.own:
        notes["message_id"] = mail.thread.own
    if mail.contents.attachments:
        notes["attachments"] = [file.name for file in mail.contents.attachments[:_MAX_NAMES]]
    return {**notes, **mail.contents.flaws}


def _pieces(text: str) -> Iterator[str]:
    """Cut at line ends what is too long for one observation."""
    while len(text) > MESSAGE_CHARACTERS:
        cut = text.rfind("\n", MESSAGE_CHARACTERS // 2, MESSAGE_CHARACTERS)
        cut = cut if cut > 0 else MESSAGE_CHARACTERS
        if visible(text[:cut]):
            yield text[:cut]
        text = text[cut:].lstrip("\n")
    if visible(text):
        yield text
