"""The index stage: words as soon as they are committed, vectors last and newest first.

The index is a cache (invariant 6). A refresh follows the ledger under the scope's index lock; a
rebuild makes another generation beside the live one and swaps it in when it is whole.
"""

import errno
import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from muniment.pipeline.stages.embed import BATCH
from muniment.pipeline.stages.follow import Counts, Follower
from muniment.store import files, locks
from muniment.store.errors import LockedError
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.fts import TextIndex
from muniment.store.index.generation import FileIndexes
from muniment.store.index.ports import IndexStore, SearchIndex
from muniment.store.text.segment import IndexCutter, compile_dictionary, open_dictionary

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.progress import ProgressLine
    from muniment.store.ledger import Ledger

# Where an index is: a folder of files, or what another engine keeps.
Place: TypeAlias = Path | IndexStore

# From so many new observations on, writing them in another process is worth starting it.
MANY = 10_000
# A batch makes some ten thousands of objects that go with it, and no cycle of them.
_COLLECTED_AFTER = 100_000

BUSY = "another process is refreshing the index; the answer is from what is indexed so far"
_UNWRITABLE = {errno.EACCES, errno.EPERM, errno.EROFS}
UNWRITABLE = "the index can't be written to; the answer is from what is indexed so far"


@dataclass(slots=True)
class Refreshed:
    """What a refresh did; ``skipped`` says why it did nothing, ``without_vectors`` is null when no
    embedder was given.
    """

    indexed: int = 0
    removed: int = 0
    embedded: int = 0
    without_vectors: int | None = None
    skipped: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the counts by name."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Vectors:
    """Who makes vectors, how many at most and how many at once."""

    embedder: "Embedder"
    most: int | None = None
    batch: int = BATCH


@dataclass(frozen=True, slots=True)
class _Work:
    """What is followed into which index, and how."""

    ledger: "Ledger"
    indexes: IndexStore
    cache_dir: Path
    vectors: Vectors | None
    progress: "ProgressLine | None"
    jobs: int


def refresh(  # noqa: PLR0913 (a command hands over this many things)
    ledger: "Ledger",
    place: Place,
    cache_dir: Path,
    *,
    embedder: "Embedder | None" = None,
    progress: "ProgressLine | None" = None,
    wait_seconds: float = 0.0,
    most_vectors: int | None = None,
    batch: int = BATCH,
    jobs: int = 1,
) -> Refreshed:
    """Follow the ledger; the cost grows with what is new only.

    ``most_vectors`` bounds how many texts are embedded, for a caller that somebody waits for;
    ``batch`` is how many at once. With more ``jobs`` than one, much is written by another process.
    A missing index is begun, a damaged or outdated one rebuilt. When another process holds the
    lock, or the folder can't be written to, nothing is done and the result says so.
    """
    indexes = _indexes(place)
    if embedder is None and _is_current(ledger, indexes):
        return Refreshed()
    try:
        with _locked(ledger, wait_seconds):
            vectors = None if embedder is None else Vectors(embedder, most_vectors, batch)
            return _refresh(_Work(ledger, indexes, cache_dir, vectors, progress, jobs))
    except LockedError:
        return Refreshed(skipped=BUSY)
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        return Refreshed(skipped=UNWRITABLE)


def rebuild(  # noqa: PLR0913 (a command hands over this many things)
    ledger: "Ledger",
    place: Place,
    cache_dir: Path,
    *,
    embedder: "Embedder | None" = None,
    embed_again: bool = False,
    progress: "ProgressLine | None" = None,
    wait_seconds: float = 0.0,
    jobs: int = 1,
) -> Refreshed:
    """Build a generation beside the live one and swap it in; raises ``LockedError`` when busy.

    Vectors are copied unless ``embed_again`` asks for new ones. With more ``jobs`` than one, much
    is written by another process.
    """
    with _locked(ledger, wait_seconds):
        vectors = None if embedder is None else Vectors(embedder)
        work = _Work(ledger, _indexes(place), cache_dir, vectors, progress, jobs)
        return _rebuild(work, copy=not embed_again)


def open_live(place: Place) -> SearchIndex:
    """Open the live generation for reading; raises ``IndexDamageError`` when there is none."""
    return _indexes(place).open()


def _indexes(place: Place) -> IndexStore:
    return FileIndexes(place) if isinstance(place, Path) else place


