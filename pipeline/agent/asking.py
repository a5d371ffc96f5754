"""A store opened for one question or many: the ledger, its index, and how they are asked."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from muniment.pipeline.recall.answer import recall
from muniment.pipeline.recall.render_markdown import item_lines, render, section_lines
from muniment.pipeline.recall.request import LEAST_BUDGET
from muniment.pipeline.recall.tokens import CHARACTERS_A_TOKEN, estimate
from muniment.pipeline.recalling import request_of
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.index.documents import IndexDamageError
from muniment.store.times import now

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.options import Session
    from muniment.store.index.fts import TextIndex
    from muniment.store.ledger import Ledger

FIRST_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Asking:
    """One reader of one scope; ``notes`` become warnings of every pack."""

    ledger: "Ledger"
    index: "TextIndex"
    cache: "Path"
    embedder: "Embedder | None" = None
    notes: list[str] = field(default_factory=list)

    def pack(
        self, query: str, asked: Mapping[str, Any], session_id: str | None = None
    ) -> tuple[dict[str, Any], str]:
        """Return the pack of a question, and the same as Markdown.

        Unfinished speech of the session that asks stands in ``working``, within the budget.
        """
        request = request_of(query, asked)
        fragments = self._working(session_id)
        cost = _cost(fragments)
        if request.token_budget - cost < LEAST_BUDGET:
            fragments, cost = [], 0
        pack = recall(
            self.ledger, self.index, replace(request, token_budget=request.token_budget - cost),
            clock=now, embedder=self.embedder, cache=self.cache, notes=self.notes,
        )  # fmt: skip
        return _with_working(pack, fragments, request.token_budget)

    def _working(self, session_id: str | None) -> list[dict[str, Any]]:
        number = None if session_id is None else self.ledger.sessions.number(session_id)
        if number is None:
            return []
        return [working_item(found) for found in self.ledger.sessions.fragments(number)]


def working_item(fragment: Mapping[str, Any]) -> dict[str, Any]:
    """Return an unfinished voice fragment as an item: it claims nothing and cites nothing."""
    return {
        "ref": None, "text": fragment["text"], "kind": "voice_fragment", "time": fragment["time"],
        "score": 0.0, "signals": {}, "citations": [], "duplicates": 0,
    }  # fmt: skip


def tokens_in(text: str) -> int:
    """Count the tokens of a text, never fewer than its characters allow."""
    return max(estimate(text), -(-len(text) // CHARACTERS_A_TOKEN))


def _cost(items: list[dict[str, Any]]) -> int:
    lines = [line for item in items for line in item_lines(item)]
    lines += section_lines("working") if items else []
    return sum(tokens_in(line + "\n") for line in lines)


def _with_working(
    pack: dict[str, Any], fragments: list[dict[str, Any]], budget: int
) -> tuple[dict[str, Any], str]:
    if fragments:
        sections = [one for one in pack["sections"] if one["name"] != "working"]
        at = next((n for n, one in enumerate(sections) if one["name"] == "unknowns"), len(sections))
        sections.insert(at, {"name": "working", "items": fragments})
        pack = {**pack, "sections": sections, "token_budget": budget}
        pack["tokens_used"] = tokens_in(render(pack))
    return pack, render(pack)


def open_followed(
    ledger: "Ledger", cache: "Path", wait_seconds: float
) -> "tuple[TextIndex, list[str]]":
    """Bring the index up to date and open it; return it with what is to be told of it.

    Where another process is at it, what is indexed so far answers. Where it is at the very first
    index, nothing is yet: that is waited for.
    """
    folder = ledger.paths.index
    refreshed = refresh(ledger, folder, cache)
    try:
        index = open_live(folder)
    except IndexDamageError:
        if refreshed.skipped is None:
            raise
        refreshed = refresh(ledger, folder, cache, wait_seconds=max(wait_seconds, FIRST_SECONDS))
        index = open_live(folder)
    return index, [refreshed.skipped] if refreshed.skipped else []


@contextmanager
def opened(session: "Session") -> Iterator[Asking]:
    """Open the scope of a command for questions, the index brought up to date first."""
    workspace = session.workspace()
    with workspace.reading() as ledger:
        index, notes = open_followed(ledger, workspace.cache, session.settings["lock_wait"])
        try:
            yield Asking(ledger, index, workspace.cache, None, notes)
        finally:
            index.close()
