"""Mend what can be mended without a doubt, and say what was done; the rest needs a backup.

Bytes are put back only when their SHA-256 is the one that was recorded. A damaged ledger is never
replaced.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from muniment.store import files, migrations
from muniment.store.assets import CHUNK_BYTES
from muniment.store.database import erasing, open_memory, rows
from muniment.store.errors import DamageError, InputError, MunimentError
from muniment.store.index.documents import IndexDamageError
from muniment.store.index.generation import Generations
from muniment.store.ledger import Ledger

# Gives the bytes of an asset from elsewhere, in chunks; raises ``MunimentError`` when it has none.
Fetch = Callable[[str], Iterable[bytes]]


@dataclass(slots=True)
class Repairs:
    """What was mended, by kind, and what could not be."""

    done: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)
    index_lost: bool = False

    def count(self, kind: str) -> None:
        """Count one repair."""
        self.done[kind] = self.done.get(kind, 0) + 1

    def as_dict(self) -> dict[str, Any]:
        """Return the repairs as plain values."""
        return {"done": self.done, "left": self.left, "index_rebuilt": self.index_lost}


def repair(ledger: Ledger, fetches: Iterable[Fetch] = (), *, dry_run: bool = False) -> Repairs:
    """Mend schema objects, lost bytes, orphans, leftovers and the index.

    The caller holds the root alone. ``fetches`` are asked for lost bytes after the files that
    they were read from.
    """
    found = Repairs()
    _schema(ledger, found, dry_run=dry_run)
    _bytes(ledger, found, list(fetches), dry_run=dry_run)
    _orphans(ledger, found, dry_run=dry_run)
    _leftovers(ledger, found, dry_run=dry_run)
    _index(ledger, found, dry_run=dry_run)
    return found


def _schema(ledger: Ledger, found: Repairs, *, dry_run: bool) -> None:
    """Make missing views, indexes and triggers again: they hold nothing of their own."""
    statement = (
        "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('index', 'view', 'trigger') "
        "AND sql IS NOT NULL ORDER BY rowid"
    )
    with closing(open_memory()) as fresh:
        migrations.migrate(fresh)
        expected = rows(fresh, statement)
    known = {(kind, name) for kind, name, _ in rows(ledger.database, statement)}
    missing = [one for one in expected if one[:2] not in known]
    if missing and not dry_run:
        with ledger.unit():
            for _, _, sql in missing:
                ledger.database.execute(sql)
    for kind, _, _ in missing:
        found.count(f"{kind}_made")


def _bytes(ledger: Ledger, found: Repairs, fetches: list[Fetch], *, dry_run: bool) -> None:
    for number, asset, size, storage in rows(
        ledger.database, "SELECT seq, id, size, storage FROM asset ORDER BY seq"
    ):
        try:
            ledger.assets.check(number, asset, size, storage)
        except DamageError:
            sources = [*_seen_at(ledger, number), *fetches]
            if dry_run or any(_put_back(ledger, (number, asset, storage), one) for one in sources):
                found.count("asset_restored" if not dry_run else "asset_damaged")
            else:
                found.left.append(asset)


def _seen_at(ledger: Ledger, number: int) -> Iterator[Fetch]:
    """Yield the files that an asset was read from, as far as they are still there."""
    for (path,) in rows(
        ledger.database,
        "SELECT DISTINCT path FROM sighting WHERE asset = ? AND parent IS NULL ORDER BY seq DESC",
        (number,),
    ):
        if bytes(path).startswith(b"/"):
            yield partial(_read, bytes(path))


def _read(name: bytes, _asset: str) -> Iterator[bytes]:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError("the file is not there", code="missing") from error
    with os.fdopen(handle, "rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def _put_back(ledger: Ledger, row: tuple[int, str, str], fetch: Fetch) -> bool:
    """Write an asset's bytes anew when a source still has them; return whether it has."""
    number, asset, storage = row
    try:
        if storage == "file":
            return _put_file(ledger, asset, fetch)
        data = b"".join(fetch(asset))
    except (MunimentError, OSError):
        return False
    if f"sha256:{hashlib.sha256(data).hexdigest()}" != asset:
        return False
    with ledger.unit(), erasing(ledger.database):
        ledger.database.execute("DELETE FROM asset_bytes WHERE asset = ?", (number,))
        ledger.database.execute(
            "INSERT INTO asset_bytes (asset, bytes) VALUES (?, ?)", (number, data)
        )
    return True


def _put_file(ledger: Ledger, asset: str, fetch: Fetch) -> bool:
    digest = hashlib.sha256()
    files.make_directory(ledger.root.temporary)
    size = 0
    with files.temporary_file(ledger.root.temporary) as (temporary, stream):
        for chunk in fetch(asset):
            digest.update(chunk)
            size += len(chunk)
            files.write_chunk(stream, chunk)
        files.sync_file(stream)
        whole = f"sha256:{digest.hexdigest()}" == asset
        if whole:
            ledger.assets.store.keep(temporary, asset, size)
        else:
            files.remove(temporary)
    return whole


def _orphans(ledger: Ledger, found: Repairs, *, dry_run: bool) -> None:
    statement = "SELECT id FROM asset WHERE storage = 'file'"
    named = {row[0] for row in rows(ledger.database, statement)}
    store = ledger.assets.store
    for place, asset in list(store.stored()):
        if asset not in named:
            found.count("orphan_removed")
            if not dry_run:
                store.discard(place)


def _leftovers(ledger: Ledger, found: Repairs, *, dry_run: bool) -> None:
    folder = ledger.root.temporary
    for left in folder.iterdir() if folder.is_dir() else ():
        found.count("leftover_removed")
        if not dry_run:
            files.remove_tree(left) if left.is_dir() else files.remove(left)


def _index(ledger: Ledger, found: Repairs, *, dry_run: bool) -> None:
    """Drop an index that does not hold together; it can be made again from the ledger."""
    try:
        with closing(Generations(ledger.paths.index).open_text()) as index:
            index.check()
    except IndexDamageError as error:
        found.index_lost = error.code != "index_missing"
        if found.index_lost and not dry_run:
            with suppress(FileNotFoundError):
                files.remove_tree(ledger.paths.index)
