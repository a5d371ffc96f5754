"""Hand a file to the person's desktop, which knows what to open it with."""

import os
import shutil
import subprocess
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
    """Start the program on a file and leave it running."""
    # The person's own environment: a desktop is found by it.
    subprocess.Popen(  # noqa: S603 (an argument list, no shell)
        [program, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
