"""Look for what was erased in every byte that is left: samples taken before, files read after.

Samples live in memory only. What is found and also stands in something that stays is not counted:
it is not "of" what went.
"""

import json
import mmap
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from muniment.store.database import rows
from muniment.store.errors import DamageError
from muniment.store.forgetting import streams
from muniment.store.forgetting.going import going
from muniment.store.forgetting.reports import SAID, UNFINISHED
from muniment.store.ledger import Ledger

_MOST_ROWS = 100
_MOST_IDS = 1_000
_MOST_PASSAGES = 40
_LEAST_CHARACTERS, _CHARACTERS = 12, 40
_SLICE_BYTES, _LEAST_DIFFERENT = 24, 10
_LEAST_NAME = 6
_HEXADECIMAL = re.compile(rb"[0-9a-f]{32,}")
_ID_LENGTHS = (32, 64)
# An episode whose anchor stays is told anew from what stays, under the same id.
_NOT_DRAFTED_ANEW = f"""
AND NOT EXISTS (SELECT 1 FROM observation o WHERE o.id = episode.anchor
  AND o.seq NOT IN {going("observation")} AND o.asset NOT IN (SELECT seq FROM temp.reduced))
"""


@dataclass(slots=True)
class Samples:
    """What is looked for: ids, passages of text, file names, and pieces of bytes.

    ``large`` names the assets that an asset store had.
    """

    ids: list[str] = field(default_factory=list)
    passages: list[str] = field(default_factory=list)
    names: list[bytes] = field(default_factory=list)
    pieces: list[bytes] = field(default_factory=list)
    refs: list[tuple[str, str]] = field(default_factory=list)
    large: list[str] = field(default_factory=list)

    def needles(self) -> list[bytes]:
        """Return every sample but the ids as bytes."""
        texts = [text.encode("utf-8", "surrogatepass") for text in self.passages]
        return sorted({*texts, *self.names, *self.pieces})

    def as_dict(self) -> dict[str, int]:
        """Return how many of each there are."""
        return {
            "ids": len(self.ids), "passages": len(self.passages), "names": len(self.names),
            "pieces": len(self.pieces),
        }  # fmt: skip


@dataclass(slots=True)
class Scan:
    """What a scan read, and the files that still hold something."""

    files: int = 0
    bytes: int = 0
    hits: list[str] = field(default_factory=list)


def samples(ledger: Ledger) -> Samples:
    """Take samples of what is about to go (``temp.going``), none that stands in what stays."""
    database, found = ledger.database, Samples()
    for kind in ("asset", "observation", "episode", "candidate", "record", "entity"):
        which = f"seq IN {going(kind)} {_NOT_DRAFTED_ANEW if kind == 'episode' else ''}"
        rows = database.execute(
            f"SELECT id FROM {kind} WHERE {which} ORDER BY seq LIMIT {_MOST_IDS}"
        )
        found.refs += [(kind, row[0]) for row in rows]
    reduced = database.execute(
        "SELECT a.id FROM temp.reduced r JOIN asset a ON a.seq = r.seq LIMIT 100"
    )
    found.refs += [("asset", row[0]) for row in reduced]
    found.large = _large(database)
    found.ids = [identity.rpartition(":")[2] for _, identity in found.refs]
    found.passages = _passages(database)
    found.names = _names(database)
    found.pieces = _pieces(ledger)
    _add_streams(ledger, found)
    return found


def leftover_ids(ledger: Ledger) -> Samples:
    """Return the ids that an interrupted forget has still on its list: its words are gone."""
    rows = ledger.database.execute(
        "SELECT DISTINCT ref FROM erasure WHERE kind IN ('file', 'document', 'id')"
    )
    refs = [str(row[0]) for row in rows]
    plain = [ref.rpartition(":")[2].partition("@")[0] for ref in refs]
    large = [str(ref) for (ref,) in ledger.database.execute(
        "SELECT DISTINCT ref FROM erasure WHERE kind = 'file'"
    )]  # fmt: skip
    return Samples(ids=plain[:_MOST_IDS], large=large)


