"""Answer questions as a session asks them: refresh the index once, then recall, search, explain."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muniment.pipeline.flow import embedder_of
from muniment.pipeline.recall.answer import recall, search_hits
from muniment.pipeline.recall.render_markdown import render
from muniment.pipeline.recall.request import Filters, Request, instant
from muniment.pipeline.recall.tokens import Counter, counter_of, estimate
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.access import touch
from muniment.store.index.documents import IndexDamageError
from muniment.store.times import now

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.options import Session
    from muniment.store.index.fts import TextIndex
    from muniment.store.ledger import Ledger

# Texts that are embedded on the way to an answer; more wait for the index stage.
_MOST_VECTORS = 64
_FIRST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope that is open for questions; ``notes`` say what the index could not do."""

    ledger: "Ledger"
    index: "TextIndex"
    cache: "Path"
    embedder: "Embedder | None"
    notes: list[str]
    count: Counter = estimate

    def recall(self, request: Request) -> tuple[dict[str, Any], str]:
        """Return the pack of a request, and the same as Markdown."""
        pack = recall(
            self.ledger, self.index, request,
            clock=now, embedder=self.embedder, cache=self.cache, notes=self.notes,
        )  # fmt: skip
        touch(self.ledger.paths.access, _recalled(pack), now())
        return pack, render(pack)

    def search(self, request: Request, limit: int) -> list[dict[str, Any]]:
        """Return ranked hits without packing."""
        return search_hits(
            self.ledger, self.index, request,
            clock=now, limit=limit, embedder=self.embedder, cache=self.cache,
        )  # fmt: skip

    def explain(self, request: Request, limit: int) -> dict[str, Any]:
        """Return what every signal found and what became of it."""
        from muniment.pipeline.recall.explain import explain

        return explain(
            self.ledger, self.index, request,
            clock=now, limit=limit, embedder=self.embedder, cache=self.cache,
        )  # fmt: skip


@contextmanager
def reading(session: "Session", *, semantic: bool) -> Iterator[Reading]:
    """Open the scope with its index brought up to date."""
    workspace = session.workspace()
    count = counter_of(session.settings["tokenizer"])
    with workspace.reading() as ledger:
        embedder = embedder_of(session) if semantic else None
        index, notes = open_followed(
            ledger, workspace.cache, embedder, wait_seconds=session.settings["lock_wait"]
        )
        try:
            yield Reading(ledger, index, workspace.cache, embedder, notes, count)
        finally:
            index.close()


def open_followed(
    ledger: "Ledger", cache: "Path", embedder: "Embedder | None" = None, *, wait_seconds: float
) -> "tuple[TextIndex, list[str]]":
    """Bring the index up to date and open it; return it with what is to be told of it.

    Where another process is at it, what is indexed so far answers. Where that is the very first
    index, nothing is there yet, and it is waited for.
    """
    folder = ledger.paths.index
    refreshed = refresh(ledger, folder, cache, embedder=embedder, most_vectors=_MOST_VECTORS)
    try:
        index = open_live(folder)
    except IndexDamageError:
        if refreshed.skipped is None:
            raise
        refreshed = refresh(ledger, folder, cache, wait_seconds=max(wait_seconds, _FIRST_SECONDS))
        index = open_live(folder)
    return index, [refreshed.skipped] if refreshed.skipped else []


def request_of(query: str, asked: Mapping[str, Any]) -> Request:
    """Turn a command's options into a request."""
    path = asked.get("path")
    filters = Filters(
        kinds=tuple(asked.get("kind") or ()),
        media=tuple(asked.get("media") or ()),
        since=_instant(asked.get("since")),
        until=_instant(asked.get("until"), end=True),
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
    return Request(
        query, budget, filters, asked.get("fusion", "weighted"), semantic,
        coverage_threshold=asked.get("coverage_threshold"),
    )  # fmt: skip


def _recalled(pack: dict[str, Any]) -> Iterator[str]:
    """Yield the records that a pack answers with; what always stands in one is not recalled."""
    for section in pack["sections"]:
        for item in section["items"] if section["name"] in {"records", "conflicts"} else ():
            yield item["ref"].removeprefix("record:").partition("@")[0]


def asked_of(session: "Session", query: str, asked: Mapping[str, Any]) -> Request:
    """Turn a command's options, and the settings behind them, into a request."""
    threshold = session.settings["coverage_threshold"]
    return request_of(query, {"coverage_threshold": threshold, **asked})


def named(request: Request, query_id: str | None, query: str) -> Request:
    """Return the same request for another query."""
    return replace(request, query=query, query_id=query_id)


def _instant(text: str | None, *, end: bool = False) -> str | None:
    return None if text is None else instant(text, end=end)


def answer(session: "Session", query: str, asked: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the pack of a question, and the same as Markdown."""
    request = asked_of(session, query, asked)
    with reading(session, semantic=request.semantic == "on") as opened:
        return opened.recall(request)
