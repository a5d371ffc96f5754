"""Find the files under the paths of a command: names are bytes, links are not followed."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# What no folder's owner means by "my files"; --include brings one back.
JUNK = (
    ".DS_Store", "._*", "Thumbs.db", "desktop.ini", ".nomedia", ".git/", ".svn/", ".hg/",
    "__pycache__/", "@eaDir/", ".Spotlight-V100/", ".Trashes/", ".fseventsd/", "SYNOFILE_THUMB*",
    "*.part", "*.crdownload", "*.partial", "~$*", ".~lock.*", ".munimentignore",
)  # fmt: skip
IGNORE_FILE = b".munimentignore"


@dataclass(frozen=True, slots=True)
class Found:
    """A file to register, by its absolute path."""

    path: bytes


@dataclass(frozen=True, slots=True)
class Left:
    """A path left out on purpose, and why."""

    path: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Missing:
    """A path that was named but can't be used."""

    path: bytes
    code: str
    message: str


Walked = Found | Left | Missing


@dataclass(frozen=True, slots=True)
class Layer:
    """Patterns that hold below a folder, given relative to the named one; the deepest decides."""

    folder: bytes
    patterns: tuple[str, ...]


@dataclass(slots=True)
class Filters:
    """Which files to take; patterns are gitignore's, relative to the named folder.

    ``layers`` are those of the folders' own ignore files, each relative to its folder.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    _specs: "dict[tuple[str, ...], GitIgnoreSpec]" = field(default_factory=dict)

    def below(self, folder: bytes, patterns: tuple[str, ...]) -> "Filters":
        """Add a folder's own patterns."""
        layers = (*self.layers, Layer(folder, patterns))
        return Filters(self.include, self.exclude, layers, self._specs)

    def leaves_out(self, relative: bytes, *, folder: bool) -> str | None:
        """Return why a path below a named folder is left out, or null."""
        if self.include and self._matches(self.include, relative, folder):
            return None
        if self._matches(JUNK, relative, folder):
            return "junk"
        if self._matches(self.exclude, relative, folder) or self._is_ignored(relative, folder):
            return "excluded"
        return "not_included" if self.include and not folder else None

    def _is_ignored(self, relative: bytes, folder: bool) -> bool:
        ignored = False
        for layer in self.layers:
            inside = relative[len(layer.folder) :].lstrip(b"/")
            said = self._matches(layer.patterns, inside, folder)
            ignored = ignored if said is None else said
        return ignored

    def _matches(self, patterns: tuple[str, ...], path: bytes, folder: bool) -> bool | None:
        """Tell what the last pattern that fits says, or null when none does."""
        if not patterns:
            return None
        if patterns not in self._specs:
            from pathspec import GitIgnoreSpec

            self._specs[patterns] = GitIgnoreSpec.from_lines(patterns)
        name = os.fsdecode(path) + ("/" if folder else "")
        return self._specs[patterns].check_file(name).include


def walk(paths: Iterable[bytes], filters: Filters) -> Iterator[Walked]:
    """Yield every file under the paths in the order of their names, each once."""
    seen: set[tuple[int, int]] = set()
    for path in paths:
        absolute = os.path.abspath(path)  # noqa: PTH100 (a name is bytes here)
        try:
            found = os.stat(absolute)  # noqa: PTH116 (a link that was named is followed)
        except OSError as error:
            yield Missing(absolute, "missing", (error.strerror or "can't be read").lower())
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _folder(absolute, absolute, filters, seen)
        elif stat.S_ISREG(found.st_mode):
            yield Found(absolute)
        else:
            yield Left(absolute, "special_file")


def _folder(
    top: bytes, path: bytes, filters: Filters, seen: set[tuple[int, int]]
) -> Iterator[Walked]:
    try:
        here = os.stat(path)  # noqa: PTH116
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        yield Missing(path, "unreadable", (error.strerror or "can't be read").lower())
        return
    if (here.st_dev, here.st_ino) in seen:
        yield Left(path, "seen_already")
        return
    seen.add((here.st_dev, here.st_ino))
    try:
        local = _local_filters(path[len(top) :].lstrip(b"/"), entries, filters)
    except OSError as error:
        # What it would leave out is not known, so nothing of the folder is taken.
        yield Missing(path + b"/" + IGNORE_FILE, "unreadable", (error.strerror or "").lower())
        return
    for entry in entries:
        yield from _entry(top, entry, local, seen)


def _entry(
    top: bytes, entry: "os.DirEntry[bytes]", filters: Filters, seen: set[tuple[int, int]]
) -> Iterator[Walked]:
    folder = entry.is_dir(follow_symlinks=False)
    reason = filters.leaves_out(entry.path[len(top) :].lstrip(b"/"), folder=folder)
    if entry.is_symlink():
        yield Left(entry.path, reason or "symlink")
    elif reason is not None:
        yield Left(entry.path, reason)
    elif folder:
        yield from _folder(top, entry.path, filters, seen)
    elif entry.is_file(follow_symlinks=False):
        yield Found(entry.path)
    else:
        yield Left(entry.path, "special_file")


def _local_filters(
    relative: bytes, entries: "list[os.DirEntry[bytes]]", filters: Filters
) -> Filters:
    """Add the patterns of a folder's own ignore file to those from above."""
    for entry in entries:
        if entry.name == IGNORE_FILE and entry.is_file(follow_symlinks=False):
            with open(entry.path, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123
                lines = tuple(line.rstrip("\n") for line in stream if line.strip())
            return filters.below(relative, lines)
    return filters


def read_list(stream: BinaryIO, *, nul: bool) -> Iterator[bytes]:
    """Yield the paths of a list, one a line or NUL-terminated; empty entries are nothing."""
    separator = b"\0" if nul else b"\n"
    rest = b""
    while chunk := stream.read(65_536):
        *whole, rest = (rest + chunk).split(separator)
        yield from filter(None, whole)
    if rest:
        yield rest
