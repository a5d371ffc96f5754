"""Session transcripts of Claude Code: one JSON object a line in ``projects/*/SESSION.jsonl``.

What a person typed is the user's; what the program or a sub-agent put in a user's turn is not.
Thinking, tool calls without a result, interruptions and the program's own bookkeeping carry no
message and are left out. A time that can't be read is no time.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from muniment.adapters.formats.moments import iso_moment
from muniment.store.ids import made

HOST = "claude-code"

# The program's own words inside a turn of role user.
_WRAPPED = re.compile(
    r"\s*<(?:command-(?:name|message|args)|local-command-\w+|bash-(?:input|stdout|stderr)|"
    r"system-reminder|task-notification|environment_context|user-prompt-submit-hook)\b"
)
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user")


def events(lines: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the events of whole lines, in order; a line that is none yields nothing."""
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict) and entry.get("type") in ("user", "assistant"):
            yield from _entry(entry)


def _entry(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    message = entry.get("message")
    if not isinstance(message, dict) or entry.get("isMeta") or entry.get("isApiErrorMessage"):
        return
    base = _identity(entry)
    session, time = entry.get("sessionId"), entry.get("timestamp")
    for number, (role, category, text) in enumerate(_said(entry, message.get("content"))):
        if text.strip():
            yield {
                "event_id": base if number == 0 else f"{base}#{number}",
                "role": role,
                "text": text,
                "occurred_at": time if iso_moment(time) is not None else None,
                "category": category,
                "source": HOST,
                "session": session if isinstance(session, str) else None,
            }


def _identity(entry: dict[str, Any]) -> str:
    """Return the line's own id; an entry without one has an id made of what it is."""
    own = entry.get("uuid")
    if isinstance(own, str) and own:
        return own
    parts = (entry.get("sessionId"), entry.get("parentUuid"), entry.get("timestamp"))
    return made("cc", *parts, entry.get("message"))


def _said(entry: dict[str, Any], content: Any) -> Iterator[tuple[str, str | None, str]]:
    """Yield (role, category, text) of each part that says something, the texts joined first."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list):
        return
    blocks = [block for block in blocks if isinstance(block, dict)]
    texts = [
        b["text"] for b in blocks if b.get("type") == "text" and isinstance(b.get("text"), str)
    ]
    if texts and not _INTERRUPTED.match(texts[0]):
        yield (*_speaker(entry, texts[0]), "\n".join(texts))
    for block in blocks:
        if block.get("type") == "tool_result":
            yield "tool", "tool_result", _result(block.get("content"))


def _speaker(entry: dict[str, Any], text: str) -> tuple[str, str | None]:
    if entry["type"] == "assistant":
        return "assistant", "sidechain" if entry.get("isSidechain") else None
    if entry.get("isSidechain"):  # the main agent speaks to one that it started
        return "assistant", "sidechain"
    if entry.get("isCompactSummary"):
        return "assistant", "summary"
    origin = entry.get("origin")
    by_hand = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
    if not by_hand or _WRAPPED.match(text):
        return "tool", "host"
    return "user", None


def _result(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [block.get("text") for block in content if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
