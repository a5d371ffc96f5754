"""The one transaction of a hard forget: rows go, digests stay, and what is left to do is noted.

Runs inside the caller's unit, after :func:`~muniment.store.forgetting.plan.plan` has filled
``temp.going`` and ``temp.reduced``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from muniment.store.database import rows
from muniment.store.forgetting import anchors, streams
from muniment.store.forgetting.going import going
from muniment.store.forgetting.personas import texts
from muniment.store.forgetting.plan import Plan, numbers, references
from muniment.store.forgetting.reduce import Reduced, Renamed, reduce
from muniment.store.forgetting.tombstones import Tombstones, message_parts
from muniment.store.ids import made
from muniment.store.ledger import Ledger

_REACH = 6  # observations beside one may name it as their context in the index
_IDS = re.compile(r"sha256:[0-9a-f]{64}|\b(?:obs|ep|cand|rec|ent|sgt|chk)_[0-9a-f]{32}\b")
_OWN_WORDS = frozenset({"text", "quote", "id", "digest", "fingerprint"})
_GONE = going("observation")
# Files that lose messages and nothing else: those are told again by their own digests.
_TALKS = f"""
seq IN (SELECT seq FROM temp.reduced) AND NOT EXISTS (SELECT 1 FROM observation o
  WHERE o.asset = asset.seq AND o.seq IN {_GONE} AND o.kind <> 'metadata'
  AND coalesce(o.author, '') = '' AND coalesce(o.instant, '') = '')
AND NOT EXISTS (SELECT 1 FROM derivation d WHERE d.parent = asset.seq
  AND d.asset IN {going("asset")})
"""


def erase(
    ledger: Ledger, plan: Plan, reduced: list[Reduced], personas: Iterable[int], *, actor: str
) -> str:
    """Delete what a plan names, persona versions later; return the tombstone's id."""
    database, tombstones = ledger.database, ledger.tombstones
    database.execute("PRAGMA defer_foreign_keys = ON")
    personas = list(personas)
    digests = list(_digests(ledger, personas))
    counts = {**plan.counts, "reduced": len(reduced)}
    tombstone, identity = tombstones.add("hard", counts, actor)
    for kind, digest in digests:
        tombstones.block(tombstone, kind, [digest])
    known = _ids(ledger)
    journal = _Journal(ledger, tombstone)
    journal.note_gone()
    journal.note_beside()
    _repoint(ledger, journal, known)
    for one in reduced:
        journal.add("file" if one.was_file else "id", one.old)
        journal.beside |= set(numbers(
            database, "SELECT seq FROM observation WHERE asset = ?", (one.number,)
        ))  # fmt: skip
        for renamed in reduce(ledger, one):
            known[renamed.old] = renamed.new
            journal.note_renamed(renamed)
    renaming = anchors.touched(ledger)
    streams.key(ledger)
    _delete(ledger)
    for renamed in anchors.rename(ledger, renaming):
        known[renamed.old] = renamed.new
        journal.note_renamed(renamed)
    _rewrite_ids(ledger, known)
    for seq in sorted(journal.beside - set(numbers(database, f"SELECT * FROM {_GONE}"))):
        journal.add("observation", str(seq))
    for version in personas:
        journal.add("persona", str(version))
    return identity


