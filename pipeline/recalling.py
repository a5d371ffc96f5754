"""Answer questions as a session asks them: refresh the index once, then recall, search, explain."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from muniment.pipeline.flow import embedder_of
from muniment.pipeline.recall.answer import answered, search_hits
from muniment.pipeline.recall.filter_words import check_words
from muniment.pipeline.recall.request import Filters, Request, instant
from muniment.pipeline.recall.tokens import Counter, counter_of, estimate
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.access import Recorder, touch
from muniment.store.index.documents import IndexDamageError
from muniment.store.times import now

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.machine import Tier
    from muniment.pipeline.options import Session
    from muniment.pipeline.progress import ProgressLine
    from muniment.pipeline.settings import Settings
    from muniment.pipeline.workspace import Workspace
    from muniment.store.index.ports import SearchIndex
    from muniment.store.ledger import Ledger

# Texts that are embedded on the way to an answer; more wait for the index stage.
_MOST_VECTORS = 64
_FIRST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Reading:
    """A scope that is open for questions; ``notes`` say what the index could not do.

    ``count`` is how tokens are counted, ``configured`` what settings and machine add to a request,
    ``recorder`` what notes the use of records, where it is held open.
    """

    ledger: "Ledger"
    index: "SearchIndex"
    cache: "Path"
    embedder: "Embedder | None"
    notes: list[str]
    count: Counter = estimate
    configured: Mapping[str, Any] = field(default_factory=dict)
    recorder: Recorder | None = None

    def request(self, query: str, asked: Mapping[str, Any]) -> Request:
        """Turn what somebody asks, and the settings behind it, into a request."""
        return request_of(query, {**self.configured, **asked})

    def recall(self, request: Request) -> tuple[dict[str, Any], str]:
        """Return the pack of a request, and the same as Markdown."""
        check_words(self.ledger, request.filters)
        began = perf_counter()
        pack, markdown = answered(
            self.ledger, self.index, request,
            clock=now, embedder=self.embedder, cache=self.cache, notes=self.notes,
            count=self.count,
        )  # fmt: skip
        milliseconds = (perf_counter() - began) * 1_000
        if self.recorder is None:
            touch(self.ledger.paths.access, _recalled(pack), now(), milliseconds)
        else:
            self.recorder.touch(_recalled(pack), now(), milliseconds)
        return pack, markdown

    def search(self, request: Request, limit: int) -> list[dict[str, Any]]:
        """Return ranked hits without packing."""
        check_words(self.ledger, request.filters)
        return search_hits(
            self.ledger, self.index, request,
            clock=now, limit=limit, embedder=self.embedder, cache=self.cache,
        )  # fmt: skip

    def explain(self, request: Request, limit: int) -> dict[str, Any]:
        """Return what every signal found and what became of it."""
        from muniment.pipeline.recall.explain import explain

        check_words(self.ledger, request.filters)
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
            ledger, workspace, embedder, wait_seconds=session.settings["lock_wait"]
        )
        try:
            added = configured(session.settings)
            yield Reading(ledger, index, workspace.cache, embedder, notes, count, added)
        finally:
            index.close()


def open_followed(
    ledger: "Ledger",
    workspace: "Workspace",
    embedder: "Embedder | None" = None,
    *,
    wait_seconds: float,
    progress: "ProgressLine | None" = None,
) -> "tuple[SearchIndex, list[str]]":
    """Bring the index up to date and open it; return it with what is to be told of it.

    Where another process is at it, what is indexed so far answers. Where that is the very first
    index, nothing is there yet, and it is waited for.
    """
    indexes, cache = workspace.indexes(), workspace.cache
    refreshed = refresh(
        ledger, indexes, cache,
        embedder=embedder, most_vectors=_MOST_VECTORS, progress=progress,
    )  # fmt: skip
    try:
        index = open_live(indexes)
    except IndexDamageError:
        if refreshed.skipped is None:
            raise
        refreshed = refresh(ledger, indexes, cache, wait_seconds=max(wait_seconds, _FIRST_SECONDS))
        index = open_live(indexes)
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
        hops=asked.get("hops", 1), depth=asked.get("depth", 1.0),
        fade=asked.get("fade", False),
    )  # fmt: skip


def _recalled(pack: dict[str, Any]) -> Iterator[str]:
    """Yield the records that a pack answers with; what always stands in one is not recalled."""
    for section in pack["sections"]:
        for item in section["items"] if section["name"] in {"records", "conflicts"} else ():
            yield item["ref"].removeprefix("record:").partition("@")[0]


def asked_of(session: "Session", query: str, asked: Mapping[str, Any]) -> Request:
    """Turn a command's options, and the settings behind them, into a request."""
    return request_of(query, {**configured(session.settings), **asked})


def configured(settings: "Settings", tier: "Tier | None" = None) -> dict[str, Any]:
    """Return what the settings, and the machine as it is now, add to what is asked."""
    tier = tier or settings.watch.tier()
    return {
        "coverage_threshold": settings["coverage_threshold"], "hops": tier.hops,
        "depth": tier.depth,
    }  # fmt: skip


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
