"""Claims in the ledger: what a new one does to those that are there, and changes by hand.

Every method runs inside the caller's unit and leaves the intervals of a key settled.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from muniment.pipeline import keys
from muniment.pipeline.memory import facts
from muniment.pipeline.memory.facts import Version
from muniment.store.errors import NotFoundError
from muniment.store.ids import made
from muniment.store.ledger import Ledger
from muniment.store.records import Candidate, Moment, Operation
from muniment.store.times import sort_key

_LAST = 2**62  # a version that is not inserted yet comes after all that are
_IN_FORCE = frozenset({"active", "conflicted"})


@dataclass(frozen=True, slots=True)
class Effect:
    """What a claim would do: the operation, and the version that says the same already."""

    operation: Operation
    known: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a claim went, and whether anything changed."""

    record: str
    version: int
    changed: bool

    @property
    def ref(self) -> str:
        """Return the reference of the version."""
        return f"record:{self.record}@{self.version}"


class Claims:
    """The claims of one ledger, changed by one actor."""

    def __init__(self, ledger: Ledger, actor: str) -> None:
        self._memory = ledger.memory
        self._actor = actor

    # --- what a new claim does -------------------------------------------------------------------

    def effect(self, claim: Candidate) -> Effect:
        """Tell what a claim would do if it were activated now."""
        rivals = self._rivals(claim)
        known = _known(claim, rivals)
        if known is not None:
            known["evidence"] = self._memory.evidence_of(known["version_seq"])
            cited = {item["observation"] for item in known["evidence"]}
            fresh = any(item.observation not in cited for item in claim.evidence)
            return Effect("REINFORCE" if fresh else "IGNORE", known)
        live = [one for one in rivals if one["status"] in _IN_FORCE]
        if keys.is_single_valued(claim.key) and live:
            return Effect("SUPERSEDE")
        at_odds = any(keys.contradict(claim.key, claim.value, one["value"]) for one in live)
        return Effect("CONFLICT" if at_odds else "ADD")

    def keep(self, candidate: int, claim: Candidate, effect: Effect, *, importance: float) -> Kept:
        """Make a claim a record, or add its evidence to the one that says the same."""
        if effect.known is not None:
            return self._reinforce(candidate, claim, effect.known)
        record = made("rec", claim.id)
        rows = self._rivals(claim)
        new = _version_of_claim(claim, record, 1)
        settled = self._settled(claim.key, [_version(row) for row in rows] + [new])
        mine = next(one for one in settled if one.inserted == _LAST)
        self._memory.activate(
            candidate, claim, importance=importance, actor=self._actor, status=mine.status,
            invalid_at=_end(mine, new, rows),
        )  # fmt: skip
        changed = self._apply(rows, settled, "a claim that follows it", newest=claim)
        for row in changed if keys.is_single_valued(claim.key) else ():
            self._memory.link(record, row["id"], "supersedes", actor=self._actor, reason="")
        return Kept(record, 1, changed=True)

    def _reinforce(self, candidate: int, claim: Candidate, known: dict[str, Any]) -> Kept:
        fresh = self._memory.support(known["version_seq"], candidate, claim)
        if fresh:
            self._revise(known, "reinforce", known["status"], claim.id)
        return Kept(known["id"], known["version"], changed=fresh)

    # --- changes by hand -------------------------------------------------------------------------

    def current(self, record: str, version: int | None = None) -> dict[str, Any]:
        """Return a version of a record with its state; the newest when none is named."""
        rows = [
            row
            for row in self._memory.records("r.id = ? ORDER BY r.version", (record,))
            if version in {None, row["version"]}
        ]
        if not rows:
            raise NotFoundError(f"no record {record}", hint="see: muniment list records")
        return rows[-1]

    def correct(self, row: dict[str, Any], candidate: int, claim: Candidate, reason: str) -> Kept:
        """Append a version that says otherwise; the old one is taken back."""
        self._revise(row, "correct", "revoked", reason)
        rows = [
            one
            for one in self.rows(claim.subject, claim.key, evidence=False)
            if claim.key is not None and one["version_seq"] != row["version_seq"]
        ]
        old, new = _version(row), _version_of_claim(claim, row["id"], row["version"] + 1)
        own = self._memory.own_ends([one["id"] for one in rows])
        versions = [_version(one, own.get((one["id"], one["version"]))) for one in rows]
        if old.start != new.start:
            versions = facts.reopened(versions, old)
        settled = self._settled(claim.key, [*versions, new])
        mine = next(one for one in settled if one.inserted == _LAST)
        version = self._memory.amend(
            row["id"], candidate, claim, importance=1.0, actor=self._actor, reason=reason,
            status=mine.status, pinned=row["pinned"], invalid_at=_end(mine, new, rows),
        )  # fmt: skip
        self._apply(rows, settled, "a correction beside it", newest=claim)
        return Kept(row["id"], version, changed=True)

    def pin(self, row: dict[str, Any], *, pinned: bool) -> bool:
        """Exempt a record from decay, or no longer; return whether that is new."""
        if row["pinned"] is pinned:
            return False
        action = "pin" if pinned else "unpin"
        self._revise(row, action, row["status"], "by hand", pinned=pinned)
        return True

    def set_status(
        self, row: dict[str, Any], status: Literal["active", "archived", "revoked"], reason: str
    ) -> bool:
        """Archive, bring back or take back a version, and settle what stands beside it."""
        alive = row["status"] in {"active", "conflicted", "superseded"}
        if row["status"] == status or (status == "active" and alive):
            return False
        action = {"active": "restore", "archived": "archive", "revoked": "revoke"}[status]
        self._revise(row, action, status, reason)
        self.settle(row["subject"], row["key"])
        return True

    def settle(self, subject: str | None, key: str | None) -> int:
        """Bring the states of a key in line with each other; return how many changed."""
        if key is None:
            return 0
        rows = self.rows(subject, key, evidence=False)
        settled = self._settled(key, [_version(row) for row in rows])
        return len(self._apply(rows, settled, "settled"))

    def conflicts(self) -> list[list[dict[str, Any]]]:
        """Return the unresolved conflicts: each the claims at odds, oldest first."""
        groups: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
        order = "r.status = 'conflicted' ORDER BY r.valid_sort, r.version_seq"
        for row in self._memory.records(order):
            groups.setdefault((row["subject"], row["key"]), []).append(row)
        return [groups[name] for name in sorted(groups, key=str)]

    def resolve(self, kept: dict[str, Any], reason: str, *, both: bool = False) -> list[str]:
        """Settle the conflict of a version; return the records whose state changed.

        What is not kept was true until the kept one began; where it began later, it never was.
        """
        others = [
            row
            for row in self.rows(kept["subject"], kept["key"])
            if row["status"] == "conflicted" and row["version_seq"] != kept["version_seq"]
        ]
        if kept["status"] != "conflicted":
            return []
        for row in others:
            relation = "compatible" if both else "supersedes"
            self._memory.link(kept["id"], row["id"], relation, actor=self._actor, reason=reason)
            earlier = (row["valid_sort"] or "") < (kept["valid_sort"] or "")
            if not both:
                self._memory.revise(
                    row["id"], row["version"], action="resolve", actor=self._actor, reason=reason,
                    status="superseded" if earlier else "revoked",
                    invalid_at=kept["valid_at"] if earlier else None,
                )  # fmt: skip
        self.settle(kept["subject"], kept["key"])
        return [kept["id"], *(row["id"] for row in others)]

    # --- the rows of a key -----------------------------------------------------------------------

    def rows(
        self, subject: str | None, key: str | None, *, evidence: bool = True
    ) -> list[dict[str, Any]]:
        """Return every version of a subject's key with its state, in the order of insertion."""
        where = "r.subject IS ? AND r.key IS ? ORDER BY r.version_seq"
        return list(self._memory.records(where, (subject, key), evidence=evidence))

    def _rivals(self, claim: Candidate) -> list[dict[str, Any]]:
        """Return the versions that a claim may meet, without their evidence.

        Of a settled key with one value, a new claim meets the version before and after its start
        alone; without a key, those of the same words.
        """
        if claim.key is None:
            where = "r.text = ? AND r.subject IS ? AND r.key IS NULL AND r.kind = ?"
            values = (claim.text, claim.subject, claim.kind)
            order = f"{where} ORDER BY r.version_seq"
            return list(self._memory.records(order, values, evidence=False))
        if not keys.is_single_valued(claim.key):
            return self.rows(claim.subject, claim.key, evidence=False)
        held = ",".join(f"'{status}'" for status in sorted(facts.HELD))
        start = _start(claim) or ""
        found: list[dict[str, Any]] = []
        for side, order in (("<=", "DESC"), (">", "ASC")):
            found += self._memory.records(
                f"r.subject IS ? AND r.key = ? AND coalesce(r.valid_sort, '') {side} ? "
                f"AND r.status IN ({held}) "
                f"ORDER BY r.valid_sort {order}, r.version_seq {order} LIMIT 1",
                (claim.subject, claim.key, start),
                evidence=False,
            )
        return found

    def _settled(self, key: str | None, versions: Sequence[Version]) -> list[Version]:
        if key is None:
            return list(versions)

        def contradicts(one: Version, other: Version) -> bool:
            if not keys.contradict(key, one.value, other.value):
                return False
            return not any(
                link["relation"] == "compatible" and other.record in (link["one"], link["other"])
                for link in self._memory.links(one.record)
            )

        return facts.settle(
            versions, single=keys.is_single_valued(key), now=self._memory.clock(),
            contradicts=contradicts,
        )  # fmt: skip

    def _apply(
        self,
        rows: Sequence[dict[str, Any]],
        settled: Sequence[Version],
        reason: str,
        newest: Candidate | None = None,
    ) -> list[dict[str, Any]]:
        """Append what settling changed; return the rows that it changed."""
        by_seq = {row["version_seq"]: row for row in rows}
        changed = []
        for one in settled:
            row = by_seq.get(one.inserted)
            if row is None or (one.status, one.end) == (row["status"], sort_key(row["invalid_at"])):
                continue
            self._memory.revise(
                one.record, one.version, action=_ACTIONS.get(one.status, "close"),
                status=one.status, actor=self._actor, reason=reason,
                invalid_at=_moment(one.end, rows, newest), reopen=one.end is None,
            )  # fmt: skip
            changed.append(row)
        return changed

    def _revise(
        self, row: dict[str, Any], action: str, status: str, reason: str,
        pinned: bool | None = None,
    ) -> None:  # fmt: skip
        self._memory.revise(
            row["id"], row["version"], action=action, status=status, actor=self._actor,
            reason=reason, pinned=pinned,
        )  # fmt: skip


