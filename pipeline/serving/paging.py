"""Documents one page at a time: a long text by its characters, a long list by its items'."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from muniment.pipeline.output import to_json

if TYPE_CHECKING:
    from muniment.pipeline.refs import Ref
    from muniment.store.ledger import Ledger

# What of an object may be long; everything else of it is short, or a sample.
_LISTS = {"asset": "observations", "episode": "members"}


def paged(document: dict[str, Any], offset: int, limit: int) -> dict[str, Any]:
    """Return an object with a page of what is long in it; ``next_offset`` is null on the last."""
    text, name = document.get("text"), _LISTS.get(document["object"])
    if "text" in document:
        size, end = len(text or ""), offset + limit
        page = {"text": text and text[offset:end], "text_characters": size}
        return {**document, **page, "next_offset": end if end < size else None}
    if name is None:
        return {**document, "next_offset": document.get("next_offset")}
    items, following = _items(document[name], offset, limit)
    return {**document, name: items, "next_offset": following}


def session_object(ledger: "Ledger", ref: "Ref", offset: int, limit: int) -> dict[str, Any]:
    """Return a session with a page of its messages from number ``offset`` on."""
    from muniment.pipeline.agent.sessions import document

    found = document(ledger, ref.id, offset=offset, limit=limit)
    cut = [_cut(message, limit) for message in found["events"]]
    events, following = _items(cut, 0, limit)
    rest = found["next_offset"] if following is None else offset + following
    return {**found, "ref": str(ref), "object": ref.kind, "events": events, "next_offset": rest}


def _cut(message: dict[str, Any], limit: int) -> dict[str, Any]:
    """Shorten a message that fills a page; its observation holds the rest."""
    text = message["text"]
    return {**message, "text": text[:limit], "text_characters": len(text)}


def _items(items: Sequence[Any], offset: int, limit: int) -> tuple[list[Any], int | None]:
    """Return the items that ``limit`` characters hold, one at least, and where the next begins."""
    kept: list[Any] = []
    room = limit
    for item in items[offset:]:
        room -= len(to_json(item))
        if kept and room < 0:
            break
        kept.append(item)
    end = offset + len(kept)
    return kept, end if end < len(items) else None