class _Journal:
    """Notes what is left to do outside the ledger, by ids and numbers."""

    def __init__(self, ledger: Ledger, tombstone: int) -> None:
        self._database = ledger.database
        self._tombstone = tombstone
        self.beside: set[int] = set()

    def add(self, kind: str, ref: str) -> None:
        self._database.execute(
            "INSERT INTO erasure (tombstone, kind, ref) VALUES (?, ?, ?)",
            (self._tombstone, kind, ref),
        )

    def note_gone(self) -> None:
        """Note the files, and the documents of the index, that go."""
        for statement in (
            f"SELECT CASE storage WHEN 'file' THEN 'file' ELSE 'id' END, id FROM asset "
            f"WHERE seq IN {going('asset')}",
            f"SELECT 'document', 'observation:' || id FROM observation "
            f"WHERE seq IN {going('observation')}",
            f"SELECT 'document', 'episode:' || id FROM episode WHERE seq IN {going('episode')}",
            "SELECT 'document', 'record:' || r.id || '@' || v.version FROM record r "
            f"JOIN record_version v ON v.record = r.seq WHERE r.seq IN {going('record')}",
            f"SELECT 'id', id FROM candidate WHERE seq IN {going('candidate')}",
            f"SELECT 'id', id FROM entity WHERE seq IN {going('entity')}",
        ):
            self._database.execute(
                "INSERT INTO erasure (tombstone, kind, ref) "
                f"SELECT {self._tombstone}, * FROM ({statement})"
            )

    def note_renamed(self, renamed: Renamed) -> None:
        """Note the documents of an object that has another id now."""
        kind, old, new = renamed
        if kind == "observation":
            self.add("document", f"observation:{old}")
        elif kind == "record":
            self._database.execute(
                "INSERT INTO erasure (tombstone, kind, ref) SELECT ?1, 'document', "
                "'record:' || ?2 || '@' || v.version FROM record_version v "
                "JOIN record r ON r.seq = v.record WHERE r.id = ?3",
                (self._tombstone, old, new),
            )
            self.add("record", new)
        else:
            self.add("id", old)

    def note_beside(self) -> None:
        """Note what stays beside what goes: its context in the index, or its episode, changes."""
        self.beside |= set(numbers(
            self._database,
            "SELECT o.seq FROM observation g CROSS JOIN observation o "
            f"ON o.seq BETWEEN g.seq - {_REACH} "
            f"AND g.seq + {_REACH} AND o.asset = g.asset WHERE g.seq IN {_GONE} "
            f"AND o.seq NOT IN {_GONE} "
            "UNION SELECT o.seq FROM observation o WHERE o.thread IN (SELECT DISTINCT thread FROM "
            f"observation WHERE seq IN {_GONE} AND thread IS NOT NULL) AND o.seq NOT IN {_GONE} "
            "UNION SELECT m.observation FROM membership m WHERE m.episode IN "
            f"{going('episode')} AND m.observation NOT IN {going('observation')}",
        ))  # fmt: skip
        self._database.execute(
            "INSERT INTO erasure (tombstone, kind, ref) "
            f"SELECT DISTINCT {self._tombstone}, 'record', r.id FROM record_evidence e "
            "JOIN record_version v ON v.seq = e.version JOIN record r ON r.seq = v.record "
            f"WHERE e.observation IN {going('observation')} AND r.seq NOT IN {going('record')}"
        )


def _digests(ledger: Ledger, personas: Iterable[int]) -> Iterator[tuple[str, str]]:
    """Yield (kind, keyed digest) of whatever must not come back."""
    database, keyed = ledger.database, ledger.tombstones
    reduced = "seq IN (SELECT seq FROM temp.reduced)"
    for kind, which in (("asset", f"seq IN {going('asset')} OR {reduced}"), ("reduced", _TALKS)):
        for (asset,) in database.execute(f"SELECT id FROM asset WHERE {which}"):
            yield kind, keyed.digest(kind, asset)
    for author, instant, text in database.execute(
        f"SELECT author, instant, text FROM observation WHERE seq IN {going('observation')}"
    ):
        parts = message_parts(author, instant, text)
        if parts is not None:
            yield "message", keyed.digest("message", *parts)
    for table in ("event", "session"):
        for (identity,) in database.execute(f"SELECT id FROM {table} WHERE seq IN {going(table)}"):
            yield table, keyed.digest(table, identity)
    for text in texts(ledger.root, ledger.scope, personas):
        yield "persona", keyed.digest("persona", text)
    yield from _claims(ledger, keyed)


def _claims(ledger: Ledger, keyed: Tombstones) -> Iterator[tuple[str, str]]:
    """Yield the digests of claims whose words stay in an observation: it may not be read again."""
    rows = ledger.database.execute(
        "SELECT o.id, c.subject, c.key, c.value, c.text FROM candidate c "
        "JOIN candidate_evidence e ON e.candidate = c.seq "
        f"JOIN observation o ON o.seq = e.observation WHERE c.seq IN {going('candidate')} "
        f"AND o.seq NOT IN {going('observation')}"
    )
    for row in rows:
        yield "claim", keyed.digest("claim", *claim_parts(*row))