_ACTIONS = {"superseded": "supersede", "conflicted": "conflict", "active": "settle"}


def _known(claim: Candidate, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the version that says the same of the time at which the claim begins."""
    start = _start(claim)
    due = sort_key(None if claim.due_at is None else claim.due_at.model_dump())
    for row in rows:
        version = _version(row)
        same = version.value == _folded(claim.value) and due == sort_key(row["due_at"])
        if claim.key is None:
            if same and row["status"] in _IN_FORCE:
                return row
        elif same and version.held and version.status != "archived" and version.covers(start or ""):
            return row
    return None


def _start(claim: Candidate) -> str | None:
    return sort_key(None if claim.valid_at is None else claim.valid_at.model_dump())


def _version(row: dict[str, Any], own_end: str | None = None) -> Version:
    return Version(
        record=row["id"],
        version=row["version"],
        value=_folded(row["value"]),
        start=row["valid_sort"],
        end=sort_key(row["invalid_at"]),
        inserted=row["version_seq"],
        status=row["status"],
        own_end=own_end,
    )


def _version_of_claim(claim: Candidate, record: str, version: int) -> Version:
    start, end = (
        sort_key(None if moment is None else moment.model_dump())
        for moment in (claim.valid_at, claim.invalid_at)
    )
    return Version(record, version, _folded(claim.value), start, end, _LAST, own_end=end)


def _end(settled: Version, new: Version, rows: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the end of a new version where another claim sets it."""
    return None if settled.end == new.end else _moment(settled.end, rows, None)


def _moment(
    end: str | None, rows: Sequence[dict[str, Any]], newest: Candidate | None
) -> dict[str, Any] | None:
    """Return an end as the start that it came from was known."""
    if end is None:
        return None
    starts = [row["valid_at"] for row in rows]
    if newest is not None and newest.valid_at is not None:
        starts.append(newest.valid_at.model_dump())
    same = (start for start in starts if start is not None and sort_key(start) == end)
    plain = Moment(utc=end, zone_source="utc", precision="microsecond").model_dump()
    return next(same, plain)


def _folded(value: str | None) -> str | None:
    """Fold a value so that spellings of one thing meet."""
    if value is None:
        return None
    return " ".join(unicodedata.normalize("NFKC", value).casefold().split())
