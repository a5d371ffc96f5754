"""What is asked: the query, the budget, the filters, and how signals are joined."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from muniment.store.errors import UsageError
from muniment.store.times import utc_text

DEFAULT_BUDGET = 2_000
LEAST_BUDGET = 256
FUSIONS = ("weighted", "rrf")
SEMANTICS = ("auto", "on", "off")
REQUIREMENTS = ("supported", "partial")

_DAY = re.compile(r"(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?")


@dataclass(frozen=True, slots=True)
class Filters:
    """What answers are narrowed to; empty fields ask nothing.

    ``since`` (inclusive), ``until`` (exclusive), ``as_of`` and ``known_at`` are UTC instants as
    :func:`instant` returns them. ``kinds`` names observation kinds, memory kinds, or a whole plane
    (``observation``, ``episode``, ``record``). ``media`` names sniffed families. ``path`` is a file
    or folder as it was seen.
    """

    kinds: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    as_of: str | None = None
    known_at: str | None = None
    include_history: bool = False
    include_archived: bool = False
    min_confidence: float | None = None
    in_session: str | None = None
    path: bytes | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """One recall or search. Raises ``UsageError`` for a value outside its range.

    ``coverage_threshold`` is the share of a question's weight that evidence must hold; null takes
    the calibrated ones. ``hops`` are followed from who the question names, and ``depth`` is the
    share of the usual number of hits that is looked through: what the machine can bear. ``fade``
    shows old episodes and evidence by their gist, as context that nobody asked for is shown.
    """

    query: str
    token_budget: int = DEFAULT_BUDGET
    filters: Filters = field(default_factory=Filters)
    fusion: str = "weighted"
    semantic: str = "auto"
    require: str | None = None
    query_id: str | None = None
    coverage_threshold: float | None = None
    hops: int = 1
    depth: float = 1.0
    fade: bool = False

    def __post_init__(self) -> None:
        if self.token_budget < LEAST_BUDGET:
            raise UsageError(
                f"a token budget of {self.token_budget} is too small",
                code="bad_budget",
                hint=f"use at least {LEAST_BUDGET}",
            )
        _one_of("fusion", self.fusion, FUSIONS)
        _one_of("semantic", self.semantic, SEMANTICS)
        if not 0 <= (self.coverage_threshold or 0) <= 1:
            raise UsageError("coverage_threshold is a share from 0 to 1", code="bad_value")
        if self.require is not None:
            _one_of("require", self.require, REQUIREMENTS)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name} can't be {value!r}", hint=f"use one of: {', '.join(allowed)}")


def instant(text: str, *, end: bool = False) -> str:
    """Read a year, month, day or ISO time as a UTC instant; without an offset it is UTC.

    ``end`` gives the instant at which the named year, month or day is over.

    >>> instant("2026-03"), instant("2026-03", end=True)
    ('2026-03-01T00:00:00.000000Z', '2026-04-01T00:00:00.000000Z')
    """
    try:
        found = _DAY.fullmatch(text.strip())
        if found:
            return utc_text(_day(*found.groups(), end=end))
        moment = datetime.fromisoformat(text.strip())
        return utc_text(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is not a time", code="bad_time", hint="use 2026-03-02 or 2026-03-02T10:00Z"
        ) from None


def _day(year: str, month: str | None, day: str | None, *, end: bool) -> datetime:
    first = datetime(int(year), int(month or 1), int(day or 1), tzinfo=UTC)
    if not end:
        return first
    if day:
        return first + timedelta(days=1)
    if month:
        return (first + timedelta(days=31)).replace(day=1)
    return first.replace(year=first.year + 1)
