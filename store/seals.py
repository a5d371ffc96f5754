"""Remember which large files were hashed whole and how they looked then, so that recall need not
read gigabytes to cite one line.

A seal holds while size, times and inode are what they were. The file of seals is a cache inside
the index folder: losing it costs one more reading of each cited file.
"""

import os
from contextlib import suppress
from pathlib import Path

import apsw

from muniment.store.assets import Stat, hash_file

FILE = "seals.sqlite3"
_MOST_KNOWN = 20_000
_TABLE = (
    "CREATE TABLE IF NOT EXISTS seal (asset TEXT PRIMARY KEY, size INTEGER, mtime_ns INTEGER, "
    "ctime_ns INTEGER, inode INTEGER) STRICT, WITHOUT ROWID"
)


class Seals:
    """The seals of one scope, in a folder that may be missing or not writable.

    What was asked once is known from then on: how a file looked when it was hashed stays true.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._known: dict[str, Stat] = {}
        self._database: apsw.Connection | None = None

    def intact(self, path: str | Path, asset: str, size: int) -> bool:
        """Tell whether a file still holds an asset's bytes, by its seal or else by its hash."""
        try:
            stat = Stat.of(os.stat(path))  # noqa: PTH116 (asked for every asset of every answer)
            if stat.size != size:
                return False
            if self.holds(asset, stat):
                return True
            if hash_file(Path(path)) != asset or Stat.of(Path(path).stat()) != stat:
                return False
        except OSError:
            return False
        self.seal(asset, stat)
        return True

    def holds(self, asset: str, stat: Stat) -> bool:
        """Tell whether an asset was sealed in just this state."""
        if self._known.get(asset) == stat:
            return True
        if self._sealed(asset) != stat:
            return False
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[asset] = stat
        return True

    def forget(self, asset: str) -> None:
        """Drop the seal of an asset."""
        self._known.pop(asset, None)
        if not self._path.exists():
            return
        with suppress(apsw.Error):
            self._open().execute("DELETE FROM seal WHERE asset = ?", (asset,))

    def compact(self) -> None:
        """Write the file anew, without what was dropped from it."""
        if self._path.exists():
            with suppress(apsw.Error):
                self._open().execute("VACUUM")

    def close(self) -> None:
        """Let the file go."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _sealed(self, asset: str) -> Stat | None:
        if self._database is None and not self._path.exists():
            return None
        with suppress(apsw.Error):
            row = (
                self._open()
                .execute(
                    "SELECT size, mtime_ns, ctime_ns, inode FROM seal WHERE asset = ?", (asset,)
                )
                .fetchone()
            )
            return None if row is None else Stat(*row)
        return None

    def seal(self, asset: str, stat: Stat) -> None:
        """Record the state in which an asset was hashed."""
        # A reader may have no right to write here: then the next one hashes again.
        with suppress(apsw.Error, OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._open().execute(
                "INSERT OR REPLACE INTO seal VALUES (?, ?, ?, ?, ?)",
                (asset, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode),
            )

    def _open(self) -> apsw.Connection:
        if self._database is None:
            if not self._path.exists():
                self._path.touch(mode=0o600)
            self._database = apsw.Connection(str(self._path))
            self._database.set_busy_timeout(200)
            self._database.pragma("synchronous", "off")
            self._database.pragma("secure_delete", True)
            self._database.execute(_TABLE)
        return self._database
