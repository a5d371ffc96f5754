"""Transcripts in a hard forget: no path of one stays, and no plain digest of its words.

How far it was read stays under keyed digests, so that reading goes on where it was left.
"""

import json
from typing import NamedTuple

from muniment.store.database import rows
from muniment.store.forgetting.going import going
from muniment.store.forgetting.tombstones import Tombstones
from muniment.store.ids import canonical_text, storable
from muniment.store.ledger import Ledger

_KEYED = "forgotten:"
# Of a host that took in what goes, any stream may have held it.
_TOUCHED = f"""
SELECT c.seq, c.host, c.stream, c.cursor FROM host_cursor c
WHERE c.host IN (SELECT x.host FROM session_state x WHERE x.session IN {going("session")}
  OR x.session IN (SELECT e.session FROM event e WHERE e.seq IN {going("event")}))
OR (EXISTS (SELECT 1 FROM temp.going WHERE tbl = 'session')
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.seq NOT IN {going("session")}))
"""


class Stream(NamedTuple):
    """One row of a stream that names a transcript: its path, and its cursor's plain digest."""

    seq: int
    host: str
    path: str
    cursor: str
    digest: str | None


def digest_of(cursor: str) -> str | None:
    """Return the plain digest that a transcript's cursor holds; null for any other cursor."""
    try:
        found = json.loads(cursor)["sha256"]
    except (ValueError, TypeError, KeyError):
        return None
    return found if isinstance(found, str) else None


def keyed_stream(tombstones: Tombstones, host: str, stream: str) -> str:
    """Return the name of a stream that tells no path."""
    return _KEYED + tombstones.digest("stream", storable(host), storable(stream))


def keyed_cursor(tombstones: Tombstones, cursor: str) -> str:
    """Return a transcript's cursor without the plain digest of its bytes."""
    found = digest_of(cursor)
    if found is None:
        return cursor
    said = {**json.loads(cursor), "keyed": tombstones.digest("transcript", found)}
    return canonical_text({name: value for name, value in said.items() if name != "sha256"})


def touched(ledger: Ledger) -> list[Stream]:
    """Return the rows of transcripts that what goes (``temp.going``) may have come from."""
    found = [
        Stream(seq, host, path, cursor, digest_of(cursor))
        for seq, host, path, cursor in rows(ledger.database, _TOUCHED)
    ]
    return [one for one in found if not one.path.startswith(_KEYED)
            and (one.digest is not None or "/" in one.path)]  # fmt: skip


def key(ledger: Ledger) -> None:
    """Put keyed digests in the place of paths and plain ones; before the rows go."""
    for one in touched(ledger):
        ledger.database.execute(
            "UPDATE host_cursor SET stream = ?, cursor = ? WHERE seq = ?",
            (
                keyed_stream(ledger.tombstones, one.host, one.path),
                keyed_cursor(ledger.tombstones, one.cursor),
                one.seq,
            ),
        )
