"""What a request to forget names: rows of the ledger, and what they are a part of."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import apsw

from muniment.store.forgetting import fragments


@dataclass(frozen=True, slots=True)
class Wanted:
    """Conditions that messages and files must meet together; empty ones ask nothing.

    ``since`` and ``until`` are UTC instants, half-open.
    """

    authors: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    session: str | None = None

    def __bool__(self) -> bool:
        return bool(self.authors or self.since or self.until or self.session)


@dataclass(slots=True)
class Selection:
    """Numbers of rows, by table."""

    assets: set[int] = field(default_factory=set)
    observations: set[int] = field(default_factory=set)
    candidates: set[int] = field(default_factory=set)
    records: set[int] = field(default_factory=set)
    events: set[int] = field(default_factory=set)
    sessions: set[int] = field(default_factory=set)
    personas: set[int] = field(default_factory=set)
    everything: bool = False

    def __bool__(self) -> bool:
        return self.everything or bool(self.personas) or any(self.by_table().values())

    def by_table(self) -> dict[str, set[int]]:
        """Return the numbers by the names of their tables in the ledger."""
        return {
            "asset": self.assets, "observation": self.observations,
            "candidate": self.candidates, "record": self.records, "event": self.events,
            "session": self.sessions,
        }  # fmt: skip


class Selector:
    """Finds rows of one ledger; methods of one kind each add to ``found``."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database
        self.found = Selection()

    def assets(self, ids: Iterable[str]) -> bool:
        """Add assets by id; return whether all are there, and so on for the other kinds."""
        return self._by_id("asset", self.found.assets, ids)

    def observations(self, ids: Iterable[str]) -> bool:
        """Add observations by id."""
        return self._by_id("observation", self.found.observations, ids)

    def candidates(self, ids: Iterable[str]) -> bool:
        """Add candidates by id."""
        return self._by_id("candidate", self.found.candidates, ids)

    def records(self, ids: Iterable[str]) -> bool:
        """Add records by id."""
        return self._by_id("record", self.found.records, ids)

    def episode(self, identity: str) -> bool:
        """Add the members of an episode: an episode is nothing beside them."""
        members = self._numbers(
            "SELECT m.observation FROM episode e JOIN membership m ON m.episode = e.seq "
            "WHERE e.id = ?",
            (identity,),
        )
        self.found.observations |= members
        return bool(members)

    def event(self, identity: str) -> bool:
        """Add an event of a session with what it said."""
        events = self._numbers("SELECT seq FROM event WHERE id = ?", (identity,))
        self._take_events(events)
        return bool(events)

    def session(self, identity: str) -> bool:
        """Add a session with all its events, or the messages of a thread."""
        sessions = self._numbers("SELECT seq FROM session WHERE id = ?", (identity,))
        self.found.sessions |= sessions
        for session in sessions:
            self._take_events(self._numbers("SELECT seq FROM event WHERE session = ?", (session,)))
        said = self._numbers("SELECT seq FROM observation WHERE thread = ?", (identity,))
        self.found.observations |= said
        return bool(sessions or said)

    def everything(self) -> None:
        """Add the whole scope."""
        self.found.everything = True
        for table, found in self.found.by_table().items():
            found.update(self._numbers(f"SELECT seq FROM {table}"))

    def matching(self, wanted: Wanted) -> None:
        """Narrow what was found to what meets the conditions; nothing found means all there is."""
        observations, assets = self._said(wanted), self._captured(wanted)
        events = fragments.meeting(self._database, wanted)
        if self.found:
            inside = self.found.observations | self._of_assets(self.found.assets)
            observations &= inside
            assets &= self.found.assets
            events &= self.found.events
        self.found = Selection(assets=assets, observations=observations, events=events)

    def whole(self) -> None:
        """Take an asset as a whole when everything that was read from it is selected.

        What is said of the file itself (its metadata) goes with it.
        """
        touched = self._numbers(
            "SELECT DISTINCT asset FROM observation WHERE seq IN (SELECT value FROM json_each(?))",
            (as_json(self.found.observations),),
        )
        left = self._numbers(
            "SELECT DISTINCT o.asset FROM observation_newest o WHERE o.kind <> 'metadata' "
            "AND o.asset IN (SELECT value FROM json_each(?1)) "
            "AND o.seq NOT IN (SELECT value FROM json_each(?2))",
            (as_json(touched), as_json(self.found.observations)),
        )
        size = -1
        while size != (size := len(self.found.assets)):
            inside = self._numbers(
                "SELECT DISTINCT d.parent FROM derivation d WHERE d.observe "
                "AND d.parent IN (SELECT value FROM json_each(?1)) "
                "AND d.asset NOT IN (SELECT value FROM json_each(?2))",
                (as_json(touched), as_json(self.found.assets)),
            )
            self.found.assets |= touched - left - inside

    def _said(self, wanted: Wanted) -> set[int]:
        where, values = ["1"], []
        if wanted.authors:
            where.append("o.author IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(list(wanted.authors)))
        if wanted.session:
            where.append("o.thread = ?")
            values.append(wanted.session)
        instant = (
            "coalesce(o.instant, (SELECT c.sort FROM capture_now c WHERE c.asset = o.asset), "
            "(SELECT c.sort FROM derivation d JOIN capture_now c ON c.asset = d.parent "
            "WHERE d.asset = o.asset ORDER BY d.seq LIMIT 1))"
        )
        for sign, moment in ((">=", wanted.since), ("<", wanted.until)):
            if moment:
                where.append(f"{instant} {sign} ?")
                values.append(moment)
        conditions = " AND ".join(where)
        statement = f"SELECT o.seq FROM observation o WHERE {conditions}"
        return self._numbers(statement, tuple(values))

    def _captured(self, wanted: Wanted) -> set[int]:
        """Return the assets of a time by their capture, when nothing but time is asked for."""
        if wanted.authors or wanted.session or not (wanted.since or wanted.until):
            return set()
        # A file of messages has times of its own inside; it goes by them.
        return self._numbers(
            "SELECT c.asset FROM capture_now c WHERE (?1 IS NULL OR c.sort >= ?1) "
            "AND (?2 IS NULL OR c.sort < ?2) AND NOT EXISTS (SELECT 1 FROM observation o "
            "WHERE o.asset = c.asset AND o.instant IS NOT NULL)",
            (wanted.since, wanted.until),
        )

    def _of_assets(self, assets: set[int]) -> set[int]:
        return self._numbers(
            "SELECT o.seq FROM json_each(?1) w JOIN observation o ON o.asset = w.value "
            "UNION SELECT o.seq FROM json_each(?1) w JOIN derivation d ON d.parent = w.value "
            "JOIN observation o ON o.asset = d.asset",
            (as_json(assets),),
        )

    def _take_events(self, events: set[int]) -> None:
        self.found.events |= events
        self.found.assets |= self._numbers(
            "SELECT asset FROM event WHERE asset IS NOT NULL "
            "AND seq IN (SELECT value FROM json_each(?))",
            (as_json(events),),
        )

    def _by_id(self, table: str, into: set[int], ids: Iterable[str]) -> bool:
        wanted = set(ids)
        found = self._numbers(
            f"SELECT seq FROM {table} WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(wanted)),),
        )
        into |= found
        return len(found) == len(wanted)

    def _numbers(self, statement: str, values: tuple[object, ...] = ()) -> set[int]:
        return {int(row[0]) for row in self._database.execute(statement, values)}


def as_json(numbers: Iterable[int]) -> str:
    """Return numbers as the JSON array that a statement takes."""
    return json.dumps(sorted(numbers))
