"""Small pictures and clips that were made once, outside the root and of no authority.

A hard forget empties the folder of its scope, as every name in it comes from what was kept.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.pipeline.workspace import Workspace

_PRIVATE = 0o700


class ViewCache:
    """The folder of one scope of one root."""

    def __init__(self, workspace: "Workspace") -> None:
        root = os.fsencode(workspace.root.path.absolute()).hex()
        name = digest(root, workspace.scope.as_dict())
        self.folder = workspace.cache / "view" / name

    def get(self, name: str) -> Path | None:
        """Return a file that was made already."""
        path = self.folder / name
        return path if path.exists() else None

    def make(self, name: str, write: Callable[[Path], None]) -> Path:
        """Return a file, letting ``write`` make it at its first use; it is never seen half made."""
        found = self.get(name)
        if found is not None:
            return found
        self.prepare()
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=".making-") as scratch:
            made = Path(scratch) / "made"
            write(made)
            made.replace(self.folder / name)
        return self.folder / name

    def prepare(self) -> None:
        """Make the folder, private."""
        self.folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)

    def clear(self) -> None:
        """Drop everything; it is made again when it is looked at."""
        shutil.rmtree(self.folder, ignore_errors=True)
