"""Candidates under review: which there are, what they rest on, and what the user decides."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from muniment.pipeline import keys
from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.stages.propose import importance_of
from muniment.store.errors import ExitCode, NotFoundError
from muniment.store.ids import made, record_ref
from muniment.store.ledger import Ledger
from muniment.store.ledger.shown import CANDIDATE
from muniment.store.records import Candidate, Evidence, Moment

ACTOR = "user"
QUARANTINE = 200  # automatic rejects that are shown; older ones stay in the ledger
CONTEXT_CHARACTERS = 160
_CLAIM = (
    "type", "kind", "text", "subject", "key", "value", "basis", "sensitivity", "risk", "salience",
    "confidence", "operation", "proposer", "created_at", "id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which candidates; empty fields ask nothing."""

    status: str | None = "pending"
    proposer: str | None = None
    kind: str | None = None
    basis: str | None = None
    key: str | None = None
    origin: str | None = None
    min_confidence: float | None = None

    def condition(self) -> tuple[str, tuple[Any, ...]]:
        """Return the condition on ``candidate_now c`` and its values."""
        parts, values = [CANDIDATE], []
        for name in ("status", "proposer", "kind", "basis", "key"):
            if getattr(self, name) is not None:
                parts.append(f"c.{name} = ?")
                values.append(getattr(self, name))
        if self.min_confidence is not None:
            parts.append("c.confidence >= ?")
            values.append(self.min_confidence)
        if self.origin is not None:
            parts.append(
                "EXISTS (SELECT 1 FROM candidate_evidence v JOIN observation o "
                "ON o.seq = v.observation WHERE v.candidate = c.seq AND o.origin = ?)"
            )
            values.append(self.origin)
        return " AND ".join(parts), tuple(values)


@dataclass(slots=True)
class Decided:
    """What a decision did to each candidate: lists of documents."""

    done: list[dict[str, Any]] = field(default_factory=list)
    unchanged: list[dict[str, Any]] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: "Decided") -> None:
        """Take over what another decision did."""
        self.done += other.done
        self.unchanged += other.unchanged
        self.refused += other.refused

    @property
    def exit_code(self) -> ExitCode:
        """Return 3 when some were refused, 1 when all were."""
        if not self.refused:
            return ExitCode.DONE
        return ExitCode.PARTIAL if self.done or self.unchanged else ExitCode.FAILED


def find(ledger: Ledger, wanted: Wanted, limit: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield candidates, oldest first; the rejected ones newest first, not without end."""
    condition, values = wanted.condition()
    rejected = wanted.status == "rejected"
    most = min(limit or QUARANTINE, QUARANTINE) if rejected else (limit or -1)
    order = "c.seq DESC" if rejected else "c.seq"
    return ledger.memory.candidates(f"{condition} ORDER BY {order} LIMIT {most}", values)


def by_id(ledger: Ledger, ids: Sequence[str], *, shown: bool = False) -> list[dict[str, Any]]:
    """Return the named candidates; ``NotFoundError`` names the first that is not there.

    With ``shown``, one that is forgotten is not there.
    """
    where = f"{CANDIDATE} AND c.id = ?" if shown else "c.id = ?"
    found = []
    for identity in dict.fromkeys(ids):
        row = next(ledger.memory.candidates(where, (identity,)), None)
        if row is None:
            raise NotFoundError(
                f"no candidate {identity} in this scope", hint="see: muniment candidates list"
            )
        found.append(row)
    return found


def in_context(ledger: Ledger, row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each quote of a candidate with the words around it and where they stand."""
    places = []
    for item in row["evidence"]:
        observation = ledger.evidence.get(item["observation"])
        if observation is None:
            continue
        asset = ledger.assets.row(observation.asset)
        text, start, end = observation.text, item["start"], item["end"]
        places.append(
            {
                "observation": f"observation:{observation.id}",
                "before": text[max(0, start - CONTEXT_CHARACTERS) : start],
                "quote": item["quote"],
                "after": text[end : end + CONTEXT_CHARACTERS],
                "name": asset.name if asset else None,
                "kind": observation.kind,
                "origin": observation.origin,
                "author": observation.author,
                "time": observation.instant,
                "live": ledger.evidence.is_live(observation.id),
            }
        )
    return places


def approve(ledger: Ledger, row: dict[str, Any], *, dry_run: bool = False) -> Decided:
    """Make a candidate a record by the user's word, inside the caller's unit."""
    ref = {"ref": f"candidate:{row['id']}", "text": row["text"]}
    reason = obstacle(ledger, row)
    if reason is not None:
        return Decided(refused=[{**ref, "reason": reason}])
    claims = Claims(ledger, ACTOR)
    claim = claim_of(row)
    earlier = _own_record(ledger, row)
    if row["status"] == "active" and (earlier is None or earlier["status"] != "revoked"):
        return Decided(unchanged=[{**ref, "reason": "already_active"}])
    effect = claims.effect(claim)
    told = {**ref, "operation": effect.operation, "record": None}
    if dry_run:
        return Decided(done=[told])
    ledger.memory.decide(row["seq"], "active", "approved", ACTOR)
    if earlier is not None:
        claims.set_status(earlier, "active", "approved again")
        return Decided(done=[{**told, "record": record_ref(earlier)}])
    kept = claims.keep(row["seq"], claim, effect, importance=importance_of(row["proposer"]))
    return Decided(done=[{**told, "record": kept.ref}])


def reject(ledger: Ledger, row: dict[str, Any], reason: str, *, dry_run: bool = False) -> Decided:
    """Turn a candidate down; the record that was made of it is taken back."""
    ref = {"ref": f"candidate:{row['id']}", "text": row["text"], "record": None}
    if row["status"] == "rejected":
        return Decided(unchanged=[{**ref, "reason": "already_rejected"}])
    own = _own_record(ledger, row)
    if row["status"] == "active" and own is None:
        return Decided(refused=[{**ref, "reason": "supports_a_record"}])
    if own is not None:
        ref["record"] = record_ref(own)
    if not dry_run:
        ledger.memory.decide(row["seq"], "rejected", reason, ACTOR)
        if own is not None:
            Claims(ledger, ACTOR).set_status(own, "revoked", reason)
    return Decided(done=[ref])


def claim_of(row: dict[str, Any]) -> Candidate:
    """Return a candidate as it was proposed."""
    fields: dict[str, Any] = {name: row[name] for name in _CLAIM}
    for name in ("valid_at", "invalid_at", "due_at"):
        fields[name] = None if row[name] is None else Moment(**row[name])
    evidence = tuple(Evidence(**item) for item in row["evidence"])
    return Candidate(**fields, evidence=evidence)


def _own_record(ledger: Ledger, row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the newest version of the record that a candidate founded."""
    record = made("rec", row["id"])
    versions = list(ledger.memory.records("r.id = ? ORDER BY r.version", (record,)))
    return versions[-1] if versions else None


def obstacle(ledger: Ledger, row: dict[str, Any]) -> str | None:
    """Return why not even the user can make a record of a candidate."""
    if keys.is_reserved(row["key"]):
        return "reserved_key"
    for item in row["evidence"]:
        observation = ledger.evidence.get(item["observation"])
        if observation is None or not ledger.evidence.is_live(item["observation"]):
            return "evidence_gone"
        if observation.text[item["start"] : item["end"]] != item["quote"]:
            return "quote_mismatch"
    return None if row["evidence"] else "evidence_gone"
