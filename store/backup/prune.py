"""Which snapshots to keep, and the removal of the others and of the objects that only they need.

All times are UTC. A group is the snapshots of one store; none is ever emptied.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Snapshot
from muniment.store.errors import UsageError
from muniment.store.times import parse_utc

_SPAN = re.compile(r"(\d{1,5})([hdwmy])")
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_PERIODS: dict[str, Callable[[datetime], Any]] = {
    "daily": datetime.date,
    "weekly": lambda moment: moment.isocalendar()[:2],
    "monthly": lambda moment: (moment.year, moment.month),
}


@dataclass(frozen=True, slots=True)
class Retention:
    """How much to keep: numbers of snapshots, and a span such as ``7d`` back from the newest."""

    last: int | None = None
    daily: int | None = None
    weekly: int | None = None
    monthly: int | None = None
    within: str | None = None

    def require_any(self) -> None:
        """Refuse a selection without a limit: it would remove everything."""
        if all(getattr(self, name) is None for name in self.__dataclass_fields__):
            raise UsageError(
                "nothing says which snapshots to keep",
                code="unlimited",
                hint="give --keep-last, -daily, -weekly, -monthly or -within",
            )


def span(text: str) -> timedelta:
    """Read a span: a number and one of h, d, w, m (30 days), y."""
    found = _SPAN.fullmatch(text)
    if not found:
        raise UsageError(
            f"{text!r} is not a span", code="bad_span", hint="use a number and h, d, w, m or y: 30d"
        )
    return timedelta(hours=int(found[1]) * _HOURS[found[2]])


def kept(snapshots: Iterable[Snapshot], retention: Retention, now: str) -> dict[str, list[str]]:
    """Return the ids to keep, each with the rules that keep it.

    Raises ``UsageError`` when a store would be left without a snapshot.
    """
    retention.require_any()
    groups: dict[str, list[Snapshot]] = {}
    for snapshot in sorted(snapshots, key=lambda one: one.id, reverse=True):
        groups.setdefault(snapshot.store, []).append(snapshot)
    reasons: dict[str, list[str]] = {}
    for store, group in groups.items():
        chosen = _of_group(group, retention, parse_utc(now))
        if not chosen:
            raise UsageError(
                f"no snapshot of store {store} would be left",
                code="empties_group",
                hint="keep at least one, with --keep-last 1",
            )
        reasons |= chosen
    return reasons


def _of_group(group: list[Snapshot], rules: Retention, now: datetime) -> dict[str, list[str]]:
    """Apply the rules to the snapshots of one store, newest first."""
    reasons: dict[str, list[str]] = {}
    for snapshot in group[: rules.last or 0]:
        reasons.setdefault(snapshot.id, []).append("last")
    for name, period in _PERIODS.items():
        seen: set[Any] = set()
        for snapshot in group:
            when = period(parse_utc(snapshot.created_at))
            if when not in seen and len(seen) < (getattr(rules, name) or 0):
                seen.add(when)
                reasons.setdefault(snapshot.id, []).append(name)
    if rules.within is not None:
        oldest = now - span(rules.within)
        for snapshot in group:
            if parse_utc(snapshot.created_at) >= oldest:
                reasons.setdefault(snapshot.id, []).append("within")
    return reasons


def prune(
    repository: Repository, retention: Retention, now: str, *, dry_run: bool = False
) -> dict[str, Any]:
    """Remove the snapshots that no rule keeps, and then the objects that no snapshot needs.

    Every manifest must be readable: an object is only removed when nobody can need it. The
    caller holds the repository alone.
    """
    snapshots = {identity: repository.read(identity) for identity in repository.ids()}
    reasons = kept(snapshots.values(), retention, now)
    gone = [identity for identity in snapshots if identity not in reasons]
    if not dry_run:
        for identity in gone:
            repository.drop(identity)
    needed = {part.sha256 for identity in reasons for part in snapshots[identity].objects()}
    objects, size = sweep(repository, needed, dry_run=dry_run)
    return {
        "kept": [
            {"snapshot": identity, "rules": reasons[identity]} for identity in sorted(reasons)
        ],
        "removed": gone,
        "removed_objects": objects,
        "freed_bytes": size,
        "dry_run": dry_run,
    }


def sweep(repository: Repository, needed: set[str], *, dry_run: bool = False) -> tuple[int, int]:
    """Remove the objects that are not needed; return how many there were and their bytes."""
    names = {repository.file_name(digest) for digest in needed}
    objects = size = 0
    for held in list(repository.stored()):
        if held.name.rpartition("/")[2] not in names:
            objects, size = objects + 1, size + held.size
            if not dry_run:
                repository.remove(held)
    return objects, size
