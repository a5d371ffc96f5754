"""Standing things in stores of our own: what always holds must come with what is asked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from support.stores import TinyStore

from muniment.pipeline.recall.answer import answered
from muniment.pipeline.recall.request import Request
from muniment.pipeline.stages.index import open_live, refresh

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.store.index.ports import SearchIndex

CASES = Path(__file__).with_name("data") / "standing.json"
LANGUAGES = ("en", "zh")
NOW = "2026-01-01T00:00:00.000000Z"


@dataclass
class Case:
    """A question, and the sayings that its pack must carry."""

    ask: str
    wanted: tuple[str, ...]


@dataclass
class StandingStore:
    """A store of standing records among notes, with the cases over it."""

    store: TinyStore
    index: "SearchIndex"
    cases: list[Case]
    cache: Path
    embedder: "Embedder | None"

    def carried(self, request: Request, case: Case) -> tuple[float, dict[str, Any]]:
        """Return the share of what a case wants that its pack carries, and the pack."""
        pack, _ = answered(
            self.store.ledger, self.index, replace(request, query=case.ask), clock=lambda: NOW,
            embedder=self.embedder, cache=self.cache,
        )  # fmt: skip
        shown = {item["text"] for section in pack["sections"] for item in section["items"]}
        return sum(text in shown for text in case.wanted) / len(case.wanted), pack


@contextmanager
def standing_store(language: str, embedder: "Embedder | None" = None) -> Iterator[StandingStore]:
    """Build the store of a language in a temporary folder."""
    written = json.loads(CASES.read_text("utf-8"))[language]
    said = {one["id"]: one["said"] for one in written["standing"]}
    with TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        store.notes(written["notes"])
        for one in written["standing"]:
            kind = "preference" if one["kind"] == "preference" else "fact"
            of_type = "semantic" if one["kind"] == "preference" else "procedural"
            note = store.note(one["said"], name=f"said-{one['id']}.txt")
            store.record(
                one["said"], note, kind=kind, type=of_type, pinned=one.get("pinned", False)
            )
        cases = [
            Case(case["ask"], tuple(said[key] for key in case["wanted"]))
            for case in written["cases"]
        ]
        cache = Path(folder) / "cache"
        refresh(store.ledger, store.paths.index, cache, embedder=embedder)
        index = open_live(store.paths.index)
        try:
            yield StandingStore(store, index, cases, cache, embedder)
        finally:
            index.close()
            store.close()
