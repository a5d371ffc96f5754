"""``show --open``: put what a citation names where the desktop can look at it, and open it."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.desktop import open_file, opener
from muniment.pipeline.extraction import extract_to
from muniment.pipeline.view.cache import ViewCache
from muniment.store.errors import UsageError
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.pipeline.refs import Ref
    from muniment.pipeline.workspace import Workspace
    from muniment.store.ledger import Ledger

# What a viewer or player shows; anything else might be run by what opens it.
SUFFIXES = {
    "text/plain": ".txt",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/webp": ".webp",
    "image/gif": ".gif",
    "image/bmp": ".bmp",
    "image/tiff": ".tiff",
    "image/heic": ".heic",
    "image/avif": ".avif",
    "audio/wav": ".wav",
    "audio/x-wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/ogg": ".ogg",
    "audio/flac": ".flac",
    "audio/mp4": ".m4a",
    "video/mp4": ".mp4",
    "video/webm": ".webm",
    "video/quicktime": ".mov",
    "application/pdf": ".pdf",
}


def open_evidence(ledger: "Ledger", ref: "Ref", workspace: "Workspace") -> dict[str, Any]:
    """Extract into the cache, where a hard forget finds it, and hand it to the desktop.

    Raises ``UsageError`` ``not_opened`` for what is neither looked at nor listened to.
    """
    program = opener()
    cache = ViewCache(workspace)
    cache.prepare()
    with tempfile.TemporaryDirectory(dir=cache.folder, prefix=".making-") as scratch:
        made = Path(scratch) / "part"
        told = extract_to(ledger, ref, str(made), workspace)
        suffix = SUFFIXES.get(told["media_type"])
        if suffix is None:
            raise UsageError(
                f"{told['media_type']} is not opened from here",
                code="not_opened",
                hint="write it with --extract FILE",
            )
        path = made.replace(cache.folder / f"{digest(str(ref))}{suffix}")
    open_file(path, program)
    return {**told, "file": str(path), "program": program}
