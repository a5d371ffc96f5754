"""Bitemporal facts (CONTRACT 4.3): which version of a claim holds when, as pure functions.

Validity is half-open: ``start <= t < end``. All times are UTC texts of one width, so that they
compare as they sort; null starts before everything, null ends after everything.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

# States whose claim was held true; the others were taken back.
HELD = frozenset({"active", "superseded", "archived", "conflicted"})
_BEFORE_ALL = "0001-01-01T00:00:00.000000Z"

Contradicts = Callable[["Version", "Version"], bool]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a claim about one subject and key, with its state.

    ``inserted`` grows with recording. ``own_end`` is the end that its evidence names, ``end`` the
    one in force.
    """

    record: str
    version: int
    value: str | None
    start: str | None
    end: str | None
    inserted: int
    status: str = "active"
    own_end: str | None = None

    @property
    def order(self) -> tuple[str, int, str, int]:
        """Sort by validity; equal starts by insertion, then id."""
        return (self.start or _BEFORE_ALL, self.inserted, self.record, self.version)

    @property
    def held(self) -> bool:
        """Tell whether the claim is or was held true."""
        return self.status in HELD

    def covers(self, at: str) -> bool:
        """Tell whether the claim holds at an instant."""
        return (self.start or _BEFORE_ALL) <= at and (self.end is None or at < self.end)

    @property
    def empty(self) -> bool:
        """Tell whether the claim never holds."""
        return self.end is not None and self.end <= (self.start or _BEFORE_ALL)

    def overlaps(self, other: "Version") -> bool:
        """Tell whether two claims hold at some same instant."""
        starts = max(self.start or _BEFORE_ALL, other.start or _BEFORE_ALL)
        ends = [end for end in (self.end, other.end) if end is not None]
        empty = any(
            one.end is not None and one.end <= (one.start or _BEFORE_ALL) for one in (self, other)
        )
        return not empty and (not ends or starts < min(ends))


def settle(
    versions: Iterable[Version], *, single: bool, now: str, contradicts: Contradicts | None = None
) -> list[Version]:
    """Return the held versions with the ends and states that follow from each other, in order.

    Of a single-valued key, each start ends the interval before it. Of a key with several values,
    only equal values follow each other, and those that contradict while both hold are conflicted.
    Ends only come nearer: what was closed is not opened again when its successor goes.
    """
    held = sorted((one for one in versions if one.held), key=lambda one: one.order)
    if single:
        return _chain(held, now)
    chains: dict[str | None, list[Version]] = {}
    for one in held:
        chains.setdefault(one.value, []).append(one)
    settled = [
        one
        for value, chain in chains.items()
        for one in (chain if value is None else _chain(chain, now))
    ]
    return _conflicts(sorted(settled, key=lambda one: one.order), contradicts)


def _chain(ordered: Sequence[Version], now: str) -> list[Version]:
    """Let each version end where the next one starts."""
    if not ordered:
        return []
    return [_closed(one, after, now) for one, after in pairwise(ordered)] + [ordered[-1]]


def _closed(one: Version, after: Version, now: str) -> Version:
    start = after.start or _BEFORE_ALL
    end = start if one.end is None else min(one.end, start)
    gone = end <= now and one.status in {"active", "conflicted"}
    return replace(one, end=end, status="superseded" if gone else one.status)


def _conflicts(ordered: list[Version], contradicts: Contradicts | None) -> list[Version]:
    """Mark what contradicts something else in force; free what no longer does."""
    live = [one for one in ordered if one.status in {"active", "conflicted"}]
    at_odds = {
        one.order
        for pair in combinations(live, 2)
        if contradicts is not None and contradicts(*pair) and pair[0].overlaps(pair[1])
        for one in pair
    }
    return [
        replace(one, status="conflicted" if one.order in at_odds else "active")
        if one.status in {"active", "conflicted"}
        else one
        for one in ordered
    ]


def holding(versions: Iterable[Version], at: str) -> list[Version]:
    """Return what holds at an instant, in order; what has not started yet is not among it."""
    shown = (one for one in versions if one.held and one.status != "archived" and one.covers(at))
    return sorted(shown, key=lambda one: one.order)


def reopened(versions: Iterable[Version], moved: Version) -> list[Version]:
    """Return the versions with those ends lifted that ``moved`` set by a start now corrected.

    That is for a correction alone: its start was never true, so what it closed did not end there.
    """
    return [
        replace(one, end=one.own_end, status="active" if one.status == "superseded" else one.status)
        if one.end is not None and one.end == moved.start and one.end != one.own_end
        else one
        for one in versions
        if (one.record, one.version) != (moved.record, moved.version)
    ]
