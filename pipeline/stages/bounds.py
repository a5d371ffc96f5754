"""Which files a command takes by their size, age and kind; names are the walk's matter."""

import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, sniff
from muniment.store.errors import UsageError

KINDS: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "document": ("pdf", "office.docx", "office.pptx", "office.xlsx", "office.legacy",
                 "opendocument", "epub", "rtf"),
    "mail": ("mail", "calendar", "contact"),
    "chat": ("chat", "slack"),
    "subtitle": ("subtitle",),
    "image": ("image",),
    "audio": ("audio",),
    "video": ("video",),
    "archive": ("archive",),
}  # fmt: skip
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_AGE = re.compile(r"(\d+)\s*([smhdwy])")
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a file may be: bytes at most, times of last change, families of content."""

    max_size: int | None = None
    newer_than_ns: int | None = None
    older_than_ns: int | None = None
    families: frozenset[str] = frozenset()

    def leaves_out(self, path: bytes) -> str | None:
        """Return why a file is left out, or null; one that can't be looked at is not."""
        if self == _NONE:
            return None
        try:
            found = os.stat(path)  # noqa: PTH116 (a name is bytes here)
        except OSError:
            return None  # taking it says what is wrong
        if self.max_size is not None and found.st_size > self.max_size:
            return "too_large"
        if self.newer_than_ns is not None and found.st_mtime_ns <= self.newer_than_ns:
            return "too_old"
        if self.older_than_ns is not None and found.st_mtime_ns >= self.older_than_ns:
            return "too_new"
        return "other_type" if self.families and not self._is_wanted(path, found.st_size) else None

    def _is_wanted(self, path: bytes, size: int) -> bool:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(handle, "rb") as stream:
                head = stream.read(HEAD_BYTES)
                stream.seek(max(0, size - TAIL_BYTES))
                tail = stream.read(TAIL_BYTES)
        except OSError:
            return True  # as above
        name = os.path.basename(path).decode("utf-8", "replace")  # noqa: PTH119
        return sniff(head, tail, size, name).family in self.families


_NONE = Bounds()


def bounds_of(
    max_size: str | None, types: tuple[str, ...], newer: str | None, older: str | None
) -> Bounds:
    """Read the options of a command; ``UsageError`` for what is no size, time or type."""
    return Bounds(
        max_size=None if max_size is None else parse_size(max_size),
        newer_than_ns=None if newer is None else parse_time(newer),
        older_than_ns=None if older is None else parse_time(older),
        families=frozenset(family for kind in types for family in KINDS[kind]),
    )


def parse_size(text: str) -> int:
    """Read bytes, or ``500K``, ``20MB``, ``1.5 GiB``: units of 1024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"{text!r} is no size", hint="write bytes, or 500K, 20M, 2G")
    return int(float(found[1]) * _UNITS[found[2].lower()])


def parse_time(text: str) -> int:
    """Read a date or time (UTC where no zone is written), or an age such as ``30d``; in ns."""
    age = _AGE.fullmatch(text.strip())
    try:
        if age is not None:
            span = timedelta(seconds=int(age[1]) * _SPANS[age[2]])
            moment = datetime.now(UTC) - span
        else:
            moment = datetime.fromisoformat(text.strip())
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return int(moment.timestamp() * 1_000_000) * 1_000
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no time", hint="write 2026-03-01, 2026-03-01T12:00+08:00, or 30d"
        ) from None