@contextmanager
def _locked(ledger: "Ledger", wait_seconds: float) -> Iterator[None]:
    files.make_directory(ledger.paths.index)
    with locks.hold(ledger.paths.index_lock, wait_seconds=wait_seconds):
        yield


def _is_current(ledger: "Ledger", indexes: IndexStore) -> bool:
    try:
        index = indexes.open()
    except IndexDamageError:
        return False
    try:
        return not Follower(ledger, index).is_behind()
    finally:
        index.close()


def _refresh(work: _Work) -> Refreshed:
    cutter = _NoticingCutter(work.cache_dir)
    try:
        index = work.indexes.open(readonly=False, cutter=cutter)
    except IndexDamageError as error:
        if error.code != "index_missing":
            return _rebuild(work)
        # An index that never was may be seen while it grows: a cut-short start is then resumed.
        index = work.indexes.create(cutter)
        work.indexes.promote(index.generation)
    try:
        done = _fill(work, index, cutter)
        _embed(work, index, done)
        index.settle()
        return done
    finally:
        index.close()


def _rebuild(work: _Work, *, copy: bool = True) -> Refreshed:
    cutter = _NoticingCutter(work.cache_dir)
    index = work.indexes.create(cutter)
    try:
        done = _fill(work, index, cutter)
        if copy:
            _copy_vectors(work.indexes, index)
        _embed(work, index, done)
        index.settle()
    finally:
        index.close()
    work.indexes.promote(index.generation)
    work.indexes.prune()
    return done


def _fill(work: _Work, index: SearchIndex, cutter: "_NoticingCutter") -> Refreshed:
    if _ahead(work, index) < MANY:
        counts = _followed(work, index)
    else:
        with _seldom_collected():
            counts = _followed_beside(work, index, cutter) or _followed(work, index)
    cutter.compile_if_used()
    return Refreshed(counts.indexed, counts.removed)


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Keep the collector of cycles from looking, again and again, at what goes by itself."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECTED_AFTER, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _followed(work: _Work, index: SearchIndex) -> Counts:
    return Follower(work.ledger, index, _started(work, index)).catch_up()


def _followed_beside(work: _Work, index: SearchIndex, cutter: "_NoticingCutter") -> Counts | None:
    """Let another process write while this one reads.

    Return null if there is none to be, or it failed: what is left is then done in here, where an
    error has its name.
    """
    if work.jobs == 1 or not isinstance(index, TextIndex):
        return None
    from muniment.pipeline.stages.index_process import IndexProcess, IndexProcessError

    try:
        with IndexProcess(index, cutter) as written:
            return Follower(work.ledger, written, _started(work, index)).catch_up()
    except IndexProcessError:
        return None


def _ahead(work: _Work, index: SearchIndex) -> int:
    """Return how many observations the ledger is ahead of the index."""
    return max(work.ledger.evidence.last() - int(index.get_mark("observation")), 0)


def _started(work: _Work, index: SearchIndex) -> Callable[[int], None]:
    """Start the line of progress; return what moves it on."""
    if work.progress is None:
        return lambda _: None
    work.progress.start("index", _ahead(work, index))
    return work.progress.advance


def _embed(work: _Work, index: SearchIndex, counts: Refreshed) -> None:
    if work.vectors is None:
        return
    from muniment.pipeline.stages.embed import embed_missing

    counts.embedded, counts.without_vectors = embed_missing(
        work.ledger, index, work.vectors.embedder, work.progress,
        most=work.vectors.most, batch=work.vectors.batch,
    )  # fmt: skip


def _copy_vectors(indexes: IndexStore, index: SearchIndex) -> None:
    from muniment.pipeline.stages.embed import copy_vectors

    try:
        old = indexes.open()
    except IndexDamageError:
        return
    try:
        copy_vectors(old, index)
    finally:
        old.close()


class _NoticingCutter:
    """Cuts Han text for the index, and compiles the dictionary for queries when there was any."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache = cache_dir
        self._cutter: IndexCutter | None = None

    def cut(self, run: str) -> list[str]:
        """Return the words of a run of Han characters, sub-words before the word itself."""
        if self._cutter is None:
            self._cutter = IndexCutter(self._cache)
        return self._cutter.cut(run)

    def compile_if_used(self) -> None:
        """Write the compiled dictionary into the cache, once, when Han text was met."""
        if self._cutter is not None and open_dictionary(self._cache) is None:
            compile_dictionary(self._cache)
