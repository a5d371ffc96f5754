"""What an index follows: which observations changed since its marks, and what stands around one."""

import json
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

import apsw

from muniment.store.database import number, rows
from muniment.store.rows import name_in

# The tables that an index follows by sequence number.
FOLLOWED = (
    "observation", "coverage", "capture_time", "episode_member", "episode_version", "revision",
    "tombstone_member", "tombstone_lift", "misreading",
)  # fmt: skip

# Stands between a file and what is inside of it.
INSIDE = "»"
# Some archives contain themselves.
_DEEPEST = 64
# From so many places in one run on, the run between them is read in one go.
_DENSE = 32


class Neighbour(NamedTuple):
    """An observation beside another one, in the order of its thread or asset."""

    seq: int
    id: str
    text: str
    author: str | None


_neighbour = partial(tuple.__new__, Neighbour)  # half the time of its own constructor
# Of the columns of a run: those of a neighbour, and those that it is in order by.
_PLAIN, _PLACE = itemgetter(slice(4)), itemgetter(slice(4, None))


class Container(NamedTuple):
    """What an asset was taken out of: ``member`` is where the next one inside of it lies."""

    asset: str
    name: str
    member: str


class AssetFacts(NamedTuple):
    """What is told of an asset.

    One that was taken out of others has the path and source of the outermost, which was seen by
    itself; ``within`` names all of them, that one first.
    """

    number: int
    id: str
    size: int
    storage: str
    media_type: str
    family: str
    path: bytes
    source: str
    within: tuple[Container, ...] = ()

    @property
    def name(self) -> str:
        """The file name that it was first seen under, and the way to it inside of that file."""
        name = name_in(self.path)
        for container in self.within:
            name = self.below(name, container.member)
        return name

    @staticmethod
    def below(name: str, member: str) -> str:
        """Name a member of what has a name."""
        return f"{name} {INSIDE} {member}"


_asset_facts = partial(tuple.__new__, AssetFacts)

Around: TypeAlias = tuple[list[Neighbour], list[Neighbour]]


class _Run(NamedTuple):
    """What stands in one order: the messages of a thread, or an asset's lines of one reader."""

    where: str
    values: tuple[Any, ...]
    order: str
    is_lines: bool


