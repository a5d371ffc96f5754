"""Near-duplicates by decoded content: told by fingerprints, grouped when asked, never merged."""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias

import apsw

from muniment.store.times import parse_utc

# Shares of the bits in which two prints may differ, and of the measure (shape, length).
_NEAR = {"picture": 0.12, "sound": 0.18, "frames": 0.18}
_BURST = 0.22
_BURST_SECONDS = 3
_MEASURE = 0.03
_MEASURE_LEAST = 3
_HEXADECIMAL_BITS = 4


class Print(NamedTuple):
    """One fingerprint as numbers."""

    measure: int
    bits: int
    length: int

    @classmethod
    def of(cls, value: str) -> "Print":
        """Read ``measure:digits``."""
        measure, _, digits = value.partition(":")
        return cls(int(measure), int(digits, 16), len(digits) * _HEXADECIMAL_BITS)

    def difference(self, other: "Print") -> float:
        """Return the share of bits that differ; 1.0 where shape or length do."""
        slack = max(_MEASURE_LEAST, _MEASURE * max(self.measure, other.measure))
        if self.length != other.length or abs(self.measure - other.measure) > slack:
            return 1.0
        return (self.bits ^ other.bits).bit_count() / self.length


class Group(NamedTuple):
    """Assets that are alike, and why: ``burst``, ``near_image`` or ``re_encoded``."""

    reason: str
    assets: tuple[str, ...]


class _Facts(NamedTuple):
    prints: Mapping[str, Print]
    taken: str | None


_Known: TypeAlias = dict[str, _Facts]


class Duplicates:
    """The fingerprints of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def add(self, asset: int, kind: str, value: str, attempt: int) -> None:
        """Keep a fingerprint, ``measure:digits``, of an asset's decoded content."""
        self._database.execute(
            "INSERT INTO content_print (asset, kind, value, attempt) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO NOTHING",
            (asset, kind, value, attempt),
        )

    def group_of(self, assets: Iterable[str]) -> dict[str, str]:
        """Return a group's id for each of the assets that is alike to another of them.

        The id is the first of the group's own assets in the order of their ids.
        """
        known = self._known(assets)
        names = sorted(known)
        leader = {name: name for name in names}
        for number, one in enumerate(names):
            for other in names[number + 1 :]:
                if leader[one] != leader[other] and _alike(known[one], known[other]):
                    old, new = sorted((leader[one], leader[other]), reverse=True)
                    leader = {name: new if of == old else of for name, of in leader.items()}
        shared = [leader[name] for name in names]
        return {name: group for name, group in leader.items() if shared.count(group) > 1}

    def like(self, asset: str) -> list[dict[str, Any]]:
        """Return the assets whose content is nearly that of one, and how they are alike."""
        own = self._known([asset]).get(asset)
        if own is None:
            return []
        found = self._known(None, tuple(own.prints))
        alike = {
            other: how
            for other, facts in found.items()
            if other != asset and (how := _alike(own, facts))
        }
        return [{"asset": other, "how": how} for other, how in sorted(alike.items())]

    def groups(self) -> list[Group]:
        """Return all groups of assets that look or sound alike, each with why."""
        known = self._known(None, _NEAR)
        sets = _Sets(known)
        reasons: dict[str, set[str]] = {}
        for one, other in _near_pairs(known):
            if reason := _reason(known[one], known[other]):
                sets.join(one, other)
                reasons.setdefault(one, set()).add(reason)
        found: dict[str, list[str]] = {}
        for name in sorted(known):
            found.setdefault(sets.first(name), []).append(name)
        return [
            Group(min(set[str]().union(*(reasons.get(one, ()) for one in held))), tuple(held))
            for _, held in sorted(found.items())
            if len(held) > 1
        ]

    def seen_twice(self) -> Iterator[tuple[str, list[bytes]]]:
        """Yield assets whose bytes lie at more than one place, with the paths of files."""
        rows = self._database.execute(
            "WITH place AS (SELECT s.asset, s.path FROM sighting s WHERE s.seq = "
            "(SELECT max(seq) FROM sighting WHERE path = s.path) "
            "UNION SELECT d.asset, CAST(p.id || ' ' || "
            "coalesce(json_extract(d.locator, '$.path'), d.name) AS BLOB) FROM derivation d "
            "JOIN asset_now p ON p.seq = d.parent WHERE d.relation IN ('member', 'attachment')) "
            "SELECT a.seq, a.id, count(*) FROM place JOIN asset_now a ON a.seq = place.asset "
            "GROUP BY a.seq HAVING count(*) > 1 ORDER BY a.seq"
        ).fetchall()
        for number, asset, _ in rows:
            paths = self._database.execute(
                "SELECT DISTINCT s.path FROM sighting s WHERE s.asset = ? AND s.seq = "
                "(SELECT max(seq) FROM sighting WHERE path = s.path) ORDER BY s.path",
                (number,),
            )
            yield str(asset), [bytes(path) for (path,) in paths]

    def repeated_messages(self) -> Iterator[list[str]]:
        """Yield the ids of messages that say the same, in their order, the most repeated first."""
        rows = self._database.execute(
            "SELECT json_group_array(id) FROM (SELECT id, lower(trim(text)) AS said, seq "
            "FROM observation_live WHERE kind = 'message' ORDER BY seq) "
            "GROUP BY said HAVING count(*) > 1 ORDER BY count(*) DESC, min(seq)"
        )
        for (found,) in rows:
            yield [str(one) for one in json.loads(found)]

    def _known(self, assets: Iterable[str] | None, kinds: Iterable[str] = ()) -> _Known:
        chosen, values = "a.id IN (SELECT value FROM json_each(?))", json.dumps(list(assets or ()))
        if assets is None:
            chosen, values = (
                "p.asset IN (SELECT asset FROM content_print WHERE kind IN "
                "(SELECT value FROM json_each(?)))",
                json.dumps(list(kinds)),
            )
        rows = self._database.execute(
            "SELECT a.id, p.kind, p.value, (SELECT c.sort FROM capture_now c "
            "WHERE c.asset = p.asset) FROM content_print p JOIN asset_now a ON a.seq = p.asset "
            f"WHERE {chosen} ORDER BY p.seq",
            (values,),
        )
        known: _Known = {}
        for asset, kind, value, taken in rows:
            before = known[asset].prints if asset in known else {}
            known[asset] = _Facts({**before, kind: Print.of(value)}, taken)
        return known