def _large(database: apsw.Connection) -> list[str]:
    rows = database.execute(
        f"SELECT id FROM asset WHERE storage = 'file' AND (seq IN {going('asset')} "
        "OR seq IN (SELECT seq FROM temp.reduced)) ORDER BY seq"
    )
    return [row[0] for row in rows]


def scan(ledger: Ledger, looked_for: Samples, others: Iterable[Path] = ()) -> Scan:
    """Read every file of the scope and of the root, but no asset that stays and no other scope.

    ``others`` are folders outside the root, such as the cache.
    """
    done = Scan()
    needles = looked_for.needles()
    digests = {identity.rpartition("_")[2].encode() for identity in looked_for.ids}
    for asset in looked_for.large:
        if ledger.assets.number(asset) is None:
            done.hits += ledger.assets.store.left(asset)
    if not needles and not digests:
        return done
    for path in _files(ledger, others):
        with suppress(FileNotFoundError):
            done.bytes += path.stat().st_size
            done.files += 1
            if any(not _stays(ledger, hit) for hit in _hits(path, needles, digests)):
                done.hits.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
    return done


def _passages(database: apsw.Connection) -> list[str]:
    texts = [
        row[0]
        for table, column in SAID.items()
        for row in database.execute(
            f"SELECT {column} FROM {table} WHERE seq IN {going(table)} "
            f"AND length({column}) >= {_LEAST_CHARACTERS} ORDER BY length({column}) DESC "
            f"LIMIT {_MOST_ROWS}"
        )
    ]
    parts = dict.fromkeys(part for text in texts for part in _parts(text))
    spread = list(parts)[:: max(1, len(parts) // _MOST_PASSAGES)]
    return [part for part in spread if not _said_elsewhere(database, part)]


def _parts(text: str) -> Iterator[str]:
    for at in {0, max(0, len(text) // 2 - _CHARACTERS // 2), max(0, len(text) - _CHARACTERS)}:
        part = text[at : at + _CHARACTERS].strip()
        if len(part) >= _LEAST_CHARACTERS and "\n" not in part and '"' not in part:
            yield part


def _said_elsewhere(database: apsw.Connection, part: str) -> bool:
    row = database.execute(
        f"SELECT 1 FROM observation WHERE instr(text, ?1) AND seq NOT IN {going('observation')} "
        f"UNION ALL SELECT 1 FROM entity_name WHERE instr(name, ?1) "
        f"AND seq NOT IN {going('entity_name')} "
        f"UNION ALL SELECT 1 FROM event WHERE instr({UNFINISHED}, ?1) "
        f"AND seq NOT IN {going('event')} LIMIT 1",
        (part,),
    ).fetchone()
    return row is not None


def _names(database: apsw.Connection) -> list[bytes]:
    rows = database.execute(
        f"SELECT path FROM sighting WHERE seq IN {going('sighting')} LIMIT {_MOST_ROWS}"
    )
    names = {bytes(row[0]).rpartition(b"/")[2] for row in rows}
    kept = {
        bytes(row[0]).rpartition(b"/")[2]
        for row in database.execute(
            f"SELECT path FROM sighting WHERE seq NOT IN {going('sighting')}"
        )
    }
    told = (name for name in names - kept if len(name) >= _LEAST_NAME and b":" not in name)
    return sorted(told)[:_MOST_PASSAGES]


def _add_streams(ledger: Ledger, found: Samples) -> None:
    """Add the paths of transcripts and the digests of their bytes, where no other row has them."""
    gone = streams.touched(ledger)
    kept = {row[0] for row in ledger.database.execute(
        "SELECT stream FROM host_cursor WHERE seq NOT IN (SELECT value FROM json_each(?))",
        (json.dumps([one.seq for one in gone]),),
    )}  # fmt: skip
    paths = {one.path for one in gone if "/" in one.path} - kept
    found.names += sorted(path.encode("utf-8", "surrogatepass") for path in paths)
    digests = {one.digest.encode() for one in gone if one.digest}
    found.pieces += sorted(digests)[:_MOST_PASSAGES]


def _pieces(ledger: Ledger) -> list[bytes]:
    found: set[bytes] = set()
    for asset, storage, number in rows(
        ledger.database,
        f"SELECT id, storage, seq FROM asset WHERE seq IN {going('asset')} "
        f"ORDER BY size DESC LIMIT {_MOST_ROWS}",
    ):
        with suppress(DamageError, OSError):
            data = _some_bytes(ledger, asset, storage, number)
            places = (0, len(data) // 2, max(0, len(data) - _SLICE_BYTES))
            pieces = (data[at : at + _SLICE_BYTES] for at in places)
            found |= {piece for piece in pieces if len(set(piece)) >= _LEAST_DIFFERENT}
    # The beginning of a file may be its format's, and so may any piece that stays elsewhere.
    told = sorted(piece for piece in found if not _stays(ledger, piece, before=True))
    return told[:_MOST_PASSAGES]


def _some_bytes(ledger: Ledger, asset: str, storage: str, number: int) -> bytes:
    if storage == "inline":
        return ledger.assets.inline_bytes(number)
    return ledger.assets.store.read(asset, 0, 1024 * 1024)


def _stays(ledger: Ledger, hit: bytes, *, before: bool = False) -> bool:
    """Tell whether bytes stand in what stays: in small assets, in text that was read, in a name."""
    others = f"AND seq NOT IN {going('asset')}" if before else ""
    inline = f"AND asset NOT IN {going('asset')}" if before else ""
    text = hit.decode("utf-8", "replace")
    statements = (
        (f"SELECT 1 FROM asset_bytes WHERE instr(bytes, ?) {inline}", hit),
        (f"SELECT 1 FROM asset WHERE instr(id, ?) {others}", text),
        *(
            ()
            if before
            else (
                ("SELECT 1 FROM observation WHERE instr(text, ?)", text),
                ("SELECT 1 FROM sighting WHERE instr(path, ?)", hit),
                (f"SELECT 1 FROM event WHERE instr({UNFINISHED}, ?)", text),
            )
        ),
    )
    return any(
        ledger.database.execute(f"{statement} LIMIT 1", (value,)).fetchone() is not None
        for statement, value in statements
    )


def _hits(path: Path, needles: list[bytes], digests: set[bytes]) -> Iterator[bytes]:
    with path.open("rb") as stream:
        if os.fstat(stream.fileno()).st_size == 0:
            return
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            yield from (needle for needle in needles if content.find(needle) >= 0)
            for run in _HEXADECIMAL.finditer(content):
                # What comes after an id in a row may be digits, too.
                for length in _ID_LENGTHS:
                    for at in range(len(run[0]) - length + 1):
                        if run[0][at : at + length] in digests:
                            yield run[0][at : at + length]


def _files(ledger: Ledger, others: Iterable[Path]) -> Iterator[Path]:
    named = {
        path
        for (asset,) in ledger.database.execute("SELECT id FROM asset WHERE storage = 'file'")
        for path in (ledger.paths.asset(asset), ledger.paths.cache / asset.removeprefix("sha256:"))
    }
    scopes = ledger.root.store / "tenants"
    for folder in (
        ledger.root.path,
        ledger.paths.path,
        ledger.root.user(ledger.scope).path,
        *others,
    ):
        for here, folders, names in os.walk(folder):
            inside = Path(here)
            if inside == ledger.root.store:
                folders[:] = [one for one in folders if inside / one != scopes]
            if inside == ledger.root.user(ledger.scope).path:
                folders[:] = [one for one in folders if one != "namespaces"]
            yield from (inside / name for name in names if inside / name not in named)
