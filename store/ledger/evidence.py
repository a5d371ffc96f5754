"""Producers, observations and capture facts: what was read, by whom, from where."""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from muniment.store.database import number
from muniment.store.ids import (
    canonical_text,
    made,
    made_around,
    storable,
    storable_or_none,
)
from muniment.store.rows import IndexedRow, ObservationRow
from muniment.store.times import now, sort_key

if TYPE_CHECKING:
    from muniment.store.records import Locator, Observation, Producer

_INSTANT = """
coalesce(o.instant,
  (SELECT c.sort FROM capture_now c WHERE c.asset = o.asset),
  (WITH RECURSIVE above(asset, depth) AS (
     SELECT o.asset, 0
     UNION ALL
     SELECT (SELECT parent FROM derivation WHERE asset = above.asset ORDER BY seq LIMIT 1),
       depth + 1
     FROM above
     WHERE depth < 64 AND EXISTS (SELECT 1 FROM derivation WHERE asset = above.asset))
   SELECT c.sort FROM above JOIN capture_now c ON c.asset = above.asset ORDER BY depth LIMIT 1))
"""
_COLUMNS = f"""
o.seq, o.id, a.id, o.kind, o.text, o.locator, p.fingerprint, o.confidence, o.origin, o.role,
o.language, o.author, o.thread, o.occurred, {_INSTANT}, o.attributes
"""
_INDEXED = f"""
SELECT o.seq, o.id, a.id, o.kind, o.text, o.confidence, o.origin, o.role, o.author, o.thread,
  json_extract(o.occurred, '$.local'), {_INSTANT},
  CASE WHEN o.attributes <> '{{}}' THEN CAST(o.attributes ->> 'heading' AS TEXT) END
FROM observation_live o JOIN asset a ON a.seq = o.asset
WHERE o.seq IN (SELECT value FROM json_each(?)) ORDER BY o.seq
"""
# Our own JSON has no white space around it to look for.
_decode = json.JSONDecoder().raw_decode
# Half the time of the named tuples' own constructors.
_indexed_row = partial(tuple.__new__, IndexedRow)
_row_of = partial(tuple.__new__, ObservationRow)
_FROM = "JOIN asset a ON a.seq = o.asset JOIN producer p ON p.seq = o.producer"


