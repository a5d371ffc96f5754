"""Write a scope's archive, line by line, from one state of its ledger."""

import base64
import hashlib
import json
from collections.abc import Iterator
from typing import Any

from muniment.store import migrations
from muniment.store.archive import FORMAT, PIECE_BYTES, VERSION
from muniment.store.archive.tables import tables, to_json
from muniment.store.database import database_errors
from muniment.store.errors import DamageError
from muniment.store.files import open_plain
from muniment.store.ledger import Ledger
from muniment.store.times import now


class Archive:
    """One export: yields lines, and keeps what the last line says of them."""

    def __init__(self, ledger: Ledger, *, originals: bool) -> None:
        self._ledger = ledger
        self._originals = originals
        self._whole = hashlib.sha256()
        self.rows: dict[str, int] = {}
        self.originals: dict[str, Any] = {"count": 0, "bytes": 0, "left_out": 0, "missing": []}
        self.size = 0

    def lines(self) -> Iterator[bytes]:
        """Yield every line; an original that is lost is named in the last one."""
        with database_errors(self._ledger.paths.ledger), self._ledger.snapshot():
            yield self._line(self._header())
            digests = {}
            for table in tables(self._ledger.database):
                digest, count = hashlib.sha256(), 0
                for values in self._ledger.database.execute(table.selection):
                    row = dict(zip(table.columns, map(to_json, values), strict=True))
                    line = self._line({"type": "row", "table": table.name, "row": row})
                    digest.update(line)
                    count += 1
                    yield line
                self.rows[table.name], digests[table.name] = count, digest.hexdigest()
            yield from self._bytes()
        end = {"type": "end", "rows": self.rows, "digests": digests, "originals": self.originals}
        yield self._line(end | {"sha256": self._whole.hexdigest()})

    def _header(self) -> dict[str, Any]:
        return {
            "type": "header",
            "format": FORMAT,
            "version": VERSION,
            "schema": migrations.version_of(self._ledger.database),
            "scope": self._ledger.scope.as_dict(),
            "originals": self._originals,
            "created_at": now(),
        }

    def _bytes(self) -> Iterator[bytes]:
        """Yield the large originals in pieces, each file checked before its first one."""
        large: list[Any] = self._ledger.database.execute(
            "SELECT id, size FROM asset WHERE storage = 'file' ORDER BY seq"
        ).fetchall()
        for asset, size in large:
            if not self._originals:
                self.originals["left_out"] += 1
                continue
            store = self._ledger.assets.store
            try:
                store.check(asset, size)
            except DamageError as error:
                self.originals["missing"].append({"asset": asset, "reason": error.code})
                continue
            self.originals["count"] += 1
            self.originals["bytes"] += size
            with open_plain(store.file(asset)) as stream:
                offset = 0
                while piece := stream.read(PIECE_BYTES):
                    text = base64.b64encode(piece).decode("ascii")
                    yield self._line(
                        {"type": "bytes", "asset": asset, "offset": offset, "base64": text}
                    )
                    offset += len(piece)

    def _line(self, said: dict[str, Any]) -> bytes:
        text = json.dumps(said, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        line = text.encode("utf-8") + b"\n"
        self._whole.update(line)
        self.size += len(line)
        return line
