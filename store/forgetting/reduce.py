"""Put the text of what stays in the place of a file that held what goes, too.

The row of the asset stays, and with it where it was seen and when; its bytes are then plain text,
and each observation that stays says where in it its words are.
"""

import secrets
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple

from muniment.store.assets import Taken, take_stream
from muniment.store.database import rows
from muniment.store.forgetting.going import going
from muniment.store.forgetting.plan import REDUCED_FAMILY, numbers
from muniment.store.ids import canonical_text, made
from muniment.store.ledger import Ledger


class Place(NamedTuple):
    """Where the words of an observation stand in the new bytes: code points and lines."""

    seq: int
    start: int
    end: int
    line_start: int
    line_end: int


class Renamed(NamedTuple):
    """An object whose id told of the old bytes."""

    kind: str
    old: str
    new: str


class Reduced(NamedTuple):
    """A file made smaller: its row, its old and new ids, and the places of what stays."""

    number: int
    old: str
    was_file: bool
    taken: Taken
    places: list[Place]

    @property
    def new(self) -> str:
        """The id of the new bytes."""
        return self.taken.asset


def rewrite(ledger: Ledger) -> list[Reduced]:
    """Make the bytes of every reduced file, durably; no row is written."""
    found = rows(
        ledger.database,
        "SELECT a.seq, a.id, a.storage FROM temp.reduced r JOIN asset a ON a.seq = r.seq "
        "ORDER BY a.seq",
    )
    return [_rewritten(ledger, *row) for row in found]


def _rewritten(ledger: Ledger, number: int, old: str, storage: str) -> Reduced:
    # The word at random keeps two files apart that nothing is left of but the same words.
    head = f"What is left of a file after a part of it was forgotten ({secrets.token_hex(8)}).\n"
    parts, places, at, line = [head], [], len(head), 2
    rows = ledger.database.execute(
        "SELECT o.seq, o.text FROM observation o WHERE o.asset = ? "
        f"AND o.seq NOT IN {going('observation')} ORDER BY o.seq",
        (number,),
    )
    for seq, text in rows:
        parts += ["\n", text, "\n"]
        end, last = at + 1 + len(text), line + 1 + text.count("\n")
        places.append(Place(int(seq), at + 1, end, line + 1, last))
        at, line = end + 1, last + 1
    data = BytesIO("".join(parts).encode("utf-8", "surrogatepass"))
    taken = take_stream(data, ledger.assets.store, ledger.root.temporary)
    return Reduced(number, old, storage == "file", taken, places)


def reduce(ledger: Ledger, reduced: Reduced) -> Iterator[Renamed]:
    """Let the rows of a file follow its new bytes; yield every id that changes."""
    database, number, taken = ledger.database, reduced.number, reduced.taken
    database.execute("DELETE FROM asset_bytes WHERE asset = ?", (number,))
    database.execute(
        "UPDATE asset SET id = ?, size = ?, storage = ? WHERE seq = ?",
        (taken.asset, taken.size, "file" if taken.data is None else "inline", number),
    )
    if taken.data is not None:
        database.execute(
            "INSERT INTO asset_bytes (asset, bytes) VALUES (?, ?)", (number, taken.data)
        )
    database.execute(
        "UPDATE asset_type SET media_type = 'text/plain', family = ? WHERE asset = ?",
        (REDUCED_FAMILY, number),
    )
    database.execute("UPDATE attempt SET message = NULL WHERE asset = ?", (number,))
    for seq in numbers(database, "SELECT seq FROM sighting WHERE asset = ?", (number,)):
        new = made("sgt", taken.asset, seq)
        database.execute("UPDATE sighting SET id = ? WHERE seq = ?", (new, seq))
    yield Renamed("asset", reduced.old, taken.asset)
    for place in reduced.places:
        yield from _move(ledger, taken.asset, place)


def _move(ledger: Ledger, asset: str, place: Place) -> Iterator[Renamed]:
    """Give an observation its place in the new bytes, and ids that tell nothing of the old ones."""
    database, (seq, *span) = ledger.database, place
    names = ("start", "end", "line_start", "line_end")
    locator = canonical_text({"type": "char", **dict(zip(names, span, strict=True))})
    database.execute("UPDATE observation SET locator = ? WHERE seq = ?", (locator, seq))
    new = made("obs", asset, seq)
    yield from _rename(ledger, "observation", seq, new)
    for candidate in numbers(
        database, "SELECT DISTINCT candidate FROM candidate_evidence WHERE observation = ?", (seq,)
    ):
        identity = made("cand", new, candidate)
        yield from _rename(ledger, "candidate", candidate, identity)
        for record in numbers(
            database,
            "SELECT record FROM record_version WHERE candidate = ? AND version = 1",
            (candidate,),
        ):
            yield from _rename(ledger, "record", record, made("rec", identity))


def _rename(ledger: Ledger, table: str, seq: int, new: str) -> Iterator[Renamed]:
    database = ledger.database
    ((old,),) = database.execute(f"SELECT id FROM {table} WHERE seq = ?", (seq,))
    database.execute(f"UPDATE {table} SET id = ? WHERE seq = ?", (new, seq))
    yield Renamed(table, str(old), new)