class Evidence:
    """The observation tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def producer(self, producer: "Producer") -> tuple[int, str]:
        """Return the number and fingerprint of a producer, recording a new one."""
        fingerprint = producer.fingerprint
        row = self._database.execute(
            "SELECT seq FROM producer WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        if row is not None:
            return int(row[0]), fingerprint
        self._database.execute(
            "INSERT INTO producer (fingerprint, adapter, version, role, model, params_hash) "
            "VALUES (?,?,?,?,?,?)",
            (
                fingerprint, producer.adapter, producer.version, producer.role, producer.model,
                producer.params_hash,
            ),
        )  # fmt: skip
        return self._database.last_insert_rowid(), fingerprint

    def producer_of(self, fingerprint: str) -> dict[str, str]:
        """Return the words behind a fingerprint."""
        row = self._database.execute(
            "SELECT adapter, version, role, model, params_hash FROM producer WHERE fingerprint = ?",
            (fingerprint,),
        ).fetchone()
        names = ("adapter", "version", "role", "model", "params_hash")
        return dict(zip(names, row, strict=True)) if row else {}

    def add(
        self, observations: Iterable["Observation"], asset: int, producers: dict[str, int],
        attempt: int,
    ) -> int:  # fmt: skip
        """Append observations of one attempt; return how many are new."""
        before = self._database.total_changes()
        self._database.executemany(
            "INSERT INTO observation (id, asset, kind, text, locator, producer, confidence, "
            "origin, role, language, author, thread, occurred, instant, attributes, attempt, "
            "created_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING",
            (_values(o, asset, producers[o.producer], attempt) for o in observations),
        )
        return self._database.total_changes() - before

    def kinds(self) -> list[str]:
        """Return the kinds of all observations."""
        rows = self._database.execute("SELECT DISTINCT kind FROM observation ORDER BY kind")
        return [str(row[0]) for row in rows]

    def own_names(self) -> tuple[str, ...]:
        """Return the names that the owner of the scope goes by."""
        rows = self._database.execute("SELECT name FROM own_name ORDER BY name")
        return tuple(row[0] for row in rows)

    def add_own_names(self, names: Iterable[str]) -> None:
        """Add names that the owner of the scope goes by."""
        self._database.executemany(
            "INSERT INTO own_name (name, at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            [(storable(name), now()) for name in names],
        )

    def add_time(
        self, asset: int, moment: dict[str, Any], source: str, rank: int, confidence: float,
        *, attempt: int | None = None,
    ) -> None:  # fmt: skip
        """Record what one source says of the time of capture; lower ranks win."""
        text = canonical_text(moment)
        self._database.execute(
            "INSERT INTO capture_time (asset, moment, sort, source, rank, confidence, attempt) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM capture_time "
            "WHERE asset = ?1 AND rank = ?5 AND source = ?4 AND moment = ?2)",
            (asset, text, sort_key(moment), source, rank, confidence, attempt),
        )

    def add_place(
        self, asset: int, position: tuple[float, float, float | None], source: str, attempt: int
    ) -> None:
        """Record a position: latitude, longitude, altitude."""
        known = self._database.execute(
            "SELECT 1 FROM capture_place WHERE asset = ? AND source = ? AND latitude = ? "
            "AND longitude = ?",
            (asset, source, position[0], position[1]),
        ).fetchone()
        if known is None:
            self._database.execute(
                "INSERT INTO capture_place (asset, latitude, longitude, altitude, source, attempt) "
                "VALUES (?,?,?,?,?,?)",
                (asset, *position, source, attempt),
            )

    def times(self, asset: str) -> list[dict[str, Any]]:
        """Return every claim on the time of capture, the chosen one first."""
        rows = self._database.execute(
            "SELECT c.moment, c.source, c.rank, c.confidence FROM capture_time c JOIN asset a "
            "ON a.seq = c.asset WHERE a.id = ? ORDER BY c.rank, c.confidence DESC, c.sort, c.seq",
            (asset,),
        )
        return [
            {**json.loads(moment), "source": source, "rank": rank, "confidence": sure}
            for moment, source, rank, sure in rows
        ]

    def place(self, asset: str) -> dict[str, Any] | None:
        """Return where an asset was captured."""
        row = self._database.execute(
            "SELECT c.latitude, c.longitude, c.altitude, c.source FROM capture_place c "
            "JOIN asset a ON a.seq = c.asset WHERE a.id = ? ORDER BY c.seq LIMIT 1",
            (asset,),
        ).fetchone()
        names = ("latitude", "longitude", "altitude", "source")
        return dict(zip(names, row, strict=True)) if row else None

    def last(self) -> int:
        """Return the number of the newest observation."""
        return number(self._database, "SELECT max(seq) FROM observation")

    def get(self, observation: str) -> ObservationRow | None:
        """Return one observation, live or superseded; one that is hidden is not there."""
        return next(self._read("observation_kept", "o.id = ?", (observation,)), None)

    def is_live(self, observation: str) -> bool:
        """Tell whether recall may use an observation."""
        row = self._database.execute(
            "SELECT 1 FROM observation_live WHERE id = ?", (observation,)
        ).fetchone()
        return row is not None

    def after(self, mark: int, limit: int) -> list[ObservationRow]:
        """Return live observations past a sequence number, in order."""
        return list(
            self._read("observation_live", f"o.seq > ? ORDER BY o.seq LIMIT {int(limit)}", (mark,))
        )

    def between(self, first: int, last: int) -> list[ObservationRow]:
        """Return the live observations of a range of sequence numbers, in order."""
        return list(
            self._read("observation_live", "o.seq BETWEEN ? AND ? ORDER BY o.seq", (first, last))
        )

    def of_asset(self, asset: str) -> Iterator[ObservationRow]:
        """Yield the live observations of an asset in order."""
        return self._read("observation_live", "a.id = ? ORDER BY o.seq", (asset,))

    def live(self, where: str, values: tuple[Any, ...] = ()) -> Iterator[ObservationRow]:
        """Yield live observations by a condition on ``observation_live o``."""
        return self._read("observation_live", where, values)

    def live_by_id(self, ids: Iterable[str]) -> dict[str, ObservationRow]:
        """Return those of the named observations that are live."""
        wanted = (json.dumps(list(ids)),)
        found = self._read("observation_live", "o.id IN (SELECT value FROM json_each(?))", wanted)
        return {row.id: row for row in found}

    def live_at(self, numbers: Iterable[int]) -> dict[str, ObservationRow]:
        """Return those of the observations with these sequence numbers that are live, by id."""
        wanted = (json.dumps(list(numbers)),)
        found = self._read("observation_live", "o.seq IN (SELECT value FROM json_each(?))", wanted)
        return {row.id: row for row in found}

    def indexed(self, numbers: Iterable[int]) -> dict[int, IndexedRow]:
        """Return what an index tells of those of the observations that are live, in order."""
        rows = self._database.execute(_INDEXED, (json.dumps(list(numbers)),))
        return {row.seq: row for row in map(_indexed_row, rows)}

    def _read(self, table: str, where: str, values: tuple[Any, ...]) -> Iterator[ObservationRow]:
        rows = self._database.execute(
            f"SELECT {_COLUMNS} FROM {table} o {_FROM} WHERE {where}", values
        )
        for row in rows:
            yield _observation_row(row)


def observation_id(asset: str, kind: str, locator: Any, producer: str, occurrence: int) -> str:
    """Return the id of an observation: where and by whom, never the text alone."""
    return made("obs", asset, kind, locator, producer, occurrence)


def observation_id_at(
    asset: str, kind: str, locator: "Locator", producer: str, occurrence: int
) -> str:
    """Return :func:`observation_id` of a place, at less cost."""
    return made_around("obs", (asset, kind), locator.canonical, (producer, occurrence))


def _values(o: "Observation", asset: int, producer: int, attempt: int) -> tuple[Any, ...]:
    occurred = None if o.occurred is None else o.occurred.model_dump()
    return (
        o.id, asset, o.kind, storable(o.text), storable(o.locator.canonical), producer,
        o.confidence, o.origin, o.role, o.language, storable_or_none(o.author),
        storable_or_none(o.thread),
        None if occurred is None else canonical_text(occurred), sort_key(occurred),
        canonical_text(o.attributes) if o.attributes else "{}", attempt, o.created_at,
    )  # fmt: skip


def _observation_row(row: tuple[Any, ...]) -> ObservationRow:
    locator, occurred, attributes = row[5], row[13], row[15]
    return _row_of(
        (
            *row[:5],
            _decode(locator)[0],
            *row[6:13],
            _decode(occurred)[0] if occurred else None,
            row[14],
            {} if attributes == "{}" else _decode(attributes)[0],
        )
    )
