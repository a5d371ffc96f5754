"""A store kept warm: readers with ledger and index open, models loaded once.

A reader is used by one call at a time and checked before each: a ledger that was restored under
another inode, an index that was rebuilt beside the live one, are opened again. Nothing is held
between calls that would keep a writer or a restore waiting.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.pipeline.recalling import Reading, open_followed
from muniment.pipeline.stages.follow import Follower
from muniment.store import manifest
from muniment.store.errors import DamageError, MunimentError
from muniment.store.index.generation import Generations
from muniment.store.ledger import Ledger

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.adapters.ports import Embedder
    from muniment.pipeline.options import Session
    from muniment.store.index.fts import TextIndex


@dataclass(slots=True)
class _Reader:
    """One ledger and index, open, and what they were opened from."""

    ledger: Ledger
    index: "TextIndex"
    inode: int
    generation: "Path"

    def close(self) -> None:
        self.index.close()
        self.ledger.close()


class Warm:
    """One scope of one root, asked many times."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.workspace = session.workspace()
        self._paths = self.workspace.root.scope(self.workspace.scope)
        self._idle: list[_Reader] = []
        self._guard = threading.Lock()
        readers = session.settings.watch.tier().readers
        self._slots = threading.BoundedSemaphore(readers)
        self._embedder: Embedder | None = None
        self._loading = threading.Lock()

    @contextmanager
    def reading(self, *, semantic: bool | None = None) -> Iterator[Reading]:
        """Take a reader whose index has followed the ledger; others may be used beside it.

        ``semantic`` true loads the embedder when it is not yet; null uses one that is loaded.
        """
        embedder = self.embedder() if semantic else None if semantic is False else self._embedder
        wait = self.workspace.settings["lock_wait"]
        with self._slots, manifest.shared(self.workspace.root, wait):
            reader, notes = self._take()
            try:
                yield Reading(reader.ledger, reader.index, self.workspace.cache, embedder, notes)
            except BaseException:
                reader.close()  # whatever state it is in, the next call opens afresh
                raise
            with self._guard:
                self._idle.append(reader)

    def embedder(self) -> "Embedder":
        """Return the embedder, loading it once."""
        from muniment.pipeline.flow import embedder_of

        with self._loading:
            if self._embedder is None:
                self._embedder = embedder_of(self.session)
            return self._embedder

    def load_in_background(self) -> threading.Thread | None:
        """Load the embedder beside the first calls where the index holds vectors to use it on."""
        try:
            folder = Generations(self._paths.index).current()
        except DamageError:
            return None
        if not any(folder.glob("vectors-*")):
            return None
        thread = threading.Thread(target=self._try_loading, daemon=True, name="load-embedder")
        thread.start()
        return thread

    def close(self) -> None:
        """Let go of every reader that is not in use."""
        with self._guard:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def _try_loading(self) -> None:
        try:
            self.embedder()
        except MunimentError as error:
            self.session.output.note(f"semantic search is off: {error.message}")

    def _take(self) -> tuple[_Reader, list[str]]:
        with self._guard:
            reader = self._idle.pop() if self._idle else None
        if reader is not None and not self._is_current(reader):
            reader.close()
            reader = None
        if reader is not None and not Follower(reader.ledger, reader.index).is_behind():
            return reader, []
        ledger = Ledger.read(self.workspace.root, self.workspace.scope)
        try:
            if reader is not None:
                reader.close()
            inode = self._paths.ledger.stat().st_ino
            wait = self.workspace.settings["lock_wait"]
            index, notes = open_followed(ledger, self.workspace.cache, wait_seconds=wait)
        except BaseException:
            ledger.close()
            raise
        return _Reader(ledger, index, inode, index.path.parent), notes

    def _is_current(self, reader: _Reader) -> bool:
        try:
            same = self._paths.ledger.stat().st_ino == reader.inode
            return same and Generations(self._paths.index).current() == reader.generation
        except (OSError, DamageError):
            return False
