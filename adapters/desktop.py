"""Hand a file to the person's desktop, which knows what to open it with."""

import os
import shutil
from pathlib import Path

from muniment.store.errors import MissingToolError

OPENERS = ("xdg-open", "open")
_VARIABLE = "MUNIMENT_OPENER"


def opener() -> str:
    """Return the program that opens files: ``MUNIMENT_OPENER``, else the desktop's own.

    Raises ``MissingToolError`` where there is none.
    """
    chosen = os.environ.get(_VARIABLE)
    names = (chosen,) if chosen else OPENERS
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        raise MissingToolError(
            f"{chosen or 'a desktop'} to open it with was not found",
            hint=f"write it with --extract FILE, or set {_VARIABLE} to a program",
        )
    return found


def open_file(path: Path, program: str) -> None:
    """Start the program on a file and leave it running, in the person's own environment."""
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    argv = [program, str(path)]
    os.posix_spawn(program, argv, os.environ, file_actions=quiet, setpgroup=0)
