"""The chat formats, how each is told from others and which module reads it."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from muniment.adapters.formats.chats import (
    conversations,
    dialogue,
    events,
    exports,
    pasted,
    sheet,
    stamped,
    whatsapp,
    workspace,
)
from muniment.adapters.formats.chats.message import Flaw, Message


class Format(NamedTuple):
    """How a format is told from others and read.

    ``recognise(text, suffix)`` judges the beginning of a decoded file; ``parse(blocks)`` may call
    ``blocks`` more than once for the decoded text from its start.
    """

    media_type: str
    recognise: Callable[[str, str], bool]
    parse: Callable[[Callable[[], Iterable[str]]], Iterator[Message | Flaw]]


# The first that fits wins: the stricter ones come first.
FORMATS: tuple[Format, ...] = (
    Format(whatsapp.MEDIA_TYPE, whatsapp.recognise, whatsapp.parse),
    Format(stamped.MEDIA_TYPE, stamped.recognise, stamped.parse),
    Format(pasted.MEDIA_TYPE, pasted.recognise, pasted.parse),
    Format(events.MEDIA_TYPE, events.recognise, events.parse),
    Format(exports.TELEGRAM, exports.recognise_telegram, exports.parse_telegram),
    Format(exports.CHATGPT, exports.recognise_chatgpt, exports.parse_chatgpt),
    Format(exports.CLAUDE, exports.recognise_claude, exports.parse_claude),
    Format(workspace.MEDIA_TYPE, workspace.recognise, workspace.parse),
    Format(conversations.MEDIA_TYPE, conversations.recognise, conversations.parse),
    Format(sheet.MEDIA_TYPE, sheet.recognise, sheet.parse),
    Format(dialogue.MEDIA_TYPE, dialogue.recognise, dialogue.parse),
)


def recognise(text: str, suffix: str) -> str | None:
    """Return the media type of the chat format that text starts as, or null."""
    for entry in FORMATS:
        if entry.recognise(text, suffix):
            return entry.media_type
    return None
