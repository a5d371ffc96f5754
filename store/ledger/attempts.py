"""Runs, attempts and marks: what was tried, how it ended, and what is still to do."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw

from muniment.store.database import number
from muniment.store.ids import canonical_text, storable, storable_or_none
from muniment.store.ledger.asset_rows import ASSET_ROWS, asset_row
from muniment.store.rows import AssetRow
from muniment.store.times import now

# Assets are handed out in pages, so that no read stays open while what they gave is written: the
# write-ahead log could never be reset meanwhile.
_PAGE = 1_000


class Attempts:
    """The work tables of a ledger."""

    def __init__(self, database: apsw.Connection) -> None:
        self._database = database

    def start_run(self, run: str, command: str) -> None:
        """Record that a command began."""
        self._database.execute(
            "INSERT INTO run (id, command, started_at) VALUES (?, ?, ?)",
            (run, storable(command), now()),
        )

    def end_run(self, run: str, exit_code: int, counts: dict[str, Any]) -> None:
        """Record how a command ended."""
        self._database.execute(
            "INSERT INTO run_end (run, exit_code, counts, ended_at) VALUES (?, ?, ?, ?)",
            (run, exit_code, canonical_text(counts), now()),
        )

    def runs(self) -> Iterator[dict[str, Any]]:
        """Yield the runs, newest first; one that was cut short has no end."""
        rows = self._database.execute(
            "SELECT r.id, r.command, r.started_at, e.ended_at, e.exit_code, e.counts "
            "FROM run r LEFT JOIN run_end e ON e.run = r.id ORDER BY r.seq DESC"
        )
        names = ("id", "command", "started_at", "ended_at", "exit_code")
        for *plain, counts in rows:
            yield {
                **dict(zip(names, plain, strict=True)),
                "counts": json.loads(counts) if counts else None,
            }

    def add(  # noqa: PLR0913 (an attempt has this many sides)
        self,
        asset: int,
        stage: str,
        reader: str,
        fingerprint: str,
        *,
        status: str,
        run: str,
        code: str | None = None,
        message: str | None = None,
        transient: bool = False,
        milliseconds: int = 0,
    ) -> int:
        """Record one try of one reader at one asset; return its number."""
        self._database.execute(
            "INSERT INTO attempt (asset, stage, reader, fingerprint, status, transient, code, "
            "message, milliseconds, run, at) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            (
                asset, stage, reader, fingerprint, status, int(transient), code,
                storable_or_none(message), milliseconds, run, now(),
            ),
        )  # fmt: skip
        return self._database.last_insert_rowid()

    def cover(self, asset: int, attempt: int, covered: Iterable[tuple[str, str, int]]) -> None:
        """Record the (kind, role, producer) that an attempt answers for."""
        self._database.executemany(
            "INSERT INTO coverage (asset, kind, role, producer, attempt) VALUES (?,?,?,?,?)",
            [(asset, kind, role, producer, attempt) for kind, role, producer in covered],
        )

    def covered(self, asset: int) -> list[tuple[str, str, str]]:
        """Return (kind, role, reader) of all that the newest attempts at an asset answer for."""
        rows = self._database.execute(
            "SELECT c.kind, c.role, t.reader FROM coverage c JOIN attempt t ON t.seq = c.attempt "
            "WHERE c.asset = ?1 AND c.seq = (SELECT max(seq) FROM coverage WHERE asset = ?1 "
            "AND kind = c.kind AND role = c.role) ORDER BY c.seq",
            (asset,),
        )
        return [(str(kind), str(role), str(reader)) for kind, role, reader in rows]

    def to_do(
        self,
        stage: str,
        fingerprints: Sequence[str],
        families: Iterable[str],
        *,
        after: int = 0,
        retry_failed: bool = False,
    ) -> Iterator[AssetRow]:
        """Yield the assets of these families that none of the fingerprints has finished with.

        In the order of their sniffing (:meth:`Assets.type_number`), in which ``after`` is a mark
        below which everything is known to be finished. A failure of the file's own stands; a
        transient one is tried again.
        """
        stands = "NOT t.transient"
        if retry_failed:
            stands = "t.status IN ('ok', 'empty', 'skipped')"
        marks = ",".join("?" * len(wanted := list(families)))
        finished = (
            "AND NOT EXISTS (SELECT 1 FROM attempt t WHERE t.seq = (SELECT max(seq) FROM attempt "
            f"WHERE asset = a.seq AND stage = ? AND fingerprint = ?) AND ({stands})) "
        )
        by = [value for fingerprint in fingerprints for value in (stage, fingerprint)]
        statement = (
            f"{ASSET_ROWS} WHERE a.type_seq > ? AND a.type_seq <= ? AND a.family IN ({marks}) "
            "AND (NOT a.derived "
            "OR EXISTS (SELECT 1 FROM sighting x WHERE x.asset = a.seq AND x.parent IS NULL) "
            "OR EXISTS (SELECT 1 FROM derivation x WHERE x.asset = a.seq AND x.observe)) "
            f"{finished * len(fingerprints)} ORDER BY a.type_seq LIMIT {_PAGE}"
        )
        last = number(self._database, "SELECT max(seq) FROM asset_type")
        while True:
            values = (after, last, *wanted, *by)
            rows = self._database.execute(statement, values).fetchall()
            if rows:  # asked now: who takes the rows may sniff again
                newest = "SELECT max(seq) FROM asset_type WHERE asset = ?"
                after = number(self._database, newest, (rows[-1][0],))
            yield from map(asset_row, rows)
            if len(rows) < _PAGE:
                return

    def reinstate(self, stage: str, reader: str, fingerprint: str, run: str) -> int:
        """Let what a fingerprint once read count again; return for how many assets.

        That is for a reader that was switched to other models and back: what the others answered
        for since would otherwise supersede it, and it has nothing left to do.
        """
        newest = self._database.execute(
            "SELECT fingerprint FROM attempt WHERE stage = ? AND reader = ? "
            "ORDER BY seq DESC LIMIT 1",
            (stage, reader),
        ).fetchone()
        if newest is None or newest[0] == fingerprint:
            return 0
        rows = self._database.execute(
            "SELECT t.seq, t.asset FROM attempt t WHERE t.stage = ?1 AND t.reader = ?2 AND "
            "t.fingerprint = ?3 AND NOT t.transient AND t.seq = (SELECT max(seq) FROM attempt "
            "WHERE asset = t.asset AND stage = ?1 AND fingerprint = ?3) AND EXISTS (SELECT 1 FROM "
            "attempt n WHERE n.asset = t.asset AND n.stage = ?1 AND n.reader = ?2 AND "
            "n.seq > t.seq) ORDER BY t.seq",
            (stage, reader, fingerprint),
        ).fetchall()
        for attempt, asset in rows:
            self._database.execute(
                "INSERT INTO attempt (asset, stage, reader, fingerprint, status, transient, code, "
                "message, milliseconds, run, at) SELECT asset, stage, reader, fingerprint, "
                "status, 0, code, message, 0, ?, ? FROM attempt WHERE seq = ?",
                (run, now(), attempt),
            )
            self._database.execute(
                "INSERT INTO coverage (asset, kind, role, producer, attempt) SELECT asset, kind, "
                "role, producer, ? FROM coverage WHERE asset = ? AND attempt = ? ORDER BY seq",
                (self._database.last_insert_rowid(), asset, attempt),
            )
        return len(rows)

    def latest(self, asset: int) -> list[dict[str, Any]]:
        """Return the newest attempt of each stage and reader at an asset."""
        rows = self._database.execute(
            "SELECT stage, reader, status, code, message, at FROM attempt WHERE seq IN "
            "(SELECT max(seq) FROM attempt WHERE asset = ? GROUP BY stage, reader) ORDER BY seq",
            (asset,),
        )
        names = ("stage", "reader", "status", "code", "message", "at")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def standing_failures(self, before_run: str | None = None) -> int:
        """Count the assets whose newest attempt of some reader failed, in earlier runs only."""
        return number(
            self._database,
            "SELECT count(DISTINCT t.asset) FROM attempt t INDEXED BY attempt_failed "
            "WHERE t.status = 'failed' AND t.run IS NOT ? AND "
            "t.seq = (SELECT max(seq) FROM attempt WHERE asset = t.asset AND stage = t.stage "
            "AND reader = t.reader)",
            (before_run,),
        )

    def by_status(self) -> dict[str, dict[str, int]]:
        """Count the newest attempts by stage and status."""
        rows = self._database.execute(
            "SELECT stage, status, count(*) FROM attempt t WHERE t.seq = (SELECT max(seq) FROM "
            "attempt WHERE asset = t.asset AND stage = t.stage AND reader = t.reader) "
            "GROUP BY stage, status ORDER BY stage, status"
        )
        counts: dict[str, dict[str, int]] = {}
        for stage, status, count in rows:
            counts.setdefault(stage, {})[status] = count
        return counts

    def mark(self, stage: str, fingerprint: str = "") -> int:
        """Return how far a stage has come."""
        return number(
            self._database,
            "SELECT max(mark) FROM stage_mark WHERE stage = ? AND fingerprint = ?",
            (stage, fingerprint),
        )

    def set_mark(self, stage: str, mark: int, fingerprint: str = "") -> None:
        """Record how far a stage has come, when it moved."""
        if mark > self.mark(stage, fingerprint):
            self._database.execute(
                "INSERT INTO stage_mark (stage, fingerprint, mark) VALUES (?, ?, ?)",
                (stage, fingerprint, mark),
            )
