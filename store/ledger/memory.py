"""Candidates, records and their revisions."""

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import apsw

from muniment.store.database import number
from muniment.store.errors import NotFoundError
from muniment.store.ids import canonical_text, made, storable
from muniment.store.times import now, sort_key

if TYPE_CHECKING:
    from muniment.store.records import Candidate, Claim

_CLAIM = (
    "type", "kind", "text", "subject", "key", "value", "valid_at", "invalid_at", "due_at",
    "basis", "sensitivity", "risk", "salience", "confidence",
)  # fmt: skip
_MOMENTS = {"valid_at", "invalid_at", "due_at"}


class Memory:
    """The candidate and record tables of a ledger; ``clock`` says when a change is made."""

    def __init__(self, database: apsw.Connection, clock: Callable[[], str] = now) -> None:
        self._database = database
        self.clock = clock

    def propose(self, candidate: "Candidate") -> int | None:
        """Append a candidate with its evidence; return its number, null when it is known."""
        if self._number("candidate", candidate.id) is not None:
            return None
        names = (*_CLAIM, "operation", "proposer", "created_at")
        values = [*_claim_values(candidate), candidate.operation, candidate.proposer]
        self._insert("candidate", ("id", *names), (candidate.id, *values, candidate.created_at))
        number = self._database.last_insert_rowid()
        self._add_evidence("candidate", number, candidate)
        return number

    def newest(self) -> int:
        """Return the number of the newest candidate."""
        return number(self._database, "SELECT max(seq) FROM candidate")

    def decide(self, candidate: int, status: str, reason: str, actor: str) -> None:
        """Append a decision on a candidate."""
        self._insert(
            "candidate_decision",
            ("candidate", "status", "reason", "actor", "at"),
            (candidate, status, reason, actor, self.clock()),
        )

    def activate(
        self,
        candidate: int,
        claim: "Candidate",
        *,
        importance: float,
        actor: str,
        status: str = "active",
        invalid_at: dict[str, Any] | None = None,
    ) -> str:
        """Make a candidate the first version of a record; return the record's id."""
        record = made("rec", claim.id)
        if self._number("record", record) is not None:
            return record
        self._insert("record", ("id", "created_at"), (record, self.clock()))
        number = self._database.last_insert_rowid()
        self._add_version(number, 1, candidate, claim, importance)
        self.revise(
            record, 1, action="create", status=status, actor=actor, reason=claim.proposer,
            invalid_at=invalid_at,
        )  # fmt: skip
        return record

    def amend(  # noqa: PLR0913 (as above)
        self,
        record: str,
        candidate: int,
        claim: "Candidate",
        *,
        importance: float,
        actor: str,
        reason: str,
        status: str = "active",
        pinned: bool = False,
        invalid_at: dict[str, Any] | None = None,
    ) -> int:
        """Append a version of a record that says otherwise; return its number."""
        number = self._number("record", record)
        if number is None:
            raise NotFoundError(f"no record {record}")
        row = self._database.execute(
            "SELECT max(version) FROM record_version WHERE record = ?", (number,)
        ).fetchone()
        version = int(row[0]) + 1 if row is not None else 1
        self._add_version(number, version, candidate, claim, importance)
        self.revise(
            record, version, action="correct", status=status, actor=actor, reason=reason,
            pinned=pinned, invalid_at=invalid_at,
        )  # fmt: skip
        return version

    def support(self, version_seq: int, candidate: int, claim: "Claim") -> bool:
        """Add a later candidate's evidence to a version; return whether any of it is new."""
        before = self._database.total_changes()
        self._add_evidence("record", version_seq, claim)
        if self._database.total_changes() == before:
            return False
        self._database.execute(
            "INSERT INTO record_support (version, candidate, at) VALUES (?, ?, ?) "
            "ON CONFLICT (version, candidate) DO NOTHING",
            (version_seq, candidate, self.clock()),
        )
        return True

    def supporters(self, version_seq: int) -> list[dict[str, Any]]:
        """Return the candidates that a version rests on besides its own, oldest first."""
        rows = self._database.execute(
            "SELECT c.id, c.proposer, s.at FROM record_support s JOIN candidate c "
            "ON c.seq = s.candidate WHERE s.version = ? ORDER BY s.seq",
            (version_seq,),
        )
        return [dict(zip(("candidate", "proposer", "at"), row, strict=True)) for row in rows]

    def link(self, one: str, other: str, relation: str, *, actor: str, reason: str) -> bool:
        """Link two records; return whether the link is new."""
        before = self._database.total_changes()
        self._database.execute(
            "INSERT INTO record_link (one, other, relation, actor, reason, at) "
            "SELECT a.seq, b.seq, ?, ?, ?, ? FROM record a, record b WHERE a.id = ? AND b.id = ? "
            "ON CONFLICT (one, other, relation) DO NOTHING",
            (relation, actor, storable(reason), self.clock(), one, other),
        )
        return self._database.total_changes() > before

    def links(self, record: str) -> list[dict[str, Any]]:
        """Return the links of a record in both directions, oldest first."""
        rows = self._database.execute(
            "SELECT a.id, b.id, l.relation, l.actor, l.reason, l.at FROM record_link l "
            "JOIN record a ON a.seq = l.one JOIN record b ON b.seq = l.other "
            "WHERE ? IN (a.id, b.id) ORDER BY l.seq",
            (record,),
        )
        names = ("one", "other", "relation", "actor", "reason", "at")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def revise(  # noqa: PLR0913 (a revision has this many sides)
        self,
        record: str,
        version: int,
        *,
        action: str,
        status: str,
        actor: str,
        reason: str,
        pinned: bool | None = None,
        invalid_at: dict[str, Any] | None = None,
        reopen: bool = False,
    ) -> None:
        """Append a change of a record's state; what is left out stays as it was.

        ``reopen`` lifts an end that another claim had set.
        """
        number = self._number("record", record)
        if number is None:
            raise NotFoundError(f"no record {record}")
        kept = self._database.execute(
            "SELECT pinned, invalid_at FROM revision WHERE record = ? AND version = ? "
            "ORDER BY seq DESC LIMIT 1",
            (number, version),
        ).fetchone() or (0, None)
        held = kept[0] if pinned is None else int(pinned)
        closed = kept[1] if invalid_at is None else canonical_text(invalid_at)
        closed = None if reopen else closed
        self._insert(
            "revision",
            ("record", "version", "action", "status", "pinned", "invalid_at", "actor", "reason",
             "at"),
            (number, version, action, status, held, closed, actor, reason, self.clock()),
        )  # fmt: skip

    def records(
        self, where: str = "1", values: tuple[Any, ...] = (), *, evidence: bool = True
    ) -> Iterator[dict[str, Any]]:
        """Yield record versions with their state, by a condition on ``record_now r``.

        Without ``evidence`` it is left out, which spares a statement a version.
        """
        names = (
            "id", "version", "version_seq", "candidate", *_CLAIM, "valid_sort", "proposer",
            "importance", "recorded_at", "status", "pinned", "closed_at", "revision_seq",
        )  # fmt: skip
        columns = ", ".join(f"r.{name}" if name != "candidate" else "c.id" for name in names)
        rows = self._database.execute(
            f"SELECT {columns} FROM record_now r JOIN candidate c ON c.seq = r.candidate "
            f"WHERE {where}",
            values,
        )
        for row in rows:
            found = _read_claim(dict(zip(names, row, strict=True)))
            found["pinned"] = bool(found["pinned"])
            cited = self.evidence_of(found["version_seq"]) if evidence else []
            yield {**found, "evidence": cited}

    def evidence_of(self, version_seq: int) -> list[dict[str, Any]]:
        """Return the quotes that a version rests on."""
        return self._evidence("record", version_seq)

    def candidates(
        self, where: str = "1", values: tuple[Any, ...] = ()
    ) -> Iterator[dict[str, Any]]:
        """Yield candidates with their newest decision, by a condition on ``candidate_now c``."""
        names = (
            "seq", "id", *_CLAIM, "operation", "proposer", "created_at", "status", "reason",
            "actor", "decided_at",
        )  # fmt: skip
        columns = ", ".join(f"c.{name}" for name in names)
        rows = self._database.execute(
            f"SELECT {columns} FROM candidate_now c WHERE {where}", values
        )
        for row in rows:
            found = _read_claim(dict(zip(names, row, strict=True)))
            yield {**found, "evidence": self._evidence("candidate", found["seq"])}

    def revisions(self, record: str) -> list[dict[str, Any]]:
        """Return the history of a record's state, oldest first."""
        names = ("version", "action", "status", "pinned", "invalid_at", "actor", "reason", "at")
        rows = self._database.execute(
            f"SELECT {', '.join('x.' + name for name in names)} FROM revision x JOIN record r "
            "ON r.seq = x.record WHERE r.id = ? ORDER BY x.seq",
            (record,),
        )
        found = [dict(zip(names, row, strict=True)) for row in rows]
        for one in found:
            one["pinned"] = bool(one["pinned"])
            one["invalid_at"] = json.loads(one["invalid_at"]) if one["invalid_at"] else None
        return found

    def own_ends(self, records: list[str]) -> dict[tuple[str, int], str | None]:
        """Return the ends that versions of these records name themselves, as they sort."""
        rows = self._database.execute(
            "SELECT r.id, v.version, v.invalid_at FROM record_version v JOIN record r "
            "ON r.seq = v.record WHERE r.id IN (SELECT value FROM json_each(?))",
            (json.dumps(records),),
        )
        return {
            (record, version): sort_key(json.loads(end)) if end else None
            for record, version, end in rows
        }

    def revisions_after(self, mark: int, limit: int) -> list[tuple[int, str]]:
        """Return (number, record id) of revisions past a number, for those that follow along."""
        rows = self._database.execute(
            "SELECT x.seq, r.id FROM revision x JOIN record r ON r.seq = x.record "
            "WHERE x.seq > ? ORDER BY x.seq LIMIT ?",
            (mark, limit),
        )
        return [(int(seq), str(record)) for seq, record in rows]

    def _evidence(self, plane: str, number: int) -> list[dict[str, Any]]:
        owner = "version" if plane == "record" else "candidate"
        rows = self._database.execute(
            f'SELECT o.id, v.quote, v.start, v."end" FROM {plane}_evidence v '
            f"JOIN observation_kept o ON o.seq = v.observation WHERE v.{owner} = ? "
            "ORDER BY o.seq, v.start",
            (number,),
        )
        names = ("observation", "quote", "start", "end")
        return [dict(zip(names, row, strict=True)) for row in rows]

    def _add_evidence(self, plane: str, number: int, claim: "Claim") -> None:
        owner = "version" if plane == "record" else "candidate"
        for item in claim.evidence:
            self._database.execute(
                f'INSERT INTO {plane}_evidence ({owner}, observation, quote, start, "end") '
                "VALUES (?, (SELECT seq FROM observation WHERE id = ?), ?, ?, ?) "
                f'ON CONFLICT ({owner}, observation, start, "end") DO NOTHING',
                (number, item.observation, storable(item.quote), item.start, item.end),
            )

    def _add_version(
        self, record: int, version: int, candidate: int, claim: "Candidate", importance: float
    ) -> None:
        valid = None if claim.valid_at is None else claim.valid_at.model_dump()
        names = ("record", "version", "candidate", *_CLAIM, "valid_sort", "proposer", "importance")
        values = (record, version, candidate, *_claim_values(claim), sort_key(valid))
        self._insert(
            "record_version",
            (*names, "recorded_at"),
            (*values, claim.proposer, importance, self.clock()),
        )
        self._add_evidence("record", self._database.last_insert_rowid(), claim)

    def _number(self, table: str, identity: str) -> int | None:
        row = self._database.execute(
            f"SELECT seq FROM {table} WHERE id = ?", (identity,)
        ).fetchone()
        return None if row is None else int(row[0])

    def _insert(self, table: str, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        marks = ",".join("?" * len(names))
        self._database.execute(
            f"INSERT INTO {table} ({','.join(names)}) VALUES ({marks})",
            [storable(value) if isinstance(value, str) else value for value in values],
        )


def _claim_values(claim: "Claim") -> list[Any]:
    fields = claim.model_dump(include=set(_CLAIM))
    return [
        canonical_text(fields[name]) if name in _MOMENTS and fields[name] else fields[name]
        for name in _CLAIM
    ]


def _read_claim(found: dict[str, Any]) -> dict[str, Any]:
    for name in _MOMENTS:
        found[name] = json.loads(found[name]) if found[name] else None
    return found
