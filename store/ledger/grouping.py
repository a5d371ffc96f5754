"""What grouping needs to see: new observations, whole assets, and the runs around a time.

Runs are read outwards from a time until a gap, so the cost follows the run and not the store.
"""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import apsw

from muniment.store.ledger.asset_rows import SEEN_ABOVE
from muniment.store.rows import name_in


class AssetFacts(NamedTuple):
    """What grouping knows of an asset; ``duration_ms`` is null for what has none."""

    asset: str
    family: str
    source: str
    name: str
    duration_ms: int | None
    place: tuple[float, float] | None
    moment: str | None
    sort: str | None


# A member or attachment is read as it would be in a folder; anything else that was made from an
# asset (a picture in a document, the cover of a recording) is a part of it.
_APART = "('member', 'attachment')"
_FIRST = "d.seq = (SELECT min(seq) FROM derivation WHERE asset = d.asset)"
_OWNER = f"""coalesce(
CASE WHEN EXISTS (SELECT 1 FROM derivation WHERE asset = o.asset) THEN (
  WITH RECURSIVE part(asset, depth) AS (
    SELECT o.asset, 0
    UNION ALL
    SELECT d.parent, depth + 1 FROM part JOIN derivation d ON d.asset = part.asset AND {_FIRST}
    WHERE depth < 64 AND d.relation NOT IN {_APART}
      AND NOT EXISTS (SELECT 1 FROM sighting WHERE asset = part.asset))
  SELECT asset FROM part ORDER BY depth DESC LIMIT 1) END, o.asset)"""
_PARTS = f"""
WITH RECURSIVE part(owner, asset) AS (
  SELECT value, value FROM json_each(?)
  UNION
  SELECT part.owner, d.asset FROM part JOIN derivation d ON d.parent = part.asset AND {_FIRST}
  WHERE d.relation NOT IN {_APART} AND NOT EXISTS (SELECT 1 FROM sighting WHERE asset = d.asset))
SELECT part.owner, o.seq FROM part JOIN observation_live o ON o.asset = part.asset ORDER BY 1, 2
"""
_FACTS = f"""
SELECT a.seq, a.id, a.family, coalesce(s.source, p.source, ''),
  coalesce(s.path, CAST(nullif(d.name, '') AS BLOB), p.path, x''),
  (SELECT max(json_extract(o.locator, '$.end_ms')) FROM observation o
   WHERE o.asset = a.seq AND o.kind = 'metadata' AND a.family IN ('audio', 'video')),
  (SELECT p.latitude || ' ' || p.longitude FROM capture_place p WHERE p.asset = a.seq
   ORDER BY p.seq LIMIT 1),
  c.moment, c.sort
FROM json_each(?) wanted
JOIN asset_now a ON a.seq = wanted.value
LEFT JOIN sighting s ON s.seq = (SELECT min(seq) FROM sighting WHERE asset = a.seq)
LEFT JOIN derivation d
  ON s.seq IS NULL AND d.seq = (SELECT min(seq) FROM derivation WHERE asset = a.seq)
LEFT JOIN sighting p ON d.seq IS NOT NULL AND p.seq = {SEEN_ABOVE}
LEFT JOIN capture_now c ON c.asset = a.seq
"""
_BY_ITSELF = f"""(NOT a.derived OR EXISTS (SELECT 1 FROM sighting WHERE asset = a.seq) OR EXISTS
(SELECT 1 FROM derivation d WHERE d.asset = a.seq AND {_FIRST} AND d.relation IN {_APART}))"""
_MEDIA = "('image', 'audio', 'video')"


