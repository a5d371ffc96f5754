"""Where a resident process leaves what others find it by: private, named after root and scope."""

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.store.layout import Scope

_PRIVATE = 0o700
_DIGITS = 16


def runtime_file(root: Path, scope: "Scope", name: str, *, make: bool = False) -> Path:
    """Return the path of a file in the private runtime folder; a server makes it when missing.

    Raises ``PermissionError`` where that folder is somebody else's.
    """
    parts = (os.fsencode(root.absolute()), *(v.encode() for v in scope.as_dict().values()))
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:_DIGITS]
    return _folder(make) / f"{digest}.{name}"


def _folder(make: bool) -> Path:
    base = os.environ.get("XDG_RUNTIME_DIR")
    folder = (
        Path(base) / "muniment"
        if base and Path(base).is_dir()
        else Path(tempfile.gettempdir()) / f"muniment-{os.getuid()}"
    )
    if make:
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
    elif not folder.exists():
        return folder
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or folder.is_symlink():
        raise PermissionError(f"{folder} is not private to this user")
    return folder
