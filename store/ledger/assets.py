"""Assets, their sniffed types, and the places they were seen at."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import apsw

from muniment.store.assets import Stat, Taken
from muniment.store.database import number as count
from muniment.store.errors import DamageError
from muniment.store.ids import asset_id, canonical_text, made, storable
from muniment.store.ledger.asset_rows import ASSET_ROWS, DEPTH, asset_row
from muniment.store.ports import AssetStore
from muniment.store.rows import AssetRow
from muniment.store.times import now


class Assets:
    """The asset tables of a ledger."""

    def __init__(self, database: apsw.Connection, store: AssetStore) -> None:
        self._database = database
        self.store = store

    def add(self, taken: Taken, *, derived: bool = False) -> tuple[int, bool]:
        """Name bytes that are kept; return the asset's number and whether it is new."""
        found = self.number(taken.asset)
        if found is not None:
            return found, False
        storage = "inline" if taken.data is not None else "file"
        self._database.execute(
            "INSERT INTO asset (id, size, storage, derived, created_at) VALUES (?, ?, ?, ?, ?)",
            (taken.asset, taken.size, storage, int(derived), now()),
        )
        number = self._database.last_insert_rowid()
        if taken.data is not None:
            self._database.execute(
                "INSERT INTO asset_bytes (asset, bytes) VALUES (?, ?)", (number, taken.data)
            )
        return number, True

    def add_type(self, asset: int, media_type: str, family: str, sniffer: str) -> None:
        """Record what an asset was sniffed as; the latest row counts."""
        self._database.execute(
            "INSERT INTO asset_type (asset, media_type, family, sniffer) VALUES (?, ?, ?, ?)",
            (asset, media_type, family, sniffer),
        )

    def sniffed_otherwise(
        self, sniffer: str, apart: Iterable[str], after: int, limit: int
    ) -> list[AssetRow]:
        """Return assets above a number that another sniffer looked at, but for some families."""
        rows = self._database.execute(
            f"{ASSET_ROWS} WHERE a.seq > ? AND a.sniffer <> ? AND a.family NOT IN "
            "(SELECT value FROM json_each(?)) ORDER BY a.seq LIMIT ?",
            (after, sniffer, json.dumps(sorted(apart)), limit),
        )
        return [asset_row(row) for row in rows]

    def newest(self) -> int:
        """Return the number of the newest asset."""
        return count(self._database, "SELECT max(seq) FROM asset")

    def see(  # noqa: PLR0913 (a sighting has this many sides)
        self,
        asset: tuple[int, str],
        path: bytes,
        *,
        source: str,
        origin: str,
        size: int,
        run: str,
        stat: Stat | None = None,
        parent: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> bool:
        """Record where an asset was seen; return whether anything of it is new."""
        number, identity = asset
        source, facts = storable(source), canonical_text(metadata or {})
        mtime = None if stat is None else stat.mtime_ns
        above = None if parent is None else self._id(parent)
        key = made("sgt", identity, path.hex(), source, origin, mtime, above, facts)
        sides = (number, source, origin, mtime, parent, facts)
        new, times = self._compare(path, sides, stat)
        if self._database.execute("SELECT 1 FROM sighting WHERE id = ?", (key,)).fetchone():
            # A path came back to an earlier state: a fact of its own, with an id of its own.
            # Text handed in and members of an asset can't: said once, they are known.
            if times is None or stat is None:
                return False
            key = made("sgt", key, times)
        if parent is None:
            self._promote(number)
        self._database.execute(
            "INSERT INTO sighting (id, asset, path, source, origin, size, mtime_ns, ctime_ns, "
            "inode, parent, metadata, run, seen_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                key, number, path, source, origin, size, mtime,
                stat and stat.ctime_ns, stat and stat.inode, parent, facts, run, now(),
            ),
        )  # fmt: skip
        return new

    def _compare(
        self, path: bytes, sides: tuple[Any, ...], stat: Stat | None
    ) -> tuple[bool, int | None]:
        """Tell whether a path's newest sighting differs, and how often the asset was seen there.

        The count is null when nothing differs at all. Where only the inode or its change time
        did, the row is no news, yet kept: by it the next run knows the file at a glance.
        """
        latest = self._database.execute(
            "SELECT asset, source, origin, mtime_ns, parent, metadata, ctime_ns, inode "
            "FROM sighting WHERE path = ? ORDER BY seq DESC LIMIT 1",
            (path,),
        ).fetchone()
        new = latest is None or tuple(latest[:6]) != sides
        known = () if latest is None or stat is None else tuple(latest[6:])
        if not new and stat is not None and known == (stat.ctime_ns, stat.inode):
            return False, None
        seen = "SELECT count(*) FROM sighting WHERE path = ? AND asset = ?"
        return new, count(self._database, seen, (path, sides[0]))

    def _promote(self, asset: int) -> None:
        """Bring a derived asset that is now seen by itself before the readers, past their marks."""
        self._database.execute(
            "INSERT INTO asset_type (asset, media_type, family, sniffer) "
            "SELECT seq, media_type, family, sniffer FROM asset_now WHERE seq = ? AND derived",
            (asset,),
        )

    def _id(self, number: int) -> str:
        ((identity,),) = self._database.execute("SELECT id FROM asset WHERE seq = ?", (number,))
        return str(identity)

    def unchanged(self, path: bytes, stat: Stat, source: str, origin: str) -> str | None:
        """Return the asset last seen at a path when the file shows no sign of change."""
        row = self._database.execute(
            "SELECT a.id, s.size, s.mtime_ns, s.ctime_ns, s.inode, s.source, s.origin "
            "FROM sighting s JOIN asset a ON a.seq = s.asset WHERE s.path = ? "
            "ORDER BY s.seq DESC LIMIT 1",
            (path,),
        ).fetchone()
        if row is None:
            return None
        expected = (stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, source, origin)
        return str(row[0]) if tuple(row[1:]) == expected else None

    def number(self, asset: str) -> int | None:
        """Return the number of an asset in this ledger."""
        row = self._database.execute("SELECT seq FROM asset WHERE id = ?", (asset,)).fetchone()
        return None if row is None else int(row[0])

    def families(self, after: int = 0) -> list[str]:
        """Return the families that assets were sniffed as, past the number of a sniffing."""
        rows = self._database.execute(
            "SELECT DISTINCT family FROM asset_type WHERE seq > ? ORDER BY family", (after,)
        )
        return [row[0] for row in rows]

    def newest_type(self) -> int:
        """Return the number of the newest sniffing; marks of reading stages count these."""
        return count(self._database, "SELECT max(seq) FROM asset_type")

    def type_number(self, asset: int) -> int:
        """Return the number of an asset's newest sniffing."""
        return count(self._database, "SELECT max(seq) FROM asset_type WHERE asset = ?", (asset,))

    def row(self, asset: str) -> AssetRow | None:
        """Return one asset as read."""
        found = self._database.execute(ASSET_ROWS + " WHERE a.id = ?", (asset,)).fetchone()
        return None if found is None else asset_row(found)

    def rows(self, where: str = "1", values: tuple[Any, ...] = ()) -> Iterator[AssetRow]:
        """Yield assets in the order they came, filtered by a condition on ``asset_now a``."""
        for found in self._database.execute(f"{ASSET_ROWS} WHERE {where} ORDER BY a.seq", values):
            yield asset_row(found)

    def sightings(self, asset: str) -> list[dict[str, Any]]:
        """Return every sighting of an asset, oldest first."""
        rows = self._database.execute(
            "SELECT s.id, s.path, s.source, s.origin, s.size, s.mtime_ns, s.metadata, s.seen_at, "
            "p.id FROM sighting s JOIN asset a ON a.seq = s.asset "
            "LEFT JOIN asset p ON p.seq = s.parent WHERE a.id = ? ORDER BY s.seq",
            (asset,),
        )
        names = ("id", "path", "source", "origin", "size", "mtime_ns", "metadata", "seen_at")
        return [dict(zip((*names, "parent"), row, strict=True)) for row in rows]

    def at_path(self, path: bytes) -> list[str]:
        """Return the assets seen at a path, or under it when it is a folder, newest first."""
        prefix = path.rstrip(b"/") + b"/"
        rows = self._database.execute(
            "SELECT a.id FROM sighting s JOIN asset a ON a.seq = s.asset "
            "WHERE s.path = ? OR (s.path >= ? AND s.path < ?) GROUP BY a.seq ORDER BY max(s.seq) "
            "DESC",
            (path, prefix, prefix[:-1] + b"0"),
        )
        return [row[0] for row in rows]

    def with_contents(self, assets: Iterable[str]) -> list[str]:
        """Return assets and all that was taken out of or made from them."""
        rows = self._database.execute(
            "WITH RECURSIVE part(asset) AS (SELECT seq FROM asset WHERE id IN "
            "(SELECT value FROM json_each(?)) UNION "
            "SELECT d.asset FROM part JOIN derivation d ON d.parent = part.asset) "
            "SELECT a.id FROM part JOIN asset a ON a.seq = part.asset",
            (json.dumps(list(assets)),),
        )
        return [str(row[0]) for row in rows]

    def inline_bytes(self, number: int) -> bytes:
        """Return the bytes of an inline asset."""
        row = self._database.execute(
            "SELECT bytes FROM asset_bytes WHERE asset = ?", (number,)
        ).fetchone()
        if row is None:
            raise DamageError("an inline asset has lost its bytes", code="asset_missing")
        return bytes(row[0])

    def file(self, asset: str) -> Path:
        """Return a local file with a large asset's bytes; see :meth:`AssetStore.file`."""
        return self.store.file(asset)

    def check(self, number: int, asset: str, size: int, storage: str) -> None:
        """Raise ``DamageError`` unless the asset still has its bytes and hash."""
        if storage == "file":
            self.store.check(asset, size)
        elif asset_id(self.inline_bytes(number)) != asset:
            raise DamageError(f"{asset} no longer matches its hash", code="asset_damaged")

    def derive(  # noqa: PLR0913 (a derivation has this many sides)
        self, asset: int, parent: int, attempt: int, *, relation: str, locator: str | None,
        name: str, observe: bool,
    ) -> None:  # fmt: skip
        """Record that an asset was made from another; ``observe`` asks for it to be read, too."""
        self._database.execute(
            "INSERT INTO derivation (asset, parent, relation, locator, name, observe, attempt) "
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (SELECT 1 FROM derivation WHERE "
            "asset = ?1 AND parent = ?2 AND relation = ?3 AND locator IS ?4 AND observe >= ?6)",
            (asset, parent, relation, locator, storable(name), int(observe), attempt),
        )

    def depth(self, number: int) -> int:
        """Return how many containers an asset was taken out of, 0 for one seen by itself."""
        return count(self._database, DEPTH, (number,))

    def parents(self, asset: str) -> list[str]:
        """Return what an asset was made from or taken out of, first of all where it came first."""
        rows = self._database.execute(
            "SELECT p.id FROM derivation d JOIN asset a ON a.seq = d.asset "
            "JOIN asset_now p ON p.seq = d.parent WHERE a.id = ? ORDER BY d.seq",
            (asset,),
        )
        return [row[0] for row in rows]

    def holders(self, asset: str) -> list[tuple[str, str]]:
        """Return (container, where in it) of all that an asset is a member or attachment of."""
        rows = self._database.execute(
            "SELECT DISTINCT p.id, coalesce(json_extract(d.locator, '$.path'), d.name) "
            "FROM derivation d JOIN asset a ON a.seq = d.asset JOIN asset_now p "
            "ON p.seq = d.parent WHERE a.id = ? AND d.relation IN ('member', 'attachment') "
            "ORDER BY 1, 2",
            (asset,),
        )
        return [(str(container), str(place)) for container, place in rows]

    def derivations(self, parent: str) -> list[dict[str, Any]]:
        """Return what was made from an asset."""
        rows = self._database.execute(
            "SELECT a.id, d.relation, d.locator, d.name FROM derivation d "
            "JOIN asset a ON a.seq = d.asset JOIN asset p ON p.seq = d.parent "
            "WHERE p.id = ? ORDER BY d.seq",
            (parent,),
        )
        names = ("asset", "relation", "locator", "name")
        return [dict(zip(names, row, strict=True)) for row in rows]
