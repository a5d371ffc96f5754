"""Answers that are laid into the result of their call behind the SDK.

It would walk each from end to end three times, to copy and to check what our own code has made.
"""

from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types import CallToolResult

from muniment.pipeline.output import to_json

# What the tool of this call gives, by its names on the wire; its worker thread sees the same.
_given: ContextVar[dict[str, Any]] = ContextVar("given")


def answer(document: dict[str, Any], markdown: str) -> CallToolResult:
    """Return the result of a tool, which ``lay_in`` fills; JSON can hold the document."""
    _given.get().update(content=[{"type": "text", "text": markdown}], structuredContent=document)
    return CallToolResult(content=[])


def answer_json(document: dict[str, Any]) -> CallToolResult:
    """Return the result of a tool whose text is its document."""
    return answer(document, to_json(document))


async def lay_in(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Lay the answer that a tool has given into its result: middleware of the server."""
    given: dict[str, Any] = {}
    token = _given.set(given)
    try:
        result = await call_next(ctx)
    finally:
        _given.reset(token)
    if not given:
        return result
    if not isinstance(result, dict):
        raise TypeError("the SDK makes another kind of result than an answer can be laid into")
    return result if result.get("isError") else {**result, **given}
