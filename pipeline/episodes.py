"""Deterministic grouping of observations into episodes (CONTRACT 3.5), as pure functions.

A *group key* says which rows can share an episode at all: the messages of a thread, the photos of
a source, one document. Within a key, only time and place decide. A late arrival therefore changes
the gap-free run of rows around it and nothing else: group the rows of that run, and put the drafts
in the place of the episodes whose anchors lie in it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from math import asin, cos, radians, sin, sqrt
from typing import NamedTuple, TypeVar

from muniment.pipeline.episode_drafts import EpisodeDraft, EpisodeInput, GroupKey, draft_of

T = TypeVar("T")


class Span(NamedTuple):
    """An episode as far as its context is concerned; ``first`` and ``last`` are instants."""

    id: str
    kind: str
    source: str
    first: str | None
    last: str | None


THREAD_GAP = timedelta(hours=4)
MEDIA_GAP = timedelta(minutes=90)
PLACE_GAP_METRES = 5_000.0
CLIP_MS = 60_000
EARTH_METRES = 6_371_008.8


def group_key(row: EpisodeInput) -> GroupKey:
    """Return the key of a row.

    Kinds: ``conversation``, ``mail``, ``moments`` (photos and short clips), ``document``,
    ``recording``, ``video``.
    """
    if row.thread and row.family == "mail":
        return GroupKey("mail", row.source, row.thread)
    if row.thread:
        return GroupKey("conversation", row.source, row.thread)
    kind = {"image": "moments", "audio": "recording", "video": "video"}.get(row.family, "document")
    is_clip = row.duration_ms is not None and row.duration_ms < CLIP_MS
    if kind in ("recording", "video") and is_clip:
        kind = "moments"
    if kind == "moments" and row.instant is not None:
        return GroupKey(kind, row.source, "")
    return GroupKey(kind, row.source, row.asset)


def group(rows: Iterable[EpisodeInput]) -> list[EpisodeDraft]:
    """Group rows of any kind; the result depends on the set of rows alone."""
    by_key: dict[GroupKey, list[EpisodeInput]] = defaultdict(list)
    for row in rows:
        by_key[group_key(row)].append(row)
    drafts = [draft for key, held in by_key.items() for draft in group_rows(key, held)]
    return sorted(drafts, key=lambda draft: draft.id)


def group_rows(key: GroupKey, rows: Iterable[EpisodeInput]) -> list[EpisodeDraft]:
    """Group rows of one key: all of them, or those of some of its runs."""
    if key.kind == "conversation":
        return group_thread(key, rows)
    if key.kind == "moments":
        return group_media(key, rows)
    return group_whole(key, rows)


def group_thread(key: GroupKey, rows: Iterable[EpisodeInput]) -> list[EpisodeDraft]:
    """Split a conversation at gaps over four hours; messages without a time make one of their own.

    A message's several rows (its text, its metadata) share its time, so they stay together.
    """
    ordered = sorted(rows, key=_order)
    timed = [row for row in ordered if row.instant is not None]
    untimed = [row for row in ordered if row.instant is None]
    runs = _split(timed, lambda before, after: _apart(before.instant, after.instant, THREAD_GAP))
    return [draft_of(key, run) for run in [*runs, untimed] if run]


def group_media(key: GroupKey, rows: Iterable[EpisodeInput]) -> list[EpisodeDraft]:
    """Group photos and short clips; a gap over 90 minutes or 5 km from the last known place splits.

    Rows of one asset stay together, at the asset's earliest time.
    """
    by_asset: dict[str, list[EpisodeInput]] = defaultdict(list)
    for row in sorted(rows, key=_order):
        by_asset[row.asset].append(row)
    runs: list[list[EpisodeInput]] = []
    last_instant: str | None = None
    last_place: tuple[float, float] | None = None
    for held in sorted(by_asset.values(), key=lambda held: (held[0].instant or "", held[0].asset)):
        instant = held[0].instant
        place = next((row.place for row in held if row.place is not None), None)
        late = last_instant is None or _apart(last_instant, instant, MEDIA_GAP)
        if not runs or late or _far(last_place, place):
            runs.append([])
            last_place = None
        runs[-1].extend(held)
        last_instant, last_place = instant, place or last_place
    return [draft_of(key, run) for run in runs]


def group_whole(key: GroupKey, rows: Iterable[EpisodeInput]) -> list[EpisodeDraft]:
    """Make one episode of all rows: a document, a recording, a video, a mail thread."""
    ordered = sorted(rows, key=_order)
    return [draft_of(key, ordered)] if ordered else []


def overlapping(drafts: "Iterable[Span | EpisodeDraft]") -> dict[str, tuple[str, ...]]:
    """Return, by episode, the others of its source that overlap it in time: its context.

    Only media and messages are linked with each other; episodes without a time with none.
    """
    links: dict[str, set[str]] = defaultdict(set)
    open_by_source: dict[str, list[Span | EpisodeDraft]] = defaultdict(list)
    for draft in sorted(drafts, key=lambda draft: (draft.first or "", draft.id)):
        if draft.first is None:
            continue
        still = [
            other for other in open_by_source[draft.source] if (other.last or "") >= draft.first
        ]
        for other in still:
            if _is_talk(draft) != _is_talk(other):
                links[draft.id].add(other.id)
                links[other.id].add(draft.id)
        open_by_source[draft.source] = [*still, draft]
    return {episode: tuple(sorted(others)) for episode, others in links.items()}


def metres_between(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the great-circle distance of two (latitude, longitude) positions in degrees."""
    lat1, lon1, lat2, lon2 = map(radians, (*one, *other))
    half = sin((lat2 - lat1) / 2) ** 2 + cos(lat1) * cos(lat2) * sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_METRES * asin(sqrt(min(1.0, half)))


def _order(row: EpisodeInput) -> tuple[bool, str, int, str]:
    return (row.instant is None, row.instant or "", row.position, row.observation)


def _split(ordered: Sequence[T], apart: Callable[[T, T], bool]) -> list[list[T]]:
    runs: list[list[T]] = []
    for item in ordered:
        if not runs or apart(runs[-1][-1], item):
            runs.append([])
        runs[-1].append(item)
    return runs


def _apart(before: str | None, after: str | None, gap: timedelta) -> bool:
    if before is None or after is None:
        return True
    return datetime.fromisoformat(after) - datetime.fromisoformat(before) > gap


def _far(one: tuple[float, float] | None, other: tuple[float, float] | None) -> bool:
    if one is None or other is None:
        return False
    return metres_between(one, other) > PLACE_GAP_METRES


def _is_talk(draft: "Span | EpisodeDraft") -> bool:
    return draft.kind in ("conversation", "mail")
