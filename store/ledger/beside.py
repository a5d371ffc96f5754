"""What lies beside what: the files of a folder, the members of an archive, the chats among them."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

import apsw

from muniment.store.database import number


class Placed(NamedTuple):
    """An asset at a path: of a folder, or inside the archive that it was taken out of."""

    path: bytes
    asset: int
    family: str
    parent: int | None = None


class Attached(NamedTuple):
    """A message that names a file; ``occurred`` is the message's own time."""

    observation: str
    name: str
    occurred: dict[str, Any] | None


class Beside:
    """The reading side of relating assets."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def new_paths(self, mark: int, limit: int) -> list[tuple[int, bytes]]:
        """Return (number, path) of sightings of files past a mark, in order."""
        rows = self._database.execute(
            "SELECT seq, path FROM sighting WHERE seq > ? ORDER BY seq LIMIT ?", (mark, limit)
        )
        return [(int(seq), bytes(path)) for seq, path in rows]

    def new_members(self, mark: int) -> dict[int, int]:
        """Return the archives with members past a mark, and the newest number of each."""
        rows = self._database.execute(
            "SELECT parent, max(seq) FROM derivation WHERE seq > ? AND relation = 'member' "
            "GROUP BY parent ORDER BY parent",
            (mark,),
        )
        return {int(parent): int(seq) for parent, seq in rows}

    def starting_with(self, prefix: bytes) -> list[Placed]:
        """Return what was seen last at each path that begins like this, outside of subfolders."""
        rows = self._database.execute(
            "SELECT s.path, a.seq, a.family FROM sighting s JOIN asset_now a ON a.seq = s.asset "
            "WHERE s.path >= ?1 AND s.path < ?2 AND s.seq = "
            "(SELECT max(seq) FROM sighting WHERE path = s.path) "
            "AND instr(substr(s.path, ?3), x'2f') = 0 ORDER BY s.path",
            (prefix, prefix + b"\xff", len(prefix) + 1),
        )
        return [Placed(bytes(path), int(asset), family) for path, asset, family in rows]

    def at(self, path: bytes) -> Placed | None:
        """Return what was seen last at a path."""
        return next((one for one in self.starting_with(path) if one.path == path), None)

    def members(self, archive: int) -> list[Placed]:
        """Return the members of an archive."""
        rows = self._database.execute(
            "SELECT DISTINCT json_extract(d.locator, '$.path'), a.seq, a.family FROM derivation d "
            "JOIN asset_now a ON a.seq = d.asset WHERE d.parent = ? AND d.relation = 'member' "
            "AND d.locator IS NOT NULL ORDER BY 1",
            (archive,),
        )
        return [
            Placed(path.encode("utf-8", "surrogateescape"), int(asset), family, archive)
            for path, asset, family in rows
        ]

    def chats(self) -> list[Placed]:
        """Return the chat logs, wherever they lie."""
        seen = self._database.execute(
            "SELECT s.path, a.seq, a.family, NULL FROM asset_now a "
            "JOIN sighting s ON s.asset = a.seq WHERE a.family = 'chat' "
            "UNION SELECT CAST(json_extract(d.locator, '$.path') AS BLOB), a.seq, a.family, "
            "d.parent FROM asset_now a JOIN derivation d ON d.asset = a.seq "
            "WHERE a.family = 'chat' AND d.relation = 'member' AND d.locator IS NOT NULL "
            "ORDER BY 2, 1"
        )
        return [Placed(bytes(path), int(seq), kind, parent) for path, seq, kind, parent in seen]

    def attached(self, chat: int) -> list[Attached]:
        """Return the messages of a chat that name a file."""
        rows = self._database.execute(
            "SELECT id, json_extract(attributes, '$.attachment'), occurred FROM observation_live "
            "WHERE asset = ? AND kind = 'message' "
            "AND json_type(attributes, '$.attachment') = 'text' ORDER BY seq",
            (chat,),
        )
        return [Attached(key, name, json.loads(when) if when else None) for key, name, when in rows]

    def duration_ms(self, asset: int) -> int | None:
        """Return how long a recording or film is; null while nothing has read it."""
        row = self._database.execute(
            "SELECT json_extract(attributes, '$.duration_ms') FROM observation_live "
            "WHERE asset = ? AND kind = 'metadata' ORDER BY seq DESC LIMIT 1",
            (asset,),
        ).fetchone()
        return None if row is None or row[0] is None else int(row[0])

    def observations(self, assets: Iterable[int], before: int) -> list[int]:
        """Return the numbers, up to a mark, of live observations of assets."""
        rows = self._database.execute(
            "SELECT o.seq FROM json_each(?) w JOIN observation_live o ON o.asset = w.value "
            "WHERE o.seq <= ? ORDER BY o.seq",
            (json.dumps(sorted(assets)), before),
        )
        return [int(row[0]) for row in rows]

    def taken(self, asset: int) -> tuple[dict[str, Any], str] | None:
        """Return the chosen time of capture and its source."""
        row = self._database.execute(
            "SELECT moment, source FROM capture_now WHERE asset = ?", (asset,)
        ).fetchone()
        return None if row is None else (dict(json.loads(row[0])), str(row[1]))

    def last_member(self) -> int:
        """Return the number of the newest derivation."""
        return number(self._database, "SELECT max(seq) FROM derivation")
