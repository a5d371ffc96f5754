"""Read an archive: once to see that it is whole, and once more to take it in."""

import base64
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from muniment.store import migrations
from muniment.store.archive import FORMAT, VERSION
from muniment.store.archive.tables import Table, tables
from muniment.store.database import open_memory
from muniment.store.errors import DamageError, StateError, UsageError
from muniment.store.files import open_plain


class Piece(NamedTuple):
    """A part of a large original."""

    asset: str
    offset: int
    data: bytes


@dataclass(slots=True)
class Survey:
    """What an archive holds, once all of it was seen to be whole."""

    header: dict[str, Any]
    rows: dict[str, int] = field(default_factory=dict)
    originals: set[str] = field(default_factory=set)
    large: set[str] = field(default_factory=set)

    @property
    def missing(self) -> int:
        """How many large originals the archive does not hold."""
        return len(self.large - self.originals)


def survey(path: Path) -> Survey:
    """Read all of an archive; raise unless every line, count and digest is as it should be."""
    return _Reading(path).run()


def schema_tables(version: int) -> dict[str, Table]:
    """Return the tables of a ledger at a schema version."""
    with closing(open_memory()) as database:
        for step in migrations.STEPS[:version]:
            step(database)
        return {table.name: table for table in tables(database)}


def lines(path: Path) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
    """Yield the number, bytes and document of every line."""
    try:
        stream = open_plain(path)
    except OSError as error:
        raise UsageError(
            f"the archive can't be read: {error.strerror}", code="unreadable",
            path=os.fsdecode(path),
        ) from error  # fmt: skip
    with stream:
        for number, line in enumerate(stream, 1):
            try:
                said = json.loads(line)
                if not isinstance(said, dict):
                    raise ValueError(number)
            except (ValueError, RecursionError):
                raise _damaged(path, f"line {number} is no object of JSON") from None
            yield number, line, said


def piece_of(said: dict[str, Any]) -> Piece:
    """Return a line's part of an original; raise ``ValueError`` when it is not one."""
    try:
        data = base64.b64decode(said["base64"], validate=True)
        return Piece(str(said["asset"]), int(said["offset"]), data)
    except (KeyError, TypeError) as error:
        raise ValueError(str(error)) from error


class _Reading:
    """The state of one pass over an archive."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._whole = hashlib.sha256()
        self._digests: dict[str, Any] = {}
        self._tables: dict[str, Table] = {}
        self._survey: Survey | None = None
        self._ended = False
        self._open: tuple[str, int, Any] | None = None

    def run(self) -> Survey:
        for number, line, said in lines(self._path):
            try:
                self._take(said, line)
            except (KeyError, TypeError, ValueError) as error:
                raise _damaged(self._path, f"line {number} is not as it should be") from error
            self._whole.update(line)
        if self._survey is None:
            raise self._foreign()
        if not self._ended:
            raise _damaged(self._path, "its end is missing")
        return self._survey

    def _take(self, said: dict[str, Any], line: bytes) -> None:
        kind = said.get("type")
        if self._survey is None:
            self._survey = self._header(said)
        elif self._ended:
            raise ValueError(kind)
        elif kind == "row":
            self._row(self._survey, said, line)
        elif kind == "bytes":
            self._bytes(self._survey, piece_of(said))
        elif kind == "end":
            self._end(self._survey, said)
        else:
            raise ValueError(kind)

    def _header(self, said: dict[str, Any]) -> Survey:
        if said.get("type") != "header" or said.get("format") != FORMAT:
            raise self._foreign()
        known = said["version"] <= VERSION and said["schema"] <= migrations.SCHEMA_VERSION
        if not known:
            raise StateError(
                "the archive was written by a newer version",
                code="future",
                hint="upgrade muniment",
                path=os.fsdecode(self._path),
            )
        if said["schema"] < 1:
            raise ValueError(said["schema"])
        self._tables = schema_tables(said["schema"])
        self._digests = {name: hashlib.sha256() for name in self._tables}
        return Survey(said, dict.fromkeys(self._tables, 0))

    def _row(self, found: Survey, said: dict[str, Any], line: bytes) -> None:
        name, row = said["table"], said["row"]
        if tuple(row) != self._tables[name].columns:
            raise ValueError(name)
        found.rows[name] += 1
        self._digests[name].update(line)
        if name == "asset" and row["storage"] == "file":
            found.large.add(row["id"])

    def _bytes(self, found: Survey, piece: Piece) -> None:
        if piece.asset not in found.large:
            raise ValueError(piece.asset)
        if self._open is None or self._open[0] != piece.asset:
            self._close(found)
            if piece.asset in found.originals:
                raise ValueError(piece.asset)
            self._open = (piece.asset, 0, hashlib.sha256())
        asset, size, hasher = self._open
        if piece.offset != size:
            raise ValueError(asset)
        hasher.update(piece.data)
        self._open = (asset, size + len(piece.data), hasher)

    def _close(self, found: Survey) -> None:
        """Check the original whose last piece was read."""
        if self._open is not None:
            asset, _, hasher = self._open
            if f"sha256:{hasher.hexdigest()}" != asset:
                raise ValueError(asset)
            found.originals.add(asset)
            self._open = None

    def _end(self, found: Survey, said: dict[str, Any]) -> None:
        self._close(found)
        digests = {name: digest.hexdigest() for name, digest in self._digests.items()}
        sums = (found.rows, digests, self._whole.hexdigest(), len(found.originals))
        told = (said["rows"], said["digests"], said["sha256"], said["originals"]["count"])
        if sums != told:
            raise _damaged(self._path, "its lines do not match the sums at its end")
        self._ended = True

    def _foreign(self) -> UsageError:
        return UsageError(
            "this is not an archive of muniment",
            code="not_an_archive",
            hint="make one with: muniment export FILE",
            path=os.fsdecode(self._path),
        )


def _damaged(path: Path, why: str) -> DamageError:
    return DamageError(
        f"the archive is damaged: {why}",
        code="archive_damaged",
        hint="nothing was imported; export it again",
        path=os.fsdecode(path),
    )
