"""Ask every signal for its ranked list: words over each plane, vectors where they are on."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from muniment.pipeline.recall.fuse import Fused, Signal, Weights, add_group_prior, fuse, nudge
from muniment.pipeline.recall.request import Request
from muniment.pipeline.recall.resolve import ASSISTANT_ORIGINS, OWN_ORIGINS, allowed_states
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
_DEPTH: Mapping[str, int] = {"observation": 150, "record": 40, "episode": 15}
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


def find(
    index: "SearchIndex",
    query: "Query",
    request: Request,
    now: str,
    *,
    assets: tuple[str, ...] | None = None,
    nearest: Nearest | None = None,
) -> Found:
    """Return what the signals found in each plane, joined, grouped and nudged.

    ``assets`` are those that a path filter names. Nothing comes in that no signal found.
    """
    found = Found({plane: [] for plane in PLANES})
    if assets is not None and not assets:
        return found
    for plane in PLANES:
        if plane != "observation" and not index.holds(plane):
            continue
        narrow = _narrowed(plane, request, query, assets)
        if narrow is not None:
            found.hits[plane] = _plane(index, query, request, narrow, (plane, now, nearest, found))
    return found


def _plane(
    index: "SearchIndex",
    query: "Query",
    request: Request,
    narrow: IndexFilters,
    place: "tuple[str, str, Nearest | None, Found]",
) -> list[Fused]:
    plane, now, nearest, found = place
    usual = max(1, round(_DEPTH[plane] * request.depth))
    depth = usual * (_DEEPER if _filters_later(request) else 1)
    words = index.search(query.analysis, depth, narrow)
    # A hit that holds the question as it stands counts as much again as the best one.
    top = max((hit.score for hit in words), default=0.0)
    signals = [
        Signal("fts", [(hit.ref, hit.score + (top if hit.exact else 0.0)) for hit in words],
               WEIGHTS.fts)
    ]  # fmt: skip
    rows = {hit.ref: hit.row for hit in words}
    if nearest is not None:
        near = list(nearest(narrow, depth))
        found.similarities.update(near)
        rows |= index.rows_of(ref for ref, _ in near if ref not in rows)
        kept = [(ref, cosine) for ref, cosine in near if ref in rows]
        signals.append(Signal("vector", kept, WEIGHTS.vector, _floor(kept)))
    fused = fuse(signals, calibration=0.0 if request.fusion == "rrf" else WEIGHTS.calibration)
    for hit in fused:
        row = rows[hit.key]
        hit.number, hit.group = row.seq, row.session or row.asset
    if request.fusion == "rrf":
        return fused
    if plane == "observation":
        groups = {ref: row.group for ref, row in rows.items()}
        fused = add_group_prior(fused, groups, WEIGHTS.group)
    hints = _Hints(query, now)
    return nudge(fused, lambda ref: hints.of(rows[ref]))


def _floor(near: Sequence[tuple[str, float]]) -> float:
    """Return the cosine that counts nothing: what the last of the list reached."""
    return min((cosine for _, cosine in near), default=0.0)


class _Hints:
    """What a document's medium, time and basis add, by name."""

    def __init__(self, query: "Query", now: str) -> None:
        self._families = query.families
        self._spans = query.spans
        self._now = _parsed(now)

    def of(self, row: "Row") -> dict[str, float]:
        """Return the hints of one document."""
        found = {}
        if row.family in self._families:
            found["medium"] = WEIGHTS.medium
        instant = row.instant
        if instant is not None:
            if self._spans and any(span.start <= instant < span.end for span in self._spans):
                found["time"] = WEIGHTS.time
            found["recency"] = WEIGHTS.recency * self._recency(instant)
        if row.origin == "user" or row.kind == "record":
            found["basis"] = WEIGHTS.basis
        return found

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
