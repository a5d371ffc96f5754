"""The forget list: keyed digests of what was erased, and the secret key of the store.

A plain hash of a short text can be guessed; one under a key that never leaves the store and its
backups can't.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterable
from typing import Any

import apsw

from muniment.store import files
from muniment.store.database import number
from muniment.store.errors import StateError
from muniment.store.ids import canonical, canonical_text, made
from muniment.store.layout import Root, Scope
from muniment.store.times import now

_KEY_BYTES = 32
_NAMES = ("id", "mode", "counts", "actor", "at")


class Tombstones:
    """The forget list of one scope."""

    def __init__(self, database: apsw.Connection, root: Root, scope: Scope) -> None:
        self._database = database
        self._root = root
        self._scope = tuple(scope.as_dict().values())
        self._key: bytes | None = None

    def digest(self, kind: str, *parts: Any) -> str:
        """Return the keyed digest of a thing of this scope."""
        if self._key is None:
            self._key = self._read_key()
        message = canonical([*self._scope, kind, *parts])
        return hmac.new(self._key, message, hashlib.sha256).hexdigest()

    def under(self, key: bytes) -> "Tombstones":
        """Return the same list with another key, for digests that another store made."""
        other = Tombstones(self._database, self._root, Scope(*self._scope))
        other._key = key
        return other

    def make_key(self) -> None:
        """Make the store's key, durably, unless there is one."""
        path = self._root.forget_key
        if path.exists():
            return
        if self.any():
            self._read_key()  # says that it is gone
        files.make_directory(path.parent)
        files.make_directory(self._root.temporary)
        key = secrets.token_bytes(_KEY_BYTES)
        files.write_atomic(path, [key], folder=self._root.temporary)

    def any(self) -> bool:
        """Tell whether anything was ever erased here."""
        return bool(number(self._database, "SELECT 1 FROM forgotten LIMIT 1"))

    def blocks(self, kind: str, *parts: Any) -> bool:
        """Tell whether a thing was erased and not allowed back since."""
        return self.any() and self._standing(self.digest(kind, *parts)) is not None

    def admits(self, kind: str, *parts: Any, allow: bool = False) -> bool:
        """Tell whether a thing may come in; ``allow`` lifts what stands in its way, for good."""
        if not self.any():
            return True
        standing = self._standing(self.digest(kind, *parts))
        if standing is None:
            return True
        if allow:
            self._database.execute(
                "INSERT INTO forgotten_lift (forgotten, at) VALUES (?, ?)", (standing, now())
            )
        return allow

    def hides(self, asset: str) -> bool:
        """Tell whether an asset is there and hidden."""
        return bool(
            number(
                self._database,
                "SELECT 1 FROM asset a JOIN hidden_asset h ON h.asset = a.seq WHERE a.id = ?",
                (asset,),
            )
        )

    def _standing(self, digest: str) -> int | None:
        row = self._database.execute(
            "SELECT f.seq FROM forgotten f WHERE f.digest = ? AND NOT EXISTS "
            "(SELECT 1 FROM forgotten_lift WHERE forgotten = f.seq) ORDER BY f.seq DESC LIMIT 1",
            (digest,),
        ).fetchone()
        return None if row is None else int(row[0])

    def standing(self) -> tuple[str, ...]:
        """Return every digest that still blocks, sorted: what a backup has to carry along."""
        rows = self._database.execute(
            "SELECT DISTINCT f.digest FROM forgotten f WHERE NOT EXISTS "
            "(SELECT 1 FROM forgotten_lift WHERE forgotten = f.seq) ORDER BY 1"
        )
        return tuple(row[0] for row in rows)

    def add(self, mode: str, counts: dict[str, int], actor: str) -> tuple[int, str]:
        """Append a tombstone; return its number and id."""
        at = now()
        identity = made("tmb", at, secrets.token_hex(16))
        self._database.execute(
            "INSERT INTO tombstone (id, mode, counts, actor, at) VALUES (?, ?, ?, ?, ?)",
            (identity, mode, canonical_text(counts), actor, at),
        )
        return self._database.last_insert_rowid(), identity

    def block(self, tombstone: int, kind: str, digests: Iterable[str]) -> None:
        """Append digests of what a tombstone stands for."""
        self._database.executemany(
            "INSERT INTO forgotten (tombstone, kind, digest) VALUES (?, ?, ?)",
            [(tombstone, kind, digest) for digest in digests],
        )

    def of(self, tombstone: str) -> tuple[str, ...]:
        """Return the digests that one tombstone stands for."""
        rows = self._database.execute(
            "SELECT DISTINCT f.digest FROM forgotten f JOIN tombstone t ON t.seq = f.tombstone "
            "WHERE t.id = ? ORDER BY 1",
            (tombstone,),
        )
        return tuple(row[0] for row in rows)

    def lifted(self) -> tuple[str, ...]:
        """Return the digests of what was erased and has been let in again since."""
        return tuple(row[0] for row in self._database.execute(
            "SELECT DISTINCT f.digest FROM forgotten f "
            "JOIN forgotten_lift l ON l.forgotten = f.seq"
        ))  # fmt: skip

    def carry(self, digests: Iterable[str], actor: str) -> int:
        """Take over the digests of another list that do not stand yet; return how many."""
        new = sorted(set(digests) - set(self.standing()))
        if new:
            tombstone, _ = self.add("hard", {"carried": len(new)}, actor)
            self.block(tombstone, "carried", new)
        return len(new)

    def all(self) -> list[dict[str, Any]]:
        """Return the tombstones, newest first; ``lifted`` counts members that are back."""
        rows = self._database.execute(
            f"SELECT {', '.join('t.' + name for name in _NAMES)}, "
            "(SELECT count(*) FROM tombstone_member m WHERE m.tombstone = t.seq) "
            "+ (SELECT count(*) FROM tombstone_fragment m WHERE m.tombstone = t.seq), "
            "(SELECT count(*) FROM tombstone_member m JOIN tombstone_lift l ON l.member = m.seq "
            "WHERE m.tombstone = t.seq) + (SELECT count(*) FROM tombstone_fragment m "
            "JOIN tombstone_fragment_lift l ON l.member = m.seq WHERE m.tombstone = t.seq), "
            "(SELECT count(*) FROM erasure e WHERE e.tombstone = t.seq) "
            "FROM tombstone t ORDER BY t.seq DESC"
        )
        names = (*_NAMES, "members", "lifted", "unfinished")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [{**one, "counts": json.loads(one["counts"])} for one in found]

    def _read_key(self) -> bytes:
        try:
            return self._root.forget_key.read_bytes()
        except FileNotFoundError:
            raise StateError(
                "the key of the forget list is missing",
                code="forget_key_missing",
                hint="restore it from a backup, or what was forgotten can't be told",
                path=os.fsdecode(self._root.forget_key),
            ) from None


def message_parts(author: str | None, instant: str | None, text: str) -> tuple[Any, ...] | None:
    """Return what makes a message itself wherever it is read from; null for other text."""
    if not author and not instant:
        return None
    return author, instant, " ".join(text.split())
