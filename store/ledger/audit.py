"""What was asked of models, and how the calls of proposers and consolidations ended."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import apsw

from muniment.store.ids import canonical_text, storable, storable_or_none
from muniment.store.times import now

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_CALL = (
    "role", "adapter", "model_asked", "model_answered", "inputs", "tokens_in", "tokens_out", "cost",
    "milliseconds", "outcome", "at",
)  # fmt: skip


class Audit:
    """The audit tables of a ledger: rows name inputs by reference, never by content."""

    def __init__(self, database: apsw.Connection, clock: Callable[[], str] = now) -> None:
        self._database = database
        self.clock = clock

    def add_call(  # noqa: PLR0913 (an audit row has this many sides)
        self,
        *,
        role: str,
        adapter: str,
        model_asked: str,
        model_answered: str | None,
        inputs: Sequence[str],
        tokens_in: int | None,
        tokens_out: int | None,
        cost: float | None,
        milliseconds: int,
        outcome: str,
    ) -> None:
        """Keep the audit row of one remote call (the fields of ``adapters.ports.ModelCall``)."""
        self._database.execute(
            f"INSERT INTO model_call ({', '.join(_CALL)}) VALUES ({','.join('?' * len(_CALL))})",
            (
                role, adapter, storable(model_asked), storable_or_none(model_answered),
                canonical_text(list(inputs)), tokens_in, tokens_out, cost, milliseconds, outcome,
                self.clock(),
            ),
        )  # fmt: skip

    def keep(self, calls: Iterable["DataclassInstance"]) -> None:
        """Keep the audit rows that a model adapter collected."""
        for call in calls:
            self.add_call(**asdict(call))

    def calls(self, role: str | None = None) -> list[dict[str, Any]]:
        """Return the audit rows, oldest first."""
        rows = self._database.execute(
            f"SELECT {', '.join(_CALL)} FROM model_call WHERE ?1 IS NULL OR role = ?1 ORDER BY seq",
            (role,),
        )
        found = [dict(zip(_CALL, row, strict=True)) for row in rows]
        return [{**one, "inputs": json.loads(one["inputs"])} for one in found]

    def add_attempt(
        self,
        fingerprint: str,
        first: int,
        last: int,
        *,
        candidates: int = 0,
        code: str | None = None,
        message: str | None = None,
    ) -> None:
        """Keep how a proposer's work over a range of observations ended; a code is a failure."""
        self._database.execute(
            "INSERT INTO proposal_attempt (fingerprint, first, last, status, code, message, "
            "candidates, at) VALUES (?,?,?,?,?,?,?,?)",
            (
                fingerprint, first, last, "ok" if code is None else "failed", code,
                storable_or_none(message), candidates, self.clock(),
            ),
        )  # fmt: skip

    def pending(self, fingerprint: str) -> list[tuple[int, int]]:
        """Return the (first, last) ranges whose newest attempt failed, in order."""
        rows = self._database.execute(
            "SELECT t.first, t.last FROM proposal_attempt t WHERE t.fingerprint = ?1 "
            "AND t.status = 'failed' AND t.seq = (SELECT max(seq) FROM proposal_attempt "
            "WHERE fingerprint = ?1 AND first = t.first AND last = t.last) ORDER BY t.first",
            (fingerprint,),
        )
        return [(int(first), int(last)) for first, last in rows]

    def failures(self) -> list[dict[str, Any]]:
        """Return what the failed ranges of every proposer last ended with."""
        names = ("fingerprint", "first", "last", "code", "message", "at")
        rows = self._database.execute(
            f"SELECT {', '.join('t.' + name for name in names)} FROM proposal_attempt t "
            "WHERE t.status = 'failed' AND t.seq = (SELECT max(seq) FROM proposal_attempt WHERE "
            "fingerprint = t.fingerprint AND first = t.first AND last = t.last) ORDER BY t.seq"
        )
        return [dict(zip(names, row, strict=True)) for row in rows]

    def begin(self, consolidation: str, inputs: Any) -> bool:
        """Keep what a consolidation is going to change; return false when it is known."""
        before = self._database.total_changes()
        self._database.execute(
            "INSERT INTO consolidation (id, inputs, at) VALUES (?, ?, ?) "
            "ON CONFLICT (id) DO NOTHING",
            (consolidation, canonical_text(inputs), self.clock()),
        )
        return self._database.total_changes() > before

    def end(self, consolidation: str, status: str, outputs: Any) -> None:
        """Keep what a consolidation has changed."""
        self._database.execute(
            "INSERT INTO consolidation_end (consolidation, status, outputs, at) "
            "SELECT seq, ?, ?, ? FROM consolidation WHERE id = ? "
            "ON CONFLICT (consolidation) DO NOTHING",
            (status, canonical_text(outputs), self.clock(), consolidation),
        )

    def unfinished(self) -> list[dict[str, Any]]:
        """Return the consolidations that were begun and not ended, oldest first."""
        rows = self._database.execute(
            "SELECT c.id, c.inputs, c.at FROM consolidation c LEFT JOIN consolidation_end e "
            "ON e.consolidation = c.seq WHERE e.consolidation IS NULL ORDER BY c.seq"
        )
        return [{"id": row[0], "inputs": json.loads(row[1]), "at": row[2]} for row in rows]
