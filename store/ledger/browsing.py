"""Pages of what a scope holds, newest first: each begins where the one before it ended."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import apsw

from muniment.store.ledger.asset_rows import ASSET_ROWS, asset_row
from muniment.store.ledger.shown import RECORD
from muniment.store.rows import AssetRow

_LAST = "9999-99"
_MONTH = len("2026-03")

_AFTER_ALL = "\U0010ffff"
_LABELLED = {
    "record": "SELECT version_seq AS seq, id, text AS label FROM record_now r WHERE r.version = "
              f"(SELECT max(version) FROM record_version WHERE record = r.record) AND {RECORD}",
    "candidate": "SELECT seq, id, text AS label FROM candidate_now WHERE status = 'pending'",
    "episode": "SELECT seq, id, title AS label FROM episode_now WHERE status = 'open'",
    "entity": "SELECT e.seq, e.id, (SELECT name FROM entity_name_now WHERE entity = e.seq "
              "ORDER BY seq LIMIT 1) AS label FROM entity e",
    "observation": "SELECT seq, id, text AS label FROM observation_live",
    "session": "SELECT seq, id, started_at AS label FROM session",
}  # fmt: skip


class Dated(NamedTuple):
    """An asset at its time of capture, which sorts as UTC text."""

    sort: str
    asset: AssetRow


class Browsing:
    """Reads a ledger by the page; no page costs more for standing far from the first."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def assets(self, family: str | None, before: int | None, limit: int) -> list[AssetRow]:
        """Return assets that were seen by themselves or taken out of others, below a number."""
        # The index over the types goes down by asset, so that a page is walked to, never sorted.
        rows = self._database.execute(
            "SELECT t.asset FROM asset_type t WHERE (?1 IS NULL OR t.family = ?1) AND t.asset < ?2 "
            "AND EXISTS (SELECT 1 FROM asset_now n WHERE n.seq = t.asset AND n.type_seq = t.seq) "
            "AND EXISTS (SELECT 1 FROM sighting s WHERE s.asset = t.asset) "
            "ORDER BY t.asset DESC LIMIT ?3",
            (family, _before(before), limit),
        )
        numbers = [int(str(number)) for (number,) in rows]
        found = self._rows(numbers)
        return [found[number] for number in numbers]

    def timeline(self, before: tuple[str, int] | None, limit: int) -> list[Dated]:
        """Return assets by time of capture, those before a time and number, newest first."""
        place = (_LAST, 0) if before is None else before
        dated: list[Dated] = []
        captured = self._captured(place)
        # A time may be that of an asset which is hidden, so that a page takes more than one look.
        while len(dated) < limit and (near := list(islice(captured, limit - len(dated)))):
            found = self._rows([number for _, number in near])
            dated += [Dated(sort, found[number]) for sort, number in near if number in found]
        return dated

    def _rows(self, numbers: list[int]) -> dict[int, AssetRow]:
        rows = self._database.execute(
            f"{ASSET_ROWS} WHERE a.seq IN (SELECT value FROM json_each(?))", (json.dumps(numbers),)
        )
        return {row.seq: row for row in map(asset_row, rows)}

    def months(self, most: int = 600) -> list[str]:
        """Return the months that something was captured in, newest first."""
        found: list[str] = []
        place = _LAST
        while len(found) < most:
            row = self._database.execute(
                "SELECT max(sort) FROM capture_time WHERE sort < ?", (place,)
            ).fetchone()
            if row is None or row[0] is None:
                break
            place = str(row[0])[:_MONTH]
            found.append(place)
        return found

    def episodes(self, before: int | None, limit: int) -> list[dict[str, Any]]:
        """Return open episodes below a number, the last made first."""
        rows = self._database.execute(
            "SELECT e.seq, e.id, e.kind, e.title, e.gist, json_extract(e.start, '$.utc'), "
            "json_extract(e.start, '$.local') FROM episode_now e "
            "WHERE e.status = 'open' AND e.seq < ? ORDER BY e.seq DESC LIMIT ?",
            (_before(before), limit),
        )
        names = ("seq", "id", "kind", "title", "gist", "utc", "local")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def records(self, before: int | None, limit: int) -> list[dict[str, Any]]:
        """Return the newest version of each record, the last recorded first."""
        rows = self._database.execute(
            "SELECT r.version_seq, r.id, r.version, r.kind, r.text, r.key, r.value, r.status, "
            "r.pinned, r.recorded_at FROM record_now r WHERE r.version_seq < ? AND r.version = "
            f"(SELECT max(version) FROM record_version WHERE record = r.record) AND {RECORD} "
            "ORDER BY r.version_seq DESC LIMIT ?",
            (_before(before), limit),
        )
        names = ("seq", "id", "version", "kind", "text", "key", "value", "status", "pinned",
                 "recorded_at")  # fmt: skip
        return [dict(zip(names, row, strict=True)) for row in rows]

    def sessions(self, before: int | None, limit: int) -> list[str]:
        """Return the ids of sessions below a number, the last begun first."""
        rows = self._database.execute(
            "SELECT id FROM session WHERE seq < ? ORDER BY seq DESC LIMIT ?",
            (_before(before), limit),
        )
        return [str(row[0]) for row in rows]

    def observations_of(self, asset: str, after: int, limit: int) -> list[str]:
        """Return the ids of an asset's live observations past a number, in order."""
        rows = self._database.execute(
            "SELECT o.id FROM observation_live o JOIN asset_now a ON a.seq = o.asset "
            "WHERE a.id = ? AND o.seq > ? ORDER BY o.seq LIMIT ?",
            (asset, after, limit),
        )
        return [str(row[0]) for row in rows]

    def beginning(self, kind: str, typed: str, limit: int) -> list[tuple[str, str]]:
        """Return ids of a kind that begin as typed, the newest first, with what they are."""
        rows = self._database.execute(
            f"SELECT id, label FROM ({_LABELLED[kind]}) WHERE id >= ?1 AND id < ?1 || ?2 "
            "ORDER BY seq DESC LIMIT ?3",
            (typed, _AFTER_ALL, limit),
        )
        return [(str(identity), str(label or "")) for identity, label in rows]

    def _captured(self, place: tuple[str, int]) -> Iterator[tuple[str, int]]:
        """Yield the chosen time of each asset down from a place, by the index over all claims."""
        rows = self._database.execute(
            "SELECT c.sort, c.asset FROM capture_time c INDEXED BY capture_time_sort "
            "WHERE (c.sort, c.asset) < (?, ?) AND c.seq = (SELECT d.seq FROM capture_time d "
            "WHERE d.asset = c.asset ORDER BY d.rank, d.confidence DESC, d.sort, d.seq LIMIT 1) "
            "ORDER BY c.sort DESC, c.asset DESC",
            place,
        )
        for sort, number in rows:
            yield str(sort), int(str(number))


def _before(number: int | None) -> int:
    return 2**62 if number is None else number
