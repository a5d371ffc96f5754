"""JSON lines of events: ``{event_id, role, text, occurred_at, author, session, …}``."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from muniment.adapters.formats.chats.message import Flaw, Message, clean
from muniment.adapters.formats.moments import iso_moment
from muniment.adapters.formats.passages import lines

MEDIA_TYPE = "application/x-events+ndjson"
ROLES = frozenset(("user", "assistant", "tool", "system"))
_LABELS = ("event_id", "category", "source")


def recognise(text: str, _suffix: str) -> bool:
    """Tell whether the first line is such an event."""
    opening = text.lstrip("\ufeff \t\r\n")
    if not opening.startswith("{"):
        return False
    event = _event(opening.partition("\n")[0])
    return event is not None and (event.get("role") in ROLES or "event_id" in event)


def parse(blocks: Callable[[], Iterable[str]]) -> Iterator[Message | Flaw]:
    """Yield one message an event; a line that is none is a flaw."""
    for number, line in _whole_lines(blocks()):
        event = _event(line)
        if event is not None:
            yield _message(event, number)
        elif line.strip("\ufeff \t\r\n"):
            yield Flaw(number, "not an event")


def _whole_lines(blocks: Iterable[str]) -> Iterator[tuple[int, str]]:
    held: list[str] = []
    number = 1
    for line in lines(blocks):
        if held and not line.continued:
            yield number, "".join(held)
            held = []
        number = line.number
        held.append(line.text)
    yield number, "".join(held)


def _event(line: str) -> dict[str, Any] | None:
    try:
        event = json.loads(line.strip("\ufeff \t\r\n"))
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("text"), str) else None


def _message(event: dict[str, Any], number: int) -> Message:
    labels = {name: event[name] for name in _LABELS if isinstance(event.get(name), str)}
    role = event.get("role")
    author, session = event.get("author"), event.get("session")
    return Message(
        clean(event["text"]),
        author=clean(author) if isinstance(author, str) else None,
        sent=iso_moment(event.get("occurred_at")),
        role=role if role in ROLES else None,
        thread=clean(session) if isinstance(session, str) else None,
        attributes={"line": number} | {name: clean(label) for name, label in labels.items()},
    )
