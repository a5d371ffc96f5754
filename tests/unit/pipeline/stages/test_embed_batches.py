"""Vectors that are made somewhere else, many batches at once and in any order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from support.asking import Asker
from support.stores import TinyStore

from muniment.adapters.ports import BatchEmbedder
from muniment.pipeline.stages.embed import BATCH, vectors_held
from muniment.pipeline.stages.index import open_live, refresh
from muniment.store.records import Producer

NOTES = 2 * BATCH + 10


class Lengths:
    """An embedder of text lengths that answers batches from the last to the first."""

    dimensions = 2
    producer = Producer(adapter="lengths", version="1", role="embed")

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray([[1.0, len(text)] for text in texts], np.float32)

    def query(self, text: str) -> np.ndarray:
        return self.passages([text]).reshape(-1)


class Backwards(Lengths):
    def passages_of(
        self, batches: Iterable[tuple[int, Sequence[str]]], tick: Callable[[], None], /
    ) -> Iterator[tuple[int, np.ndarray]]:
        tick()
        for key, texts in reversed(list(batches)):
            yield key, self.passages(texts)


def test_batches_that_come_back_in_any_order_reach_their_documents(tmp_path: Path) -> None:
    found = []
    for embedder in (Lengths(), Backwards()):
        store = TinyStore(tmp_path / type(embedder).__name__)
        store.notes(["x" * (number + 1) for number in range(NOTES)])
        chosen: Any = embedder
        counts = refresh(
            store.ledger, store.paths.index, Asker(store).cache, embedder=chosen
        )  # fmt: skip
        assert (counts.embedded, counts.without_vectors) == (NOTES, 0)
        found.append(vectors(store))
        store.close()

    assert isinstance(Backwards(), BatchEmbedder)
    assert not isinstance(Lengths(), BatchEmbedder)
    assert found[0] == found[1]


def vectors(store: TinyStore) -> dict[int, list[float]]:
    index = open_live(store.paths.index)
    try:
        held = vectors_held(index)
        assert held is not None
        return {
            number: row.tolist()
            for numbers, block in held.blocks()
            for number, row in zip(numbers.tolist(), np.asarray(block), strict=True)
        }
    finally:
        index.close()
