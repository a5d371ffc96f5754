"""Vectors of what comes in while a process is resident, made beside the answers, few at a time.

A step holds the index no longer than a batch takes, and rests as long as it worked: half of one
core at most. What waits for a vector is found by its words, and the pack says so.
"""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING

from muniment.pipeline.stages.index import refresh
from muniment.store import manifest
from muniment.store.errors import MunimentError
from muniment.store.ledger import Ledger

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.machine import Watch
    from muniment.pipeline.workspace import Workspace

_JOIN_SECONDS = 30.0
_LEAST_REST_SECONDS = 0.05
# Another process that fills the index is let finish.
_BUSY_SECONDS = 5.0


class BackgroundEmbedding:
    """Embeds, in a thread of its own, what the index holds without a vector.

    ``turn`` is held during a step: those who answer never meet an index that is locked from here.
    """

    def __init__(
        self, workspace: "Workspace", watch: "Watch", turn: AbstractContextManager[object],
        tell: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._workspace = workspace
        self._watch = watch
        self._turn = turn
        self._tell = tell
        self._embedder: Embedder | None = None
        self._wanted = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def start(self, embedder: "Embedder") -> None:
        """Begin with what lacks a vector by now; more is done when :meth:`wake` says so."""
        with self._starting:
            if self._thread is None and not self._ended.is_set():
                self._embedder = embedder
                self._thread = threading.Thread(target=self._work, daemon=True, name="embed")
                self._thread.start()
        self.wake()

    def wake(self) -> None:
        """Look again: the index has followed something new."""
        self._wanted.set()

    def close(self) -> None:
        """End after the step in hand."""
        self._ended.set()
        self.wake()
        if self._thread is not None:
            self._thread.join(_JOIN_SECONDS)

    def step(self) -> int | None:
        """Embed one batch; return how many texts still wait, null where another is at the index."""
        assert self._embedder is not None
        root, wait = self._workspace.root, self._workspace.settings["lock_wait"]
        texts = self._watch.tier().texts
        with (
            self._turn, manifest.shared(root, wait),
            closing(Ledger.read(root, self._workspace.scope)) as ledger,
        ):  # fmt: skip
            done = refresh(
                ledger, self._workspace.indexes(), self._workspace.cache,
                embedder=self._embedder, most_vectors=texts, batch=texts,
            )  # fmt: skip
        return None if done.skipped else done.without_vectors

    def _work(self) -> None:
        while self._wanted.wait() and not self._ended.is_set():
            self._wanted.clear()
            began = time.monotonic()
            try:
                left = self.step()
            except MunimentError as error:
                self._tell(f"new texts wait for their vectors: {error.message}")
                continue
            if left != 0:
                self._wanted.set()
                rest = _BUSY_SECONDS if left is None else time.monotonic() - began
                self._ended.wait(max(rest, _LEAST_REST_SECONDS))
