"""Read a chat log: one ``message`` observation a message."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.formats.chats.message import Flaw, Message
from muniment.adapters.formats.chats.table import FORMATS, Format, recognise
from muniment.adapters.formats.decoded import DecodedSource
from muniment.adapters.formats.languages import script_language
from muniment.adapters.ports import Draft, Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from muniment.store.records import Origin

_HEAD_CHARACTERS = 64 * 1024
_ORIGINS: "dict[str | None, Origin]" = {"user": "user", "assistant": "agent", "tool": "tool"}


class ChatReader:
    """Read any chat format of the table.

    Who the user is can't be known here: whoever a log names by name is a third party; only an
    export that gives roles tells the user from the agent. ``attributes`` hold ``start`` and
    ``end`` of the text in the decoded file where it stands there as it is.
    """

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield messages in the file's order."""
        text = DecodedSource(source, tools.limits.max_text_bytes)
        index, flaws = 0, 0
        for item in _format_of(source, text).parse(text.blocks):
            if isinstance(item, Flaw):
                flaws += 1
                continue
            yield _draft(item, index, text)
            index += 1
        outcome = text.outcome(found=index > 0)
        if outcome is None and flaws:
            outcome = Outcome("partial", "broken_messages", f"{flaws} messages could not be read")
        if outcome:
            yield outcome


def _format_of(source: Source, text: DecodedSource) -> Format:
    for entry in FORMATS:
        if entry.media_type == source.media_type:
            return entry
    head = next(text.blocks(), "")[:_HEAD_CHARACTERS]
    media_type = recognise(head, source.name.rpartition(".")[2].lower())
    for entry in FORMATS:
        if entry.media_type == media_type:
            return entry
    raise InputError("no known chat format", code="unknown_chat", status="unsupported")


def _draft(message: Message, index: int, text: DecodedSource) -> Draft:
    from muniment.store.records import MessageLocator

    sent = message.sent
    where = {}
    if message.start is not None:
        where = {"start": message.start, "end": message.start + len(message.text)}
    return Draft(
        kind="message",
        text=message.text,
        locator=MessageLocator(
            index=index, author=message.author, sent_at=(sent.utc or sent.local) if sent else None
        ),
        confidence=text.confidence,
        origin=_ORIGINS.get(message.role, "third_party"),
        role=message.role,
        language=script_language(message.text),
        author=message.author,
        thread=message.thread,
        occurred=sent,
        attributes={**text.attributes(), **where, **message.attributes},
    )
