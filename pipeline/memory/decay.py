"""How memory ages (CONTRACT 4.3): pure functions of two instants, none of which reads a clock.

Nothing here changes what is kept: strength decides what may be archived, fading how context that
nobody asked for is shown.
"""

import math
from typing import Any, Literal

from muniment.store.times import parse_utc

FRESHNESS_DAYS = 180.0
EMOTION_HOURS = 6.0
EMOTION_FLOOR = 0.01
GIST_DAYS = 180.0
LABEL_DAYS = 730.0
ARCHIVE_BELOW = 0.05

Detail = Literal["full", "gist", "label"]
STABLE = frozenset({"fact", "preference", "agreement", "growth"})
_DAY_SECONDS = 86_400.0
_HOUR_SECONDS = 3_600.0


def halved(age: float, half_life: float) -> float:
    """Return what is left of 1 after an age: a half after each half-life; the future is fresh.

    >>> halved(180, 180), halved(360, 180), halved(-5, 180)
    (0.5, 0.25, 1.0)
    """
    return math.pow(0.5, max(0.0, age) / half_life)


def days_between(since: str, now: str) -> float:
    """Return the days from one instant to another."""
    return (parse_utc(now) - parse_utc(since)).total_seconds() / _DAY_SECONDS


def strength(
    importance: float, since: str, now: str, *, accesses: int = 0, last_access: str | None = None
) -> float:
    """Return how strong a claim is: its importance, halved every 180 days since it was last met.

    Each access starts the time anew and lengthens the half-life by the logarithm of their number.
    """
    met = max(since, last_access) if last_access is not None else since
    half_life = FRESHNESS_DAYS * (1.0 + math.log1p(max(0, accesses)))
    return importance * halved(days_between(met, now), half_life)


def emotion(intensity: float, since: str, now: str) -> float:
    """Return what is left of an emotion: a half every 6 hours, and nothing below 0.01."""
    hours = (parse_utc(now) - parse_utc(since)).total_seconds() / _HOUR_SECONDS
    left = intensity * halved(hours, EMOTION_HOURS)
    return left if left >= EMOTION_FLOOR else 0.0


def detail(kind: str, since: str | None, now: str) -> Detail:
    """Return how exactly context that nobody asked for is shown.

    ``kind`` is a memory kind, ``episode`` or ``observation``. What has no time does not fade.
    """
    if since is None or kind in STABLE:
        return "full"
    age = days_between(since, now)
    if age > LABEL_DAYS:
        return "label"
    return "gist" if age > GIST_DAYS else "full"


def is_faint(row: dict[str, Any], met: str, now: str, accesses: int, last: str | None) -> bool:
    """Tell whether a record has decayed below what stays in sight; a pinned one never has."""
    if row["pinned"]:
        return False
    left = strength(row["importance"], met, now, accesses=accesses, last_access=last)
    return left < ARCHIVE_BELOW
