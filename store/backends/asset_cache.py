"""What was fetched from a remote asset store: whole files, hashed when they came, used as they are.

It may be deleted at any time, in part or whole. The files used longest ago go first when it grows
over its bound; a file that is larger than the bound stays alone.
"""

import contextlib
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from muniment.store import files
from muniment.store.assets import Stat, hash_file
from muniment.store.errors import DamageError


class AssetCache:
    """The cache of one scope: a folder of files under their hashes."""

    def __init__(self, folder: Path, temporary: Path, bound: int) -> None:
        self._folder = folder
        self._temporary = temporary
        self._bound = bound
        self._sound: dict[str, Stat] = {}

    def path(self, asset: str) -> Path:
        """Return where an asset would lie."""
        return self._folder / asset.removeprefix("sha256:")

    def find(self, asset: str) -> Path | None:
        """Return the file of an asset, marked as used; null when there is none that is sound.

        A process hashes a file once, and again when it was touched.
        """
        path = self.path(asset)
        try:
            stat = Stat.of(path.stat())
            if self._sound.get(asset) != stat:
                if hash_file(path) != asset:
                    path.unlink()
                    return None
                os.utime(path)
                stat = Stat.of(path.stat())
        except OSError:
            return None
        self._sound[asset] = stat
        return path

    def add(self, asset: str, chunks: Iterable[bytes]) -> Path:
        """Write an asset; raise ``DamageError`` when the bytes are not its own."""
        files.make_directory(self._folder)
        files.make_directory(self._temporary)
        digest = sha256()
        with files.temporary_file(self._temporary) as (partial, stream):
            for chunk in chunks:
                digest.update(chunk)
                files.write_chunk(stream, chunk)
            if f"sha256:{digest.hexdigest()}" != asset:
                raise DamageError(f"{asset} no longer matches its hash", code="asset_damaged")
            files.flush(stream)
        self._place(asset, partial)
        return self.path(asset)

    def take(self, asset: str, partial: Path) -> None:
        """Keep a temporary file that was hashed already."""
        files.make_directory(self._folder)
        self._place(asset, partial)

    def remove(self, asset: str) -> bool:
        """Remove an asset, durably; return whether it was there."""
        path = self.path(asset)
        was_there = path.exists()
        files.remove(path)
        self._sound.pop(asset, None)
        if self._folder.is_dir():
            files.sync_directory(self._folder)
        return was_there

    def _place(self, asset: str, partial: Path) -> None:
        with files.space_errors():
            partial.replace(self.path(asset))
        self._sound[asset] = Stat.of(self.path(asset).stat())
        self._shrink(self.path(asset))

    def _shrink(self, newest: Path) -> None:
        """Remove what was used longest ago until the rest fits; others may be doing the same."""
        found = []
        for path in self._folder.iterdir():
            with contextlib.suppress(FileNotFoundError):
                stat = path.stat()
                found.append((stat.st_mtime_ns, stat.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= self._bound:
                return
            if path != newest:
                files.remove(path)
                self._sound.pop(f"sha256:{path.name}", None)
                total -= size
