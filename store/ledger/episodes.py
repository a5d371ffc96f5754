"""Episodes: anchored, versioned, their membership a log."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from muniment.store.database import number as count
from muniment.store.ids import canonical_text, storable
from muniment.store.times import now

_FIELDS = (
    "kind", "title", "gist", "gist_basis", "start", "end", "participants", "place", "source",
    "status",
)  # fmt: skip
_JSON = {"start", "end", "participants", "place"}


class Episodes:
    """The episode tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def put(self, episode: str, anchor: str, rule: str, fields: dict[str, Any]) -> tuple[int, bool]:
        """Append a version when anything of the episode changed; return its number and whether."""
        self._database.execute(
            "INSERT INTO episode (id, anchor, rule, created_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING",
            (episode, anchor, rule, now()),
        )
        known = None if self._database.changes() else self.get(episode)
        if known is None:
            number, version = self._database.last_insert_rowid(), 0
        else:
            number, version = known["seq"], known["version"]
            # Compared as they are stored: a tuple comes back as a list.
            if all(_stored(name, known[name]) == _stored(name, fields[name]) for name in _FIELDS):
                return number, False
        values = [_stored(name, fields[name]) for name in _FIELDS]
        self._database.execute(
            f"INSERT INTO episode_version (episode, version, {_columns()}, created_at) "
            f"VALUES (?, ?, {','.join('?' * len(_FIELDS))}, ?)",
            (number, version + 1, *values, now()),
        )
        return number, True

    def join(self, episode: int, observations: Iterable[str]) -> int:
        """Make the named observations members; return how many moved here."""
        before = self._database.total_changes()
        self._database.executemany(
            "INSERT INTO episode_member (observation, episode) SELECT o.seq, ?2 FROM observation o "
            "WHERE o.id = ?1 AND ?2 IS NOT "
            "(SELECT episode FROM membership WHERE observation = o.seq)",
            ((observation, episode) for observation in observations),
        )
        return self._database.total_changes() - before

    def count_members(self, episode: int) -> int:
        """Count the members that have not moved on."""
        return count(
            self._database,
            "SELECT count(*) FROM episode_member m WHERE m.episode = ? AND m.seq = (SELECT "
            "max(seq) FROM episode_member WHERE observation = m.observation)",
            (episode,),
        )

    def get(self, episode: str) -> dict[str, Any] | None:
        """Return an episode's current version."""
        return next(self._read("e.id = ?", (episode,)), None)

    def all(self, where: str = "1", values: tuple[Any, ...] = ()) -> Iterator[dict[str, Any]]:
        """Yield current episodes by a condition on ``episode_now e``, oldest first."""
        return self._read(where + " ORDER BY e.seq", values)

    def members(self, episode: str) -> list[str]:
        """Return the ids of an episode's members, in the order of the ledger."""
        rows = self._database.execute(
            "SELECT o.id FROM episode_member m JOIN observation o ON o.seq = m.observation "
            "JOIN episode e ON e.seq = m.episode WHERE e.id = ? AND m.seq = (SELECT max(seq) "
            "FROM episode_member WHERE observation = m.observation) ORDER BY o.seq",
            (episode,),
        )
        return [row[0] for row in rows]

    def of_observations(self, observations: Iterable[str]) -> dict[str, str]:
        """Return the episode id of each of the named observations that has one."""
        rows = self._database.execute(
            "SELECT o.id, e.id FROM observation o JOIN membership m ON m.observation = o.seq "
            "JOIN episode e ON e.seq = m.episode WHERE o.id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(observations)),),
        )
        return {str(observation): str(episode) for observation, episode in rows}

    def _read(self, where: str, values: tuple[Any, ...]) -> Iterator[dict[str, Any]]:
        rows = self._database.execute(
            f"SELECT e.seq, e.id, e.anchor, e.rule, e.version, e.version_seq, e.created_at, "
            f"{_columns('e.')} FROM episode_now e WHERE {where}",
            values,
        )
        names = ("seq", "id", "anchor", "rule", "version", "version_seq", "created_at", *_FIELDS)
        for row in rows:
            found = dict(zip(names, row, strict=True))
            for name in _JSON:
                found[name] = json.loads(found[name]) if found[name] else None
            yield found


def _columns(prefix: str = "") -> str:
    return ", ".join(f'{prefix}"{name}"' for name in _FIELDS)


def _stored(name: str, value: Any) -> Any:
    if name in _JSON:
        return None if value is None else canonical_text(value)
    return storable(value)