class Grouping:
    """The reading side of the group stage."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def touched(self, mark: int, limit: int) -> list[tuple[int, int]]:
        """Return (observation, owning asset) numbers of live observations past a mark."""
        rows = self._database.execute(
            f"SELECT o.seq, {_OWNER} FROM observation_live o WHERE o.seq > ? "
            "ORDER BY o.seq LIMIT ?",
            (mark, limit),
        )
        return [(int(seq), int(asset)) for seq, asset in rows]

    def owners(self, observations: Iterable[int]) -> list[tuple[int, int]]:
        """Return (observation, owning asset) numbers of those observations that are live."""
        rows = self._database.execute(
            f"SELECT o.seq, {_OWNER} FROM json_each(?) w "
            "JOIN observation_live o ON o.seq = w.value ORDER BY o.seq",
            (json.dumps(sorted(observations)),),
        )
        return [(int(seq), int(asset)) for seq, asset in rows]

    def sharing_episodes(self, observations: Iterable[int]) -> set[int]:
        """Return the members of every episode that any of the observations was ever in."""
        rows = self._database.execute(
            "SELECT m.observation FROM membership m WHERE m.episode IN (SELECT x.episode FROM "
            "episode_member x WHERE x.observation IN (SELECT value FROM json_each(?)))",
            (json.dumps(sorted(observations)),),
        )
        return {int(row[0]) for row in rows}

    def facts(self, assets: Iterable[int]) -> dict[int, AssetFacts]:
        """Return what grouping knows of assets, by number."""
        rows = self._database.execute(_FACTS, (json.dumps(sorted(assets)),))
        return {int(row[0]): _asset_facts(row[1:]) for row in rows}

    def of_assets(self, assets: Iterable[int]) -> dict[int, list[int]]:
        """Return the live observations of assets and of their parts, in order."""
        rows = self._database.execute(_PARTS, (json.dumps(sorted(assets)),))
        found: dict[int, list[int]] = {}
        for asset, number in rows:
            found.setdefault(int(asset), []).append(int(number))
        return found

    def thread_run(self, thread: str, instant: str | None, gap: timedelta) -> list[int]:
        """Return the messages of a thread around an instant, out to the first gaps."""
        if instant is None:
            statement = "SELECT seq FROM observation_live WHERE thread = ? AND instant IS NULL"
            return [int(row[0]) for row in self._database.execute(statement, (thread,))]
        back, on = (
            self._database.execute(
                f"SELECT seq, instant FROM observation_live WHERE thread = ? AND instant {side} ? "
                f"ORDER BY instant {order}",
                (thread, instant),
            )
            for side, order in (("<=", "DESC"), (">", "ASC"))
        )
        return [*_until_gap(back, instant, gap), *_until_gap(on, instant, gap)]

    def media_run(self, sort: str, gap: timedelta) -> list[int]:
        """Return the pictures, recordings and videos around a time of capture."""
        back, on = (
            self._database.execute(
                # In the order of time, so that reading stops at the gap.
                "SELECT c.asset, c.sort FROM capture_time c "
                "CROSS JOIN asset_now a ON a.seq = c.asset "
                f"WHERE c.sort {side} ? AND a.family IN {_MEDIA} AND {_BY_ITSELF} AND c.seq = "
                "(SELECT n.seq FROM capture_now n WHERE n.asset = c.asset) "
                f"ORDER BY c.sort {order}",
                (sort,),
            )
            for side, order in (("<=", "DESC"), (">", "ASC"))
        )
        return [*_until_gap(back, sort, gap), *_until_gap(on, sort, gap)]


def _asset_facts(row: tuple[Any, ...]) -> AssetFacts:
    identity, family, source, path, duration, place, moment, sort = row
    latitude, _, longitude = (place or "").partition(" ")
    name = name_in(bytes(path))
    return AssetFacts(
        identity, family, source, name, duration,
        (float(latitude), float(longitude)) if place else None, moment, sort,
    )  # fmt: skip


def _until_gap(rows: Iterator[tuple[Any, ...]], start: str, gap: timedelta) -> Iterator[int]:
    last = datetime.fromisoformat(start)
    for number, instant in rows:
        this = datetime.fromisoformat(instant)
        if abs(this - last) > gap:
            return
        last = this
        yield int(number)
