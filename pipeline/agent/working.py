"""The pack of a session's question, with its unfinished speech in ``working``, in one budget."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muniment.pipeline.recall.render_markdown import item_lines, render, section_lines
from muniment.pipeline.recall.request import LEAST_BUDGET
from muniment.pipeline.recall.tokens import CHARACTERS_A_TOKEN, Counter, estimate

if TYPE_CHECKING:
    from muniment.pipeline.recalling import Reading


def pack_of(
    opened: "Reading", query: str, asked: Mapping[str, Any], session_id: str | None
) -> tuple[dict[str, Any], str]:
    """Return the pack of a question, and the same as Markdown."""
    request = opened.request(query, asked)
    said = _working(opened, session_id)
    fragments, cost = _fitting(said, request.token_budget - LEAST_BUDGET, opened.count)
    pack, markdown = opened.recall(replace(request, token_budget=request.token_budget - cost))
    pack["omitted"]["budget"] += len(said) - len(fragments)
    if not fragments:
        return pack, markdown
    return _with_working(pack, fragments, request.token_budget, opened.count)


def tokens_in(text: str, count: Counter = estimate) -> int:
    """Count the tokens of a text, never fewer than its characters allow."""
    return max(count(text), -(-len(text) // CHARACTERS_A_TOKEN))


def _working(opened: "Reading", session_id: str | None) -> list[dict[str, Any]]:
    sessions = opened.ledger.sessions
    number = None if session_id is None else sessions.number(session_id)
    return [] if number is None else [_item(found) for found in sessions.fragments(number)]


def _item(fragment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an unfinished voice fragment as an item: it claims nothing and cites nothing."""
    return {
        "ref": None, "text": fragment["text"], "kind": "voice_fragment", "time": fragment["time"],
        "score": 0.0, "signals": {}, "citations": [], "duplicates": 0,
    }  # fmt: skip


def _fitting(
    fragments: list[dict[str, Any]], most: int, count: Counter
) -> tuple[list[dict[str, Any]], int]:
    """Return the newest fragments that fit, and what they cost."""
    while (cost := _cost(fragments, count)) > most:
        fragments = fragments[1:]
    return fragments, cost


def _cost(items: list[dict[str, Any]], count: Counter) -> int:
    lines = [line for item in items for line in item_lines(item)]
    lines += section_lines("working") if items else []
    return sum(tokens_in(line + "\n", count) for line in lines)


def _with_working(
    pack: dict[str, Any], fragments: list[dict[str, Any]], budget: int, count: Counter
) -> tuple[dict[str, Any], str]:
    sections = [one for one in pack["sections"] if one["name"] != "working"]
    at = next((n for n, one in enumerate(sections) if one["name"] == "unknowns"), len(sections))
    sections.insert(at, {"name": "working", "items": fragments})
    pack = {**pack, "sections": sections, "token_budget": budget}
    markdown = render(pack)
    return {**pack, "tokens_used": tokens_in(markdown, count)}, markdown
