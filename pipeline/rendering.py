"""Put rendered pages into a folder of the user's: whole pages, and only those that changed."""

import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from muniment.pipeline.memory.projections import NOTE
from muniment.store.errors import MunimentError, UsageError

_PRIVATE_FILE = 0o600


@dataclass(slots=True)
class Written:
    """Which pages were written, were the same, and were removed: relative names."""

    written: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Tell whether any page differs from what was there."""
        return bool(self.written or self.removed)


def write_pages(
    folder: Path, root: Path, pages: Iterable[tuple[str, str]], dry_run: bool
) -> Written:
    """Write each page that is not there as it should be; remove our pages that are no more.

    A file of somebody else's under the name of a page is refused, not overwritten.
    """
    if folder.resolve().is_relative_to(root.resolve()):
        raise UsageError(
            "pages can't be written into the store",
            code="bad_folder",
            hint="name a folder of its own",
            path=str(folder),
        )
    wanted = dict(pages)
    try:
        done = _compared(folder, wanted)
        for name in done.written if not dry_run else ():
            _write(folder / name, wanted[name])
        for name in done.removed if not dry_run else ():
            (folder / name).unlink()
    except OSError as error:
        raise MunimentError(
            f"the pages can't be written: {error.strerror}", code="io", path=str(folder)
        ) from error
    return done


def _compared(folder: Path, wanted: Mapping[str, str]) -> Written:
    """Tell which pages differ, before any is touched."""
    done = Written()
    for name, text in wanted.items():
        there = _reads(folder / name)
        if there is not None and NOTE not in there:
            raise UsageError(
                "a file of this name is none of the rendered pages",
                code="not_ours",
                hint="move it, or render into another folder",
                path=str(folder / name),
            )
        (done.same if there == text else done.written).append(name)
    for path in sorted((folder / "episodes").glob("*.md")):
        name = f"episodes/{path.name}"
        if name not in wanted and NOTE in (_reads(path) or ""):
            done.removed.append(name)
    return done


def _reads(path: Path) -> str | None:
    """Return what stands under a page's name, or null where nothing does."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".partial")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
        Path(temporary).chmod(_PRIVATE_FILE)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
