"""One call before a reply and one after: the context to answer from, and what was said."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent.resuming import Resume, check_budget
from muniment.pipeline.agent.working import pack_of, tokens_in
from muniment.pipeline.recall.request import LEAST_BUDGET

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.pipeline.recalling import Reading

SCHEMA = "muniment.turn/1"
# The pack recalls by itself, so the context before it holds only what the pack does not.
COMPONENTS = ("persona", "checkpoint", "agreements", "emotion", "events")
FIRST_COMPONENTS = ("persona", "agreements", "memories", "emotion")
_BETWEEN_TOKENS = 4  # what two texts may take more when they are one


def prepare(
    opened: "Reading",
    persona: dict[str, Any],
    session_id: str,
    query: str,
    asked: Mapping[str, Any],
) -> tuple[dict[str, Any], str]:
    """Return pack and resume context under one budget, and both as Markdown.

    The context takes half of the budget at most; the pack has what is left, and unfinished speech.
    Before its first turn a session has a context, too: persona, agreements, what counts anyway.
    """
    budget = asked.get("token_budget") or 2_000
    check_budget(budget, 2 * LEAST_BUDGET)
    first = opened.ledger.sessions.number(session_id) is None
    components = FIRST_COMPONENTS if first else COMPONENTS
    resume = Resume(opened, persona, session_id, query, components, first=first, spoken=False)
    most = budget - LEAST_BUDGET - _BETWEEN_TOKENS
    context, before = resume.document(min(budget // 2, most))
    left = budget - tokens_in(before, opened.count) - _BETWEEN_TOKENS
    pack, after = pack_of(opened, query, {**asked, "token_budget": left}, session_id)
    text = f"{before}\n{after}"
    document = {
        "schema": SCHEMA,
        "session": session_id,
        "token_budget": budget,
        "tokens_used": tokens_in(text, opened.count),
        "resume": context,
        "pack": pack,
    }
    return document, text


def prepare_turn(
    session: "Session", session_id: str, query: str, asked: Mapping[str, Any]
) -> tuple[dict[str, Any], str]:
    """Prepare a turn as a command asks for it."""
    from muniment.pipeline.agent.personas import current
    from muniment.pipeline.recalling import reading

    persona = current(session)
    with reading(session, semantic=False) as opened:
        return prepare(opened, persona, session_id, query, asked)
