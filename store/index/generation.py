"""Which generation of the index is live, and how another one takes its place.

::

    index/
      current        the name of the live generation
      gen-3/         fts.sqlite3, vectors-<fingerprint>.bits, .rows, .docs
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.store.index.fts import TextIndex
from muniment.store.index.schema import damaged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muniment.store.text.words import Cutter

_NAME = re.compile(r"gen-([0-9]+)")


class Generations:
    """The generations in one index folder; one process at a time writes, any number read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def current(self) -> Path:
        """Return the folder of the live generation.

        Raises ``IndexDamageError`` (``index_missing``) when there is none.
        """
        try:
            name = (self.folder / "current").read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            name = ""
        path = self.folder / name
        if not _NAME.fullmatch(name) or not path.is_dir():
            raise damaged(self.folder, "there is no index yet", "index_missing")
        return path

    def create(self) -> Path:
        """Make the folder of a new generation beside the live one."""
        from muniment.store.files import make_directory

        numbers = [int(found[1]) for path in self._all() if (found := _NAME.fullmatch(path.name))]
        path = self.folder / f"gen-{max(numbers, default=0) + 1}"
        make_directory(path)
        return path

    def promote(self, generation: Path) -> None:
        """Make a generation the live one; readers of the old one keep what they have open."""
        from muniment.store.files import write_atomic

        write_atomic(self.folder / "current", [generation.name.encode("ascii") + b"\n"])

    def prune(self) -> int:
        """Delete every generation but the live one; return how many went."""
        from muniment.store.files import remove

        live = self.current()
        others = [path for path in self._all() if path != live]
        for path in others:
            for file in path.iterdir():
                remove(file)
            path.rmdir()
        return len(others)

    def open_text(self, *, readonly: bool = True, cutter: "Cutter | None" = None) -> TextIndex:
        """Open the live generation's text index; its folder is ``path.parent`` of the result."""
        return open_text(self.current(), readonly=readonly, cutter=cutter)

    def _all(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return [path for path in self.folder.iterdir() if _NAME.fullmatch(path.name)]


class FileIndexes:
    """One scope's index in files beside its ledger: the default ``IndexStore``."""

    def __init__(self, folder: Path) -> None:
        self._generations = Generations(folder)

    def current(self) -> str:
        """Return the name of the live generation.

        Raises ``IndexDamageError`` (``index_missing``) when there is none.
        """
        return self._generations.current().name

    def create(self, cutter: "Cutter | None" = None) -> TextIndex:
        """Begin a generation beside the live one and open it for writing."""
        return open_text(self._generations.create(), cutter=cutter)

    def promote(self, generation: str) -> None:
        """Make a generation the live one; readers of the old one keep what they have open."""
        self._generations.promote(self._generations.folder / generation)

    def prune(self) -> int:
        """Delete every generation but the live one; return how many went."""
        return self._generations.prune()

    def open(self, *, readonly: bool = True, cutter: "Cutter | None" = None) -> TextIndex:
        """Open the live generation; raises ``IndexDamageError`` when there is none."""
        return self._generations.open_text(readonly=readonly, cutter=cutter)

    def discard(self) -> None:
        """Delete every generation: the next refresh begins from nothing."""
        from muniment.store.files import remove_tree

        if self._generations.folder.is_dir():
            remove_tree(self._generations.folder)

    def traces(self, ids: "Sequence[str]", passages: "Sequence[str]") -> list[str]:
        """Return nothing: a forget reads these files with all the others of the scope."""
        return []


def open_text(
    generation: Path, *, readonly: bool = False, cutter: "Cutter | None" = None
) -> TextIndex:
    """Open the text index of a generation's folder; a writer creates it."""
    return TextIndex(generation / "fts.sqlite3", readonly=readonly, cutter=cutter)
