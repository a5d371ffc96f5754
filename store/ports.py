"""What the store asks of an engine for bytes: one protocol for assets, one for backups.

Local files implement both (:mod:`~muniment.store.local_assets`,
:mod:`~muniment.store.backup.local`), and so does an S3-compatible object store
(:mod:`~muniment.store.backends`). ``tests/contract`` holds what every implementation passes.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from muniment.store.asset_places import Elsewhere
    from muniment.store.seals import Seals


class Stored(NamedTuple):
    """One thing that lies in an asset store: where, and the asset that it is kept as, if any."""

    place: str
    asset: str | None


class AssetStore(Protocol):
    """Where the bytes of one scope's large assets lie; each is named by its SHA-256.

    Every method raises ``RemoteError`` when the store can't be reached. ``elsewhere`` lets another
    process fetch what does not lie in files of this machine; null where everything does.
    """

    elsewhere: "Elsewhere | None"

    def keep(self, partial: Path, asset: str, size: int) -> None:
        """Take a durable temporary file that was hashed; once this returns, a row may name it.

        An asset that is there and sound is left alone, one that is not is written again.
        """
        ...

    def file(self, asset: str) -> Path:
        """Return a local file with the bytes; one that does not exist when they are lost."""
        ...

    def lend(self, asset: str, scratch: Path) -> Path:
        """Return such a file that stays for as long as ``scratch`` does."""
        ...

    def chunks(self, asset: str) -> Iterator[bytes]:
        """Yield the bytes; raise ``DamageError`` when they are missing or, at the end, wrong."""
        ...

    def read(self, asset: str, start: int, length: int) -> bytes:
        """Return a part of the bytes, unchecked; ``DamageError`` when they are missing."""
        ...

    def check(self, asset: str, size: int, *, whole: bool = True) -> None:
        """Raise ``DamageError`` unless the asset is there: all of it, or else in full size."""
        ...

    def intact(self, asset: str, size: int, seals: "Seals") -> bool:
        """Tell whether the asset is there and has its hash, which a seal may have recorded."""
        ...

    def remove(self, asset: str) -> bool:
        """Remove an asset for good, with every version and copy; return whether it was there."""
        ...

    def left(self, asset: str) -> list[str]:
        """Name every version, copy and unfinished upload of an asset."""
        ...

    def stored(self) -> Iterator[Stored]:
        """Yield everything that lies in the store, whether it is an asset or not."""
        ...

    def discard(self, place: str) -> None:
        """Remove what :meth:`stored` named."""
        ...


class Region(Protocol):
    """Bytes that can be read from any place."""

    size: int

    def read_at(self, offset: int, size: int) -> bytes:
        """Return the bytes there, fewer only at the end."""
        ...


class Held(NamedTuple):
    """One file of a backup destination."""

    name: str
    size: int


class Destination(Protocol):
    """Where a backup repository lies: files by name, whole or absent.

    ``name`` is for messages. ``temporary`` is a folder for plain copies; null where there is none.
    Every method raises ``RemoteError`` when the place can't be reached.
    """

    name: str
    temporary: Path | None

    def read(self, name: str) -> bytes | None:
        """Return a small file; null when it does not exist."""
        ...

    def is_free(self) -> bool:
        """Tell whether a repository may be made here: nobody else's files are in the place."""
        ...

    def make(self) -> None:
        """Prepare the place for a repository."""
        ...

    def size(self, name: str) -> int | None:
        """Return the size of a file; null when it does not exist."""
        ...

    def names(self, folder: str) -> Iterator[Held]:
        """Yield every file below a folder, sorted by name."""
        ...

    def opened(self, name: str) -> AbstractContextManager[Region]:
        """Open a file; raise ``DamageError`` when it is missing or can't be read."""
        ...

    def put(
        self, name: str, chunks: Iterable[bytes], *, over: bool = False,
        check: Callable[[Region], None] | None = None,
    ) -> None:  # fmt: skip
        """Write a file so that its name never shows part of it.

        ``check`` reads it back first where the place does not prove what it took. Raises
        ``FileExistsError`` for a name that is taken, unless ``over``.
        """
        ...

    def remove(self, name: str) -> None:
        """Remove a file, durably and for good; it may be gone already."""
        ...

    def writing(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Be the only one who uses the place; what a killed writer left goes first."""
        ...

    def reading(self, wait_seconds: float = 0.0) -> AbstractContextManager[None]:
        """Use the place with other readers."""
        ...
