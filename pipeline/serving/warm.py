"""A store kept warm: readers with ledger and index open, models loaded once.

A reader is used by one call at a time and checked before each: a ledger that was restored under
another inode, an index that was rebuilt beside the live one, are opened again. Nothing is held
between calls that would keep a writer or a restore waiting.
"""

import gc
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.pipeline.recall.tokens import counter_of
from muniment.pipeline.recalling import Reading, configured, open_followed
from muniment.pipeline.serving.calls import ALONE, Call
from muniment.pipeline.serving.embedding import BackgroundEmbedding
from muniment.pipeline.stages.embed import vectors_held
from muniment.pipeline.stages.follow import Follower
from muniment.store import manifest
from muniment.store.access import Recorder
from muniment.store.database import map_pages, number
from muniment.store.errors import MunimentError, NotFoundError, UsageError
from muniment.store.ledger import Ledger

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.machine import Tier
    from muniment.pipeline.options import Session
    from muniment.store.index.ports import SearchIndex

# How often one who waits for a reader looks whether the machine bears more, or is not awaited.
_LOOK_SECONDS = 0.5
# A question makes some thousands of objects and no cycle of them to speak of.
_COLLECTED_AFTER = 20_000


@dataclass(slots=True)
class _Reader:
    """One ledger and index, open, and what they were opened from."""

    ledger: Ledger
    index: "SearchIndex"
    inode: int
    generation: str
    recorder: Recorder
    # The state of the ledger, as its connection numbers them, that the index has followed.
    followed: int = -1

    def is_behind(self) -> bool:
        """Tell whether the ledger has anything that the index has not followed."""
        state = number(self.ledger.database, "PRAGMA data_version")
        if state != self.followed:
            if Follower(self.ledger, self.index).is_behind():
                return True
            self.followed = state
        return False

    def close(self) -> None:
        self.recorder.close()
        self.index.close()
        self.ledger.close()


class Warm:
    """One scope of one root, asked many times."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self.workspace = session.workspace()
        self._paths = self.workspace.root.scope(self.workspace.scope)
        self._indexes = self.workspace.indexes()
        self._idle: list[_Reader] = []
        self._guard = threading.Condition()
        self._busy = 0
        self._watch = session.settings.watch
        # Who follows the ledger or embeds: one at a time, so that nobody meets a locked index.
        self._turn = threading.Lock()
        self._embedding = BackgroundEmbedding(
            self.workspace, self._watch, self._turn, session.output.note
        )
        self._embedder: Embedder | None = None
        self._count = counter_of(session.settings["tokenizer"])
        self._loading = threading.Lock()

    @contextmanager
    def reading(self, *, semantic: bool | None = None, call: Call = ALONE) -> Iterator[Reading]:
        """Take a reader whose index has followed the ledger; others may be used beside it.

        ``semantic`` true loads the embedder when it is not yet; null uses one that is loaded. How
        many are in use at once is what the machine can bear at that moment.
        """
        embedder = self.embedder() if semantic else None if semantic is False else self._embedder
        wait = self.workspace.settings["lock_wait"]
        with self._slot(call) as tier, manifest.shared(self.workspace.root, wait):
            reader, notes = self._take(call)
            try:
                call.check()
                yield Reading(
                    reader.ledger, reader.index, self.workspace.cache, embedder, notes,
                    self._count, configured(self.session.settings, tier),
                    reader.recorder,
                )  # fmt: skip
            except (NotFoundError, UsageError):
                self._give_back(reader, tier.readers)  # what was asked is wrong, the reader is not
                raise
            except BaseException:
                reader.close()  # whatever state it is in, the next call opens afresh
                raise
            self._give_back(reader, tier.readers)

    def embedder(self) -> "Embedder":
        """Return the embedder, loading it once."""
        from muniment.pipeline.flow import embedder_of

        with self._loading:
            if self._embedder is None:
                self._embedder = embedder_of(self.session)
                self._embedding.start(self._embedder)
            return self._embedder

    def settle(self) -> None:
        """Load what questions need, and keep the collector from looking at all that stays.

        Call it when everything is loaded; where questions come one after the other, having arrays
        added up is worth loading numpy.
        """
        import numpy as np  # noqa: F401 (the index uses it once it is there)

        gc.collect()
        gc.freeze()
        gc.set_threshold(_COLLECTED_AFTER, *gc.get_threshold()[1:])

    def load_in_background(self) -> threading.Thread | None:
        """Load the embedder beside the first calls where the index holds vectors to use it on."""
        try:
            with closing(self._indexes.open()) as index:
                if vectors_held(index) is None:
                    return None
        except MunimentError:
            return None
        thread = threading.Thread(target=self._try_loading, daemon=True, name="load-embedder")
        thread.start()
        return thread

    def close(self) -> None:
        """Let go of every reader that is not in use, and end what runs beside them."""
        self._embedding.close()
        with self._guard:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def _try_loading(self) -> None:
        try:
            self.embedder()
        except MunimentError as error:
            self.session.output.note(f"semantic search is off: {error.message}")

    @contextmanager
    def _slot(self, call: Call) -> "Iterator[Tier]":
        """Wait until fewer readers are in use than the machine can bear now."""
        with self._guard:
            while self._busy >= (tier := self._watch.tier()).readers:
                self._guard.wait(_LOOK_SECONDS)
                call.check()
            self._busy += 1
        try:
            yield tier
        finally:
            with self._guard:
                self._busy -= 1
                self._guard.notify()

    def _give_back(self, reader: _Reader, most: int) -> None:
        """Keep a reader for the next call, but no more than may be in use at once."""
        with self._guard:
            self._idle.append(reader)
            spare = self._idle[most:]
            del self._idle[most:]
        for one in spare:
            one.close()

    def _take(self, call: Call) -> tuple[_Reader, list[str]]:
        with self._guard:
            reader = self._idle.pop() if self._idle else None
        if reader is not None and not self._is_current(reader):
            reader.close()
            reader = None
        if reader is not None and not reader.is_behind():
            return reader, []
        ledger = Ledger.read(self.workspace.root, self.workspace.scope)
        try:
            map_pages(ledger.database)
            if reader is not None:
                reader.close()
            inode = self._paths.ledger.stat().st_ino
            wait = self.workspace.settings["lock_wait"]
            with self._turn:
                index, notes = open_followed(
                    ledger, self.workspace, wait_seconds=wait, progress=call.progress()
                )
        except BaseException:
            ledger.close()
            raise
        self._embedding.wake()
        recorder = Recorder(self._paths.access)
        return _Reader(ledger, index, inode, index.generation, recorder), notes

    def _is_current(self, reader: _Reader) -> bool:
        try:
            if self._paths.ledger.stat().st_ino != reader.inode:
                return False
            reader.index.count()  # a connection may have been cut meanwhile
            return self._indexes.current() == reader.generation
        except (OSError, MunimentError):
            return False