def _alike(one: _Facts, other: _Facts) -> str:
    """Name how two assets are alike, or return nothing: a film has both pictures and sound."""
    if ("frames" in one.prints) != ("frames" in other.prints):
        return ""
    shared = one.prints.keys() & other.prints.keys()
    apart = {kind: one.prints[kind].difference(other.prints[kind]) for kind in shared}
    if not apart:
        return ""
    if all(share <= _NEAR[kind] for kind, share in apart.items()):
        return "near_duplicate"
    burst = apart.get("picture", 1.0) <= _BURST and _within_seconds(one.taken, other.taken)
    return "burst" if burst else ""


def _reason(one: _Facts, other: _Facts) -> str:
    how = _alike(one, other)
    moving = {"sound", "frames"} & one.prints.keys() & other.prints.keys()
    return {"near_duplicate": "re_encoded" if moving else "near_image"}.get(how, how)


def _near_pairs(known: _Known) -> Iterator[tuple[str, str]]:
    """Yield the pairs of which a print is near enough to look closer, once for each kind."""
    import numpy as np

    for kind, share in _NEAR.items():
        most = max(share, _BURST if kind == "picture" else share)
        by_length: dict[int, list[str]] = {}
        for name in sorted(known):
            if kind in known[name].prints:
                by_length.setdefault(known[name].prints[kind].length, []).append(name)
        for length, names in by_length.items():
            size = -(-length // 8)
            bits = np.frombuffer(
                b"".join(known[name].prints[kind].bits.to_bytes(size, "big") for name in names),
                np.uint8,
            ).reshape(len(names), size)
            for number, name in enumerate(names[:-1]):
                apart = np.bitwise_count(bits[number + 1 :] ^ bits[number]).sum(axis=1)
                for place in np.flatnonzero(apart <= most * length):
                    yield name, names[number + 1 + int(place)]


class _Sets:
    """Names joined into sets; each is called after its first name."""

    def __init__(self, names: Iterable[str]) -> None:
        self._above = {name: name for name in names}

    def first(self, name: str) -> str:
        """Return what the set of a name is called."""
        while (above := self._above[name]) != name:
            self._above[name] = self._above[above]
            name = above
        return name

    def join(self, one: str, other: str) -> None:
        """Make one set of two."""
        first, second = sorted((self.first(one), self.first(other)))
        self._above[second] = first


def _within_seconds(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    return abs(parse_utc(one) - parse_utc(other)) <= timedelta(seconds=_BURST_SECONDS)
