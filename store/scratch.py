"""Temporary files of one writer: a folder of its own inside the root, gone when it ends.

What an earlier run of the same scope left behind (it was killed) is removed first; the writer
lock makes sure that nobody else is using it.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muniment.store import files
from muniment.store.ids import digest
from muniment.store.layout import Root, Scope


@contextmanager
def scratch(root: Root, scope: Scope) -> Iterator[Path]:
    """Yield an empty folder for temporary files; call it under the scope's writer lock."""
    folder = root.temporary / digest(scope.as_dict())[:16]
    shutil.rmtree(folder, ignore_errors=True)
    files.make_directory(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
