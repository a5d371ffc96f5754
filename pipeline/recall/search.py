"""Ask every signal for its ranked list: words over each plane, vectors where they are on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from muniment.pipeline.recall.fuse import (
    Fused,
    Signal,
    Weights,
    add_group_prior,
    fuse,
    ordered,
)
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.resolve import ASSISTANT_ORIGINS, OWN_ORIGINS, allowed_states
from muniment.pipeline.recall.speakers import Speakers
from muniment.store.index.documents import Filters as IndexFilters
from muniment.store.times import parse_utc

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.pipeline.recall.query import Query
    from muniment.store.index.documents import Row
    from muniment.store.index.ports import SearchIndex

PLANES = ("observation", "record", "episode")
MEMORY_KINDS = frozenset(
    {
        "fact", "preference", "agreement", "event", "emotion", "growth", "task", "lesson",
        "relation",
    }
)  # fmt: skip
WEIGHTS = Weights()
_DEPTH: Mapping[str, int] = {"observation": 64, "record": 40, "episode": 15}
# The last of the nearest counts nothing, so more of them are asked for.
_DEPTH_WITH_VECTORS = 150
# What as-of and kind filters drop after the search is made up for by searching deeper.
_DEEPER = 4
_RECENT_DAYS = 30.0

Narrow: TypeAlias = "IndexFilters | None"
# Given a plane's filters and a depth, the (ref, cosine) pairs nearest to the query.
Nearest: TypeAlias = Callable[["IndexFilters", int], Sequence[tuple[str, float]]]


@dataclass(slots=True)
class Found:
    """Ranked refs of each plane; ``similarities`` holds cosines to the query by ref."""

    hits: dict[str, list[Fused]] = field(default_factory=dict)
    similarities: dict[str, float] = field(default_factory=dict)


def find(  # noqa: PLR0913 (a request, what it is asked of, and how far it goes)
    index: "SearchIndex",
    query: "Query",
    request: Request,
    now: str,
    *,
    assets: tuple[str, ...] | None = None,
    nearest: Nearest | None = None,
    wanted: int = 0,
) -> Found:
    """Return what the signals found in each plane, joined, grouped and nudged.

    ``assets`` are those that a path filter names, ``wanted`` is how many observations are asked
    for, where that is more than usual. Nothing comes in that no signal found.
    """
    found = Found({plane: [] for plane in PLANES})
    if assets is not None and not assets:
        return found
    for plane in PLANES:
        if plane != "observation" and not index.holds(plane):
            continue
        narrow = _narrowed(plane, request, query, assets)
        if narrow is not None:
            depth = _depth(plane, request, wanted, with_vectors=nearest is not None)
            place = (plane, depth, now, nearest, found)
            found.hits[plane] = _plane(index, query, request, narrow, place)
    return found


def _depth(plane: str, request: Request, wanted: int, *, with_vectors: bool) -> int:
    """Return how many hits of a plane each signal is asked for."""
    most = _DEPTH[plane]
    if plane == "observation":
        # Some of what is wanted is not proven, or says nothing of the question.
        most = max(_DEPTH_WITH_VECTORS if with_vectors else most, wanted * 5 // 4)
    return max(1, round(most * request.depth)) * (_DEEPER if _filters_later(request) else 1)


def _plane(
    index: "SearchIndex",
    query: "Query",
    request: Request,
    narrow: IndexFilters,
    place: "tuple[str, int, str, Nearest | None, Found]",
) -> list[Fused]:
    plane, depth, now, nearest, found = place
    words = index.search(query.analysis, depth, narrow)
    # A hit that holds the question as it stands counts as much again as the best one.
    top = max([score for _, score, _ in words], default=0.0)
    told = [(row.ref, score + top if exact else score) for row, score, exact in words]
    signals = [Signal("fts", told, WEIGHTS.fts)]
    rows = {row.ref: row for row, _, _ in words}
    if nearest is not None:
        near = list(nearest(narrow, depth))
        found.similarities.update(near)
        rows |= index.rows_of(ref for ref, _ in near if ref not in rows)
        kept = [(ref, cosine) for ref, cosine in near if ref in rows]
        signals.append(Signal("vector", kept, WEIGHTS.vector, _floor(kept)))
    fused = fuse(signals, calibration=0.0 if request.fusion == "rrf" else WEIGHTS.calibration)
    own = [rows[hit.key] for hit in fused]
    for hit, row in zip(fused, own, strict=True):
        hit.number, hit.group = row.seq, row.session or row.asset
    if request.fusion == "rrf":
        return fused
    if plane == "observation":
        add_group_prior(fused, [row.group for row in own], WEIGHTS.group)
    hints = _Hints(query, now, own)
    for hit, row in zip(fused, own, strict=True):
        hints.add_to(hit, row)
    return ordered(fused)


def _floor(near: Sequence[tuple[str, float]]) -> float:
    """Return the cosine that counts nothing: what the last of the list reached."""
    return min((cosine for _, cosine in near), default=0.0)


class _Hints:
    """What a document's medium, time, basis and speaker add (in first reciprocal ranks)."""

    def __init__(self, query: "Query", now: str, rows: "Sequence[Row]") -> None:
        self._families = query.families
        self._spans = query.spans
        self._now = _parsed(now)
        self._speakers = Speakers(query, rows)
        self._asks_about = bool(self._speakers)

    def add_to(self, hit: Fused, row: "Row") -> None:
        """Add the hints of its document to a hit."""
        if self._families and row.family in self._families:
            hit.nudge("medium", WEIGHTS.medium)
        instant = row.instant
        if instant is not None:
            if self._spans and any(span.start <= instant < span.end for span in self._spans):
                hit.nudge("time", WEIGHTS.time)
            hit.nudge("recency", WEIGHTS.recency * self._recency(instant))
        if row.origin == "user" or row.kind == "record":
            hit.nudge("basis", WEIGHTS.basis)
        if self._asks_about and self._speakers.mean(row):
            hit.nudge("speaker", WEIGHTS.speaker)

    def _recency(self, instant: str) -> float:
        """Return 1 for now, half of that for a month ago, and so on."""
        try:
            age = (self._now - _parsed(instant)).total_seconds()
        except ValueError:
            return 0.0
        return float(0.5 ** (age / 86_400 / _RECENT_DAYS)) if age > 0 else 1.0


