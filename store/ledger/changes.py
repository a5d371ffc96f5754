"""What an index follows: which observations changed since its marks, and what stands around one."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import apsw

from muniment.store.database import number
from muniment.store.rows import name_in

# The tables that an index follows by sequence number.
FOLLOWED = (
    "observation", "coverage", "capture_time", "episode_member", "episode_version", "revision",
)  # fmt: skip


class Neighbour(NamedTuple):
    """An observation beside another one, in the order of its thread or asset."""

    seq: int
    id: str
    text: str
    author: str | None


class AssetFacts(NamedTuple):
    """What is told of an asset: a derived one has the path, name and source of its parent."""

    number: int
    id: str
    size: int
    storage: str
    media_type: str
    family: str
    path: bytes
    source: str

    @property
    def name(self) -> str:
        """The file name that it was first seen under."""
        return name_in(self.path)


class Changes:
    """Reads the ledger for what an index has to add, replace or drop."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def marks(self) -> dict[str, int]:
        """Return the newest sequence number of every followed table."""
        return {
            table: number(self._database, f"SELECT max(seq) FROM {table}") for table in FOLLOWED
        }

    def touched(self, marks: dict[str, int]) -> list[int]:
        """Return the older observations that may be live, dated or grouped otherwise since."""
        rows = self._database.execute(
            # Not by the indexes: in their order, whole tables would be read for a few new rows.
            "SELECT o.seq FROM observation o WHERE o.seq <= :observation AND o.asset IN ("
            " SELECT asset FROM coverage NOT INDEXED WHERE seq > :coverage"
            " UNION ALL SELECT asset FROM capture_time NOT INDEXED WHERE seq > :capture_time"
            " UNION ALL SELECT d.asset FROM capture_time c NOT INDEXED"
            "  CROSS JOIN derivation d ON d.parent = c.asset WHERE c.seq > :capture_time)"
            " UNION SELECT observation FROM episode_member NOT INDEXED"
            "  WHERE seq > :episode_member AND observation <= :observation ORDER BY 1",
            marks,
        )
        return [row[0] for row in rows]

    def observations_after(self, mark: int, limit: int) -> list[int]:
        """Return the numbers of the next observations, live or not."""
        rows = self._database.execute(
            "SELECT seq FROM observation WHERE seq > ? ORDER BY seq LIMIT ?", (mark, limit)
        )
        return [row[0] for row in rows]

    def ids(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the observation ids behind sequence numbers."""
        wanted = list(numbers)
        rows = self._database.execute(
            f"SELECT seq, id FROM observation WHERE seq IN ({_marks(wanted)})", wanted
        )
        return dict(rows)

    def around(self, observation: int, reach: int) -> tuple[list[Neighbour], list[Neighbour]]:
        """Return the live neighbours before (nearest first) and after an observation.

        In a thread they follow in time; elsewhere in the order of the asset, of one kind and
        producer.
        """
        row = self._database.execute(
            "SELECT thread, instant, asset, kind, producer FROM observation WHERE seq = ?",
            (observation,),
        ).fetchone()
        if row is None:
            return [], []
        thread, instant, asset, kind, producer = row
        if thread is None:
            where, values = "o.asset = ? AND o.kind = ? AND o.producer = ?", (asset, kind, producer)
            return self._beside(where, values, "o.seq", (observation,), reach)
        if instant is None:
            where = "o.thread = ? AND o.instant IS NULL"
            return self._beside(where, (thread,), "o.seq", (observation,), reach)
        place = (instant, observation)
        return self._beside("o.thread = ?", (thread,), "o.instant, o.seq", place, reach)

    def _beside(
        self, where: str, values: tuple[object, ...], order: str, place: tuple[object, ...],
        reach: int,
    ) -> tuple[list[Neighbour], list[Neighbour]]:  # fmt: skip
        found = []
        for sign, direction in (("<", "DESC"), (">", "ASC")):
            ordered = ", ".join(f"{column} {direction}" for column in order.split(", "))
            rows = self._database.execute(
                f"SELECT o.seq, o.id, o.text, o.author FROM observation_live o WHERE {where} "
                f"AND ({order}) {sign} ({_marks(place)}) ORDER BY {ordered} LIMIT {int(reach)}",
                (*values, *place),
            )
            found.append([Neighbour(*row) for row in rows])
        return found[0], found[1]

    def assets(self, ids: Iterable[str]) -> dict[str, AssetFacts]:
        """Return the facts of assets by id; what has no sniffed type yet is left out."""
        wanted = list(ids)
        rows = self._database.execute(
            "SELECT a.seq, a.id, a.size, a.storage, a.media_type, a.family, s.path, s.source "
            "FROM asset_now a LEFT JOIN sighting s ON s.seq = "
            "(SELECT min(seq) FROM sighting WHERE asset = a.seq) "
            f"WHERE a.id IN ({_marks(wanted)})",
            wanted,
        )
        found: dict[str, AssetFacts] = {}
        for *plain, path, source in rows:
            seen = (path, source) if path is not None else self._sighting_of_parent(plain[0])
            found[plain[1]] = AssetFacts._make((*plain, bytes(seen[0]), seen[1]))
        return found

    def _sighting_of_parent(self, asset: int) -> tuple[bytes, str]:
        row = self._database.execute(
            "WITH RECURSIVE above(asset, depth) AS (SELECT ?, 0 UNION SELECT d.parent, depth + 1 "
            "FROM derivation d JOIN above ON d.asset = above.asset WHERE depth < 16) "
            "SELECT s.path, s.source FROM above JOIN sighting s ON s.asset = above.asset "
            "ORDER BY depth, s.seq LIMIT 1",
            (asset,),
        ).fetchone()
        return (b"", "") if row is None else (bytes(row[0]), str(row[1]))

    def episodes_after(self, mark: int) -> list[str]:
        """Return the ids of episodes with a version past a number."""
        rows = self._database.execute(
            "SELECT e.id FROM episode_version v NOT INDEXED CROSS JOIN episode e "
            "ON e.seq = v.episode WHERE v.seq > ? ORDER BY v.seq",
            (mark,),
        )
        return list(dict.fromkeys(row[0] for row in rows))


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
