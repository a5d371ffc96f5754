"""Plain rows of the reading paths: tuples with names, built without validation."""

from functools import lru_cache
from typing import Any, NamedTuple


class ObservationRow(NamedTuple):
    """One observation as read; ``instant`` is its sort time (UTC text) or null.

    ``instant`` is the message's own time, else the asset's chosen capture time.
    """

    seq: int
    id: str
    asset: str
    kind: str
    text: str
    locator: dict[str, Any]
    producer: str
    confidence: float
    origin: str
    role: str | None
    language: str | None
    author: str | None
    thread: str | None
    occurred: dict[str, Any] | None
    instant: str | None
    attributes: dict[str, Any]


class IndexedRow(NamedTuple):
    """What an index tells of a live observation; ``local`` is when it occurred, where it did."""

    seq: int
    id: str
    asset: str
    kind: str
    text: str
    confidence: float
    origin: str
    role: str | None
    author: str | None
    thread: str | None
    local: str | None
    instant: str | None
    heading: str | None


class AssetRow(NamedTuple):
    """One asset as read, with the newest sniffed type and its first sighting's name."""

    seq: int
    id: str
    size: int
    storage: str
    media_type: str
    family: str
    derived: bool
    name: str
    origin: str
    source: str


@lru_cache(maxsize=1_024)
def name_in(path: bytes) -> str:
    """Return the name that a sighting's path shows; what is no file is named by its kind."""
    name = path.rsplit(b"/", 1)[-1] if path.startswith(b"/") else path.partition(b":")[0]
    return name.decode("utf-8", "replace")
