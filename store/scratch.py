"""Temporary files of one writer: a folder of its own inside the root, gone when it ends.

What an earlier run of the same scope left behind (it was killed) is removed first; the writer
lock makes sure that nobody else is using it.
"""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from muniment.store import files, locks
from muniment.store.errors import LockedError
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


@contextmanager
def aside(parent: Path, prefix: str) -> Iterator[Path]:
    """Yield an empty folder of one's own; those that killed processes left behind go first."""
    for left in parent.glob(f"{prefix}-*"):
        with suppress(LockedError, FileNotFoundError), locks.hold(left):
            files.remove_tree(left)
    folder = parent / f"{prefix}-{secrets.token_hex(8)}"
    files.make_directory(folder)
    with locks.hold(folder):
        try:
            yield folder
        finally:
            files.remove_tree(folder)