def _run_of(thread: str | None, instant: str | None, asset: tuple[Any, ...]) -> _Run:
    if thread is None:
        where = "o.asset = ? AND o.kind = ? AND o.producer = ?"
        return _Run(where, asset, "o.seq", True)
    if instant is None:
        return _Run("o.thread = ? AND o.instant IS NULL", (thread,), "o.seq", False)
    return _Run("o.thread = ?", (thread,), "o.instant, o.seq", False)


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
            # By the indexes, or in an order, whole tables would be read for a few new rows.
            "SELECT o.seq FROM observation o WHERE o.seq <= :observation AND o.asset IN ("
            " SELECT asset FROM coverage NOT INDEXED WHERE seq > :coverage"
            " UNION ALL SELECT asset FROM capture_time NOT INDEXED WHERE seq > :capture_time"
            " UNION ALL SELECT asset FROM (WITH RECURSIVE below(asset) AS ("
            "  SELECT d.asset FROM capture_time c NOT INDEXED"
            "  CROSS JOIN derivation d ON d.parent = c.asset WHERE c.seq > :capture_time"
            "  UNION SELECT d.asset FROM below CROSS JOIN derivation d ON d.parent = below.asset)"
            "  SELECT asset FROM below))"
            " UNION SELECT observation FROM episode_member NOT INDEXED"
            "  WHERE seq > :episode_member AND observation <= :observation"
            " UNION SELECT o.seq FROM ("
            "  SELECT asset, observation FROM tombstone_member NOT INDEXED"
            "   WHERE seq > :tombstone_member"
            "  UNION ALL SELECT m.asset, m.observation FROM tombstone_lift l NOT INDEXED"
            "   CROSS JOIN tombstone_member m ON m.seq = l.member WHERE l.seq > :tombstone_lift) m"
            "  CROSS JOIN observation o ON o.asset = m.asset OR o.seq = m.observation"
            "  WHERE o.seq <= :observation"
            " UNION SELECT observation FROM misreading NOT INDEXED WHERE seq > :misreading",
            marks,
        )
        return sorted(row[0] for row in rows)

    def observations_after(self, mark: int, limit: int, most_bytes: int) -> list[int]:
        """Return the numbers of the next observations, live or not; so many at most, and no more
        after so many bytes of text.
        """
        found = rows(
            self._database,
            "SELECT seq, octet_length(text) FROM observation WHERE seq > ? ORDER BY seq LIMIT ?",
            (mark, limit),
        )
        sizes = accumulate(size for _, size in found)
        within = bisect_left(list(sizes), most_bytes) + 1
        return [number for number, _ in found[:within]]

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
        thread, instant, *asset = row
        run = _run_of(thread, instant, tuple(asset))
        place = (observation,) if run.order == "o.seq" else (instant, observation)
        return self._beside(run.where, run.values, run.order, place, reach)

    def around_many(
        self, observations: Iterable[int], message_reach: int, line_reach: int
    ) -> dict[int, Around]:
        """Return what ``around`` does for many at once; those of one run are read in one go."""
        wanted = list(observations)
        rows = self._database.execute(
            "SELECT o.seq, o.thread, o.instant, o.asset, o.kind, o.producer, o.thread IS NULL AND "
            "NOT EXISTS (SELECT 1 FROM observation p WHERE p.asset = o.asset AND p.kind = o.kind "
            f"AND p.seq <> o.seq) FROM observation o WHERE o.seq IN ({_marks(wanted)})",
            wanted,
        )
        runs: dict[tuple[Any, ...], tuple[_Run, list[tuple[Any, ...]]]] = {}
        for seq, thread, instant, asset, kind, producer, alone in rows:
            if alone:
                continue
            key = (asset, kind, producer) if thread is None else (thread, instant is None)
            if key not in runs:
                runs[key] = _run_of(thread, instant, (asset, kind, producer)), []
            run, places = runs[key]
            places.append((seq,) if run.order == "o.seq" else (instant, seq))
        found: dict[int, Around] = {}
        for run, places in runs.values():
            reach = line_reach if run.is_lines else message_reach
            found |= self._in_run(run, sorted(places), reach)
        return found | {seq: ([], []) for seq in wanted if seq not in found}

    def _in_run(self, run: _Run, places: list[tuple[Any, ...]], reach: int) -> dict[int, Around]:
        if len(places) < _DENSE:
            return {
                place[-1]: self._beside(run.where, run.values, run.order, place, reach)
                for place in places
            }
        first, last = places[0], places[-1]
        before = self._beside(run.where, run.values, run.order, first, reach)
        after = self._beside(run.where, run.values, run.order, last, reach)
        rows = self._database.execute(
            f"SELECT o.seq, o.id, o.text, o.author, {run.order} FROM observation_live o WHERE "
            f"{run.where} AND ({run.order}) >= ({_marks(first)}) "
            f"AND ({run.order}) <= ({_marks(last)}) ORDER BY {run.order}",
            (*run.values, *first, *last),
        ).fetchall()
        line = [*reversed(before[0]), *map(_neighbour, map(_PLAIN, rows)), *after[1]]
        keys = list(map(_PLACE, rows))
        start = len(before[0])
        found = {}
        for place in places:
            at = start + bisect_left(keys, place)
            own = at < len(line) and line[at].seq == place[-1]
            ahead = line[at + own : at + own + reach]
            found[place[-1]] = (line[max(0, at - reach) : at][::-1], ahead)
        return found

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
            found.append(list(map(_neighbour, rows)))
        return found[0], found[1]

    def at_place(self, observation: int, limit: int) -> list[tuple[int, str]]:
        """Return number and id of all at the same page, frame or picture, in its order."""
        rows = self._database.execute(
            "SELECT o.seq, o.id FROM observation h JOIN observation_live o ON o.asset = h.asset "
            "WHERE h.seq = ?1 AND o.seq <> ?1 "
            "AND o.locator ->> 'page' IS h.locator ->> 'page' "
            "AND o.locator ->> 'at_ms' IS h.locator ->> 'at_ms' ORDER BY o.seq LIMIT ?2",
            (observation, limit),
        )
        return list(rows)

    def assets(self, ids: Iterable[str]) -> dict[str, AssetFacts]:
        """Return the facts of assets by id; what has no sniffed type yet is left out."""
        rows = self._database.execute(
            "SELECT a.seq, a.id, a.size, a.storage, a.media_type, a.family, s.path, s.source "
            "FROM asset_now a LEFT JOIN sighting s ON s.seq = "
            "(SELECT min(seq) FROM sighting WHERE asset = a.seq) "
            "WHERE a.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        ).fetchall()
        found: dict[str, AssetFacts] = {}
        for *plain, path, source in rows:
            seen = b"" if path is None else bytes(path)  # type: ignore[arg-type]  # a BLOB
            facts = _asset_facts((*plain, seen, source or "", ()))
            found[facts.id] = facts if path is not None else self._inside(facts)
        return found

    def _inside(self, facts: AssetFacts) -> AssetFacts:
        """Add what an asset that nobody saw by itself was taken out of, up to what was seen."""
        number = facts.number
        within: list[Container] = []
        for _ in range(_DEEPEST):
            row = self._database.execute(
                "SELECT d.parent, p.id, coalesce(json_extract(d.locator, '$.path'), d.name), "
                "s.path, s.source, (SELECT coalesce(json_extract(e.locator, '$.path'), e.name) "
                "FROM derivation e WHERE e.asset = d.parent ORDER BY e.seq LIMIT 1) "
                "FROM derivation d JOIN asset p ON p.seq = d.parent "
                "LEFT JOIN sighting s ON s.seq = "
                "(SELECT min(seq) FROM sighting WHERE asset = d.parent) "
                "WHERE d.asset = ? ORDER BY d.seq LIMIT 1",
                (number,),
            ).fetchone()
            if row is None:
                break
            number = int(row[0])
            seen = None if row[3] is None else bytes(row[3])
            name = str(row[5] or "") if seen is None else name_in(seen)
            within.insert(0, Container(str(row[1]), name, str(row[2])))
            if seen is not None:
                return facts._replace(path=seen, source=str(row[4]), within=tuple(within))
        return facts._replace(within=tuple(within))

    def episodes_after(self, version: int, member: int) -> list[str]:
        """Return the ids of episodes with a version or member past a number, in their order."""
        rows = self._database.execute(
            "SELECT e.id FROM (SELECT episode FROM episode_version NOT INDEXED WHERE seq > ? "
            "UNION SELECT episode FROM episode_member NOT INDEXED WHERE seq > ?) c "
            "CROSS JOIN episode e ON e.seq = c.episode ORDER BY e.seq",
            (version, member),
        )
        return [row[0] for row in rows]

    def small_episodes(self, episodes: Sequence[str]) -> set[str]:
        """Return those of the episodes that have one member at most."""
        rows = self._database.execute(
            "SELECT e.id FROM episode e WHERE "
            f"e.id IN ({_marks(episodes)}) AND (SELECT count(*) FROM (SELECT 1 FROM "
            "episode_member m WHERE m.episode = e.seq AND m.seq = (SELECT max(seq) FROM "
            "episode_member WHERE observation = m.observation) LIMIT 2)) < 2",
            list(episodes),
        )
        return {row[0] for row in rows}


def _marks(values: Sequence[object]) -> str:
    return ",".join("?" * len(values))
