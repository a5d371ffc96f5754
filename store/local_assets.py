"""The asset store that needs no engine: files below the folder of the scope."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.store import files
from muniment.store.assets import CHUNK_BYTES, check_file
from muniment.store.errors import DamageError
from muniment.store.layout import ScopePaths
from muniment.store.ports import Stored
from muniment.store.seals import Seals

if TYPE_CHECKING:
    from muniment.store.asset_places import Elsewhere


class LocalAssets:
    """Assets as files of the scope, each under its hash."""

    elsewhere: "Elsewhere | None" = None

    def __init__(self, paths: ScopePaths) -> None:
        self._paths = paths

    def keep(self, partial: Path, asset: str, size: int) -> None:
        """Give a file its name, also over one: its name may not be durable, its bytes rotten."""
        final = self._paths.asset(asset)
        files.make_directory(final.parent)
        files.publish(partial, final)

    def file(self, asset: str) -> Path:
        """Return where the asset lies."""
        return self._paths.asset(asset)

    def lend(self, asset: str, scratch: Path) -> Path:
        """Return where the asset lies: nobody takes it away while the root is held."""
        return self._paths.asset(asset)

    def chunks(self, asset: str) -> Iterator[bytes]:
        """Yield the bytes of the file."""
        digest = sha256()
        try:
            with files.open_plain(self._paths.asset(asset)) as stream:
                while chunk := stream.read(CHUNK_BYTES):
                    digest.update(chunk)
                    yield chunk
        except FileNotFoundError:
            raise _missing(asset) from None
        if f"sha256:{digest.hexdigest()}" != asset:
            raise DamageError(f"{asset} no longer matches its hash", code="asset_damaged")

    def read(self, asset: str, start: int, length: int) -> bytes:
        """Return a part of the file."""
        try:
            with files.open_plain(self._paths.asset(asset)) as stream:
                stream.seek(start)
                return stream.read(length)
        except FileNotFoundError:
            raise _missing(asset) from None

    def check(self, asset: str, size: int, *, whole: bool = True) -> None:
        """Look at the file, and hash it."""
        check_file(self._paths.asset(asset), asset, size, whole=whole)

    def intact(self, asset: str, size: int, seals: Seals) -> bool:
        """Ask the seal, else hash the file."""
        return seals.intact(self._paths.asset_name(asset), asset, size)

    def remove(self, asset: str) -> bool:
        """Remove the file, durably."""
        path = self._paths.asset(asset)
        was_there = path.exists()
        files.remove(path)
        if path.parent.is_dir():
            files.sync_directory(path.parent)
        return was_there

    def left(self, asset: str) -> list[str]:
        """Name the file if it is there."""
        path = self._paths.asset(asset)
        return [str(path)] if path.exists() else []

    def stored(self) -> Iterator[Stored]:
        """Yield every file of the folder."""
        for path in _files(self._paths):
            asset = f"sha256:{path.name}"
            yield Stored(str(path), asset if path == self._paths.asset(asset) else None)

    def discard(self, place: str) -> None:
        """Remove a file."""
        path = Path(place)
        if path.is_file():
            files.remove(path)


def _files(paths: ScopePaths) -> Iterator[Path]:
    if not paths.assets.is_dir():
        return
    for entry in sorted(paths.assets.iterdir()):
        yield from sorted(entry.iterdir()) if entry.is_dir() else [entry]


def _missing(asset: str) -> DamageError:
    return DamageError(f"{asset} is missing", code="asset_missing")
