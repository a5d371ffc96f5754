"""Answer a question as a session asks it: refresh the index, recall, render."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from muniment.pipeline.flow import embedder_of
from muniment.pipeline.recall.answer import recall
from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.request import Filters, Request, instant
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.times import now

if TYPE_CHECKING:
    from muniment.pipeline.options import Session


def request_of(query: str, asked: Mapping[str, Any]) -> Request:
    """Turn a command's options into a request."""
    path = asked.get("path")
    filters = Filters(
        kinds=tuple(asked.get("kind") or ()),
        media=tuple(asked.get("media") or ()),
        since=_instant(asked.get("since")),
        until=_instant(asked.get("until")),
        as_of=_instant(asked.get("as_of")),
        known_at=_instant(asked.get("known_at")),
        include_history=asked.get("include_history", False),
        include_archived=asked.get("include_archived", False),
        min_confidence=asked.get("min_confidence"),
        in_session=asked.get("in_session"),
        path=os.path.abspath(os.fsencode(path)) if path else None,  # noqa: PTH100
    )
    semantic = {None: "auto", True: "on", False: "off"}[asked.get("semantic")]
    budget = asked.get("token_budget", 2_000)
    return Request(query, budget, filters, asked.get("fusion", "weighted"), semantic)


def _instant(text: str | None) -> str | None:
    return None if text is None else instant(text)


def answer(session: "Session", query: str, asked: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the pack of a question, and the same as Markdown."""
    request = request_of(query, asked)
    workspace = session.workspace()
    with workspace.reading() as ledger:
        folder = ledger.paths.index
        refreshed = refresh(ledger, folder, workspace.cache)
        embedder = embedder_of(session) if request.semantic == "on" else None
        index = open_live(folder)
        try:
            notes = [refreshed.skipped] if refreshed.skipped else []
            pack = recall(
                ledger, index, request,
                clock=now, embedder=embedder, cache=workspace.cache, notes=notes,
            )  # fmt: skip
        finally:
            index.close()
    return pack, render(pack)