@lru_cache(maxsize=1_024)
def _parsed(instant: str) -> "datetime":
    return parse_utc(instant)


def _filters_later(request: Request) -> bool:
    filters = request.filters
    return bool(filters.as_of or filters.known_at or filters.kinds)


def _narrowed(
    plane: str, request: Request, query: "Query", assets: tuple[str, ...] | None
) -> IndexFilters | None:
    """Return a plane's filters for the index, null when the request leaves the plane out."""
    asked = request.filters
    kinds = _kinds(plane, asked.kinds)
    if kinds is None or (plane == "episode" and (assets or asked.media or asked.in_session)):
        return None
    origins = OWN_ORIGINS + (ASSISTANT_ORIGINS if query.asks_assistant else ())
    return IndexFilters(
        kinds=kinds,
        families=asked.media,
        # Only observations have an origin, so this leaves the other planes out, too.
        origins=origins if plane == "observation" else (),
        roles=_states(request) if plane == "record" else (),
        sessions=() if asked.in_session is None else (asked.in_session,),
        assets=assets or (),
        since=asked.since,
        until=asked.until,
        min_confidence=asked.min_confidence,
    )


def _states(request: Request) -> tuple[str, ...]:
    """Return the present states of records that may answer; what was known when is asked later."""
    if request.filters.known_at is not None:
        return ()
    return tuple(sorted(allowed_states(request.filters)))


def _kinds(plane: str, wanted: Sequence[str]) -> tuple[str, ...] | None:
    """Return the index kinds of a plane under a kind filter, null for none of it."""
    if plane != "observation":
        of_memory = plane == "record" and not MEMORY_KINDS.isdisjoint(wanted)
        return (plane,) if not wanted or plane in wanted or of_memory else None
    if not wanted or "observation" in wanted:
        return ()
    named = tuple(kind for kind in wanted if kind not in {"record", "episode"})
    return named or None