def claim_parts(
    observation: str, subject: str | None, key: str | None, value: str | None, text: str
) -> tuple[Any, ...]:
    """Return what makes a claim itself, whichever proposer makes it."""
    return observation, subject, key, value or text


def _ids(ledger: Ledger) -> dict[str, str]:
    """Return what each plain id that goes is written as from now on."""
    known: dict[str, str] = {}
    for table in (
        "asset", "observation", "episode", "candidate", "record", "entity", "checkpoint"
    ):  # fmt: skip
        rows = ledger.database.execute(f"SELECT id FROM {table} WHERE seq IN {going(table)}")
        known |= {
            row[0]: f"forgotten:{ledger.tombstones.digest(table, row[0])[:32]}" for row in rows
        }
    return known


def _repoint(ledger: Ledger, journal: _Journal, known: dict[str, str]) -> None:
    """Let a claim that stays take the words and the id of the candidate that still supports it."""
    database = ledger.database
    found = rows(
        database,
        "SELECT v.seq, v.record, v.version, r.id, (SELECT min(s.candidate) "
        "FROM record_support s WHERE s.version = v.seq "
        f"AND s.candidate NOT IN {going('candidate')}) "
        "FROM record_version v JOIN record r ON r.seq = v.record "
        f"WHERE v.candidate IN {going('candidate')} AND v.record NOT IN {going('record')}",
    )
    for version, record, number, old, candidate in found:
        database.execute(
            "UPDATE record_version SET candidate = c.seq, text = c.text, value = c.value, "
            "confidence = c.confidence, basis = c.basis, proposer = c.proposer "
            "FROM candidate c WHERE c.seq = ? AND record_version.seq = ?",
            (candidate, version),
        )
        database.execute(
            "DELETE FROM record_support WHERE version = ? AND candidate = ?", (version, candidate)
        )
        journal.add("document", f"record:{old}@{number}")
        ((identity,),) = database.execute("SELECT id FROM candidate WHERE seq = ?", (candidate,))
        new = made("rec", identity)
        database.execute("UPDATE record SET id = ? WHERE seq = ?", (new, record))
        database.execute("UPDATE erasure SET ref = ? WHERE kind = 'record' AND ref = ?", (new, old))
        known[old] = new


def _delete(ledger: Ledger) -> None:
    database = ledger.database
    for reference in references(database):
        if not reference.numbered:
            table, column, target, _ = reference
            database.execute(f"DELETE FROM {table} WHERE {column} IN {going(target)}")
    database.execute(
        "UPDATE session_state SET dropped = (SELECT max(e.seq) FROM event e "
        f"WHERE e.session = session_state.session AND e.seq < dropped AND e.seq NOT IN "
        f"{going('event')}) WHERE dropped IN {going('event')}"
    )
    for (table,) in rows(database, "SELECT DISTINCT tbl FROM temp.going"):
        database.execute(f"DELETE FROM {table} WHERE seq IN {going(table)}")


def _rewrite_ids(ledger: Ledger, known: dict[str, str]) -> None:
    """Put keyed digests, or new ids, where other rows name what has gone."""
    for table, column in _free_text(ledger):
        found = rows(
            ledger.database,
            f'SELECT DISTINCT "{column}" FROM {table} WHERE instr("{column}", \'sha256:\') '
            f"OR \"{column}\" GLOB '*[a-z]_[0-9a-f][0-9a-f]*'",
        )
        for (text,) in found:
            changed = _IDS.sub(lambda found: known.get(found[0], found[0]), text)
            if changed != text:
                ledger.database.execute(
                    f'UPDATE {table} SET "{column}" = ? WHERE "{column}" = ?',
                    (changed, text),
                )


def _free_text(ledger: Ledger) -> Iterator[tuple[str, str]]:
    """Yield (table, column) of what may name an object in passing."""
    for table, column in rows(
        ledger.database,
        "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c "
        "WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.type = 'TEXT'",
    ):
        if column not in _OWN_WORDS and table not in {"erasure", "forgotten"}:
            yield str(table), str(column)
