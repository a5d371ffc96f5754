"""One message of a log, and the walk over lines that finds it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.adapters.formats.passages import lines, visible

if TYPE_CHECKING:
    from muniment.store.records import Moment

MESSAGE_CHARACTERS = 64 * 1024


@dataclass(frozen=True, slots=True)
class Message:
    """A message; ``start`` is where its text stands in the decoded file, null if it is escaped.

    ``role`` is ``system`` for what the program wrote, ``user``, ``assistant`` or ``tool`` where
    the log says so.
    """

    text: str
    author: str | None = None
    sent: "Moment | None" = None
    start: int | None = None
    role: str | None = None
    thread: str | None = None
    attributes: Mapping[str, Any] = field(default_factory=dict)


class Flaw(NamedTuple):
    """A part of a log that could not be read; ``where`` counts lines or messages from 1."""

    where: int
    reason: str


class Head(NamedTuple):
    """What the first line of a message says, and where in that line its text begins."""

    author: str | None
    sent: "Moment | None"
    body: int
    role: str | None = None
    attributes: Mapping[str, Any] = {}


class _Open(NamedTuple):
    head: Head
    start: int
    parts: list[str]


_PREAMBLE = Head(None, None, 0, "system")


def clean(text: str) -> str:
    """Replace lone surrogates, which JSON can spell and UTF-8 can't, by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def split_messages(
    blocks: Iterable[str], read_head: Callable[[str], Head | None]
) -> Iterator[Message]:
    """Yield the messages of a log in which some lines open a message and others go on with it.

    What stands before the first one is a message of the program.
    """
    current, size = _Open(_PREAMBLE, 0, []), 0
    for line in lines(blocks):
        head = None if line.continued else read_head(line.text)
        if head is None and size > MESSAGE_CHARACTERS:
            head = current.head._replace(body=0)
        if head is None:
            current.parts.append(line.text)
            size += len(line.text)
            continue
        yield from _finished(current)
        body = line.text[head.body :]
        current, size = _Open(head, line.start + head.body, [body]), len(body)
    yield from _finished(current)


def _finished(message: _Open) -> Iterator[Message]:
    head, text = message.head, "".join(message.parts)
    lead = len(text) - len(text.lstrip("\ufeff\u200e\u200f \t\r\n\xa0\u202f"))
    start, text = message.start + lead, text[lead:].rstrip()
    if visible(text):
        yield Message(text, head.author, head.sent, start, head.role, None, head.attributes)
