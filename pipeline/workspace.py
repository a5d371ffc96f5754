"""Open the root, the scope and its ledger once, under the right locks, and hand them over."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.pipeline.settings import Settings
from muniment.store import files, locks, manifest
from muniment.store.asset_places import Place, require_place
from muniment.store.errors import LockedError, UsageError
from muniment.store.layout import Root
from muniment.store.ledger import Ledger

if TYPE_CHECKING:
    from muniment.store.asset_places import Location
    from muniment.store.index.ports import IndexStore


class Workspace:
    """One root as one command sees it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.root = Root(settings.root, offline=bool(settings["offline"]))
        self.scope = settings.scope

    @property
    def cache(self) -> Path:
        """The folder of what can be made again, such as the compiled dictionary."""
        return self.settings.cache

    def indexes(self) -> "IndexStore":
        """Return what keeps the search index of the scope."""
        from muniment.pipeline.indexes import indexes_of

        return indexes_of(self.settings, self.root, self.scope)

    def initialize(self, assets: "Location | None" = None, cache_bytes: int | None = None) -> bool:
        """Make the root a store with this scope in it; return whether anything was new.

        ``assets`` keeps the assets of a new root in an object store. Raises ``StateError`` for a
        root whose assets lie elsewhere already.
        """
        new_root = self._new_root(assets, cache_bytes)
        new_scope = not self.root.scope(self.scope).ledger.exists()
        with self.writing():
            pass
        return new_root or new_scope

    def _new_root(self, assets: "Location | None", cache_bytes: int | None) -> bool:
        if assets is None:
            return manifest.initialize(self.root)
        if manifest.state_of(self.root) is manifest.RootState.CURRENT:
            require_place(self.root, assets)
            return False
        from muniment.store.backends.claims import claim, release

        self._require_online(assets)
        place = Place.new(assets, cache_bytes)
        claim(place)
        try:
            return manifest.initialize(self.root, place)
        except BaseException:
            release(place)
            raise

    def _require_online(self, assets: "Location") -> None:
        if self.settings["offline"]:
            raise UsageError(
                f"{assets.url} is not asked: offline", code="offline", hint="leave --offline out"
            )

    @contextmanager
    def reading(self) -> Iterator[Ledger]:
        """Open the ledger for reading; never waits for a writer."""
        shared = manifest.shared(self.root, self.settings["lock_wait"])
        with shared, Ledger.read(self.root, self.scope) as ledger:
            yield ledger

    @contextmanager
    def planning(self) -> Iterator[Ledger]:
        """Open what there is for a dry run; an empty ledger in memory where there is nothing."""
        state = manifest.state_of(self.root)
        paths = self.root.scope(self.scope)
        if state is manifest.RootState.CURRENT and paths.ledger.exists():
            with ExitStack() as held:
                still = self._kept_still(held)
                yield held.enter_context(Ledger.read(self.root, self.scope, still=still))
            return
        if state not in {manifest.RootState.CURRENT, manifest.RootState.UNINITIALIZED}:
            raise manifest.refusal(self.root, state)
        with Ledger.empty(self.root, self.scope) as ledger:
            yield ledger

    def _kept_still(self, held: ExitStack) -> bool:
        """Keep writers out if none is at work, so that reading leaves no file behind."""
        held.enter_context(manifest.shared(self.root, self.settings["lock_wait"]))
        try:
            lock = self.root.scope(self.scope).writer_lock
            held.enter_context(locks.hold(lock, shared=True))
        except LockedError:
            return False
        return True

    @contextmanager
    def changing(self, *, dry_run: bool) -> Iterator[Ledger]:
        """Open what must exist already, for writing unless it is a dry run."""
        with self.reading() as ledger:
            if dry_run:
                yield ledger
                return
        with self.writing() as ledger:
            yield ledger

    @contextmanager
    def writing(self) -> Iterator[Ledger]:
        """Open the ledger as the scope's one writer, making root and scope on first write."""
        wait = self.settings["lock_wait"]
        manifest.initialize(self.root)
        with manifest.shared(self.root, wait):
            paths = self.root.scope(self.scope)
            files.make_directory(paths.path)
            lock = locks.hold(paths.writer_lock, wait_seconds=wait)
            with lock, Ledger.create(self.root, self.scope) as ledger:
                yield ledger

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the root and the scope's writer lock alone: nobody else has a file open."""
        wait = self.settings["lock_wait"]
        with manifest.alone(self.root, wait):
            paths = self.root.scope(self.scope)
            if not paths.ledger.exists():
                with Ledger.read(self.root, self.scope):
                    """Says that there is nothing."""
            with locks.hold(paths.writer_lock, wait_seconds=wait):
                yield
