"""Hide and bring back: a soft forget, and the undoing of one. Nothing is erased.

Runs inside the caller's unit. Claims that no shown observation supports any more are invalidated,
and get their state back when their evidence does.
"""

from dataclasses import dataclass, field
from typing import Any

import apsw

from muniment.store.database import rows
from muniment.store.forgetting.fragments import fragments_among
from muniment.store.forgetting.plan import inside_of
from muniment.store.forgetting.selection import Selection, as_json
from muniment.store.ledger import Ledger
from muniment.store.ledger.shown import FORGOTTEN
from muniment.store.times import now

_ACTION = "forget"
_REASON = "forgotten"
_COLUMNS = {
    "asset": "assets", "observation": "observations", "candidate": "candidates",
    "record": "records", "event": "fragments",
}  # fmt: skip


def _members(kind: str) -> str:
    """Return the table of what is hidden of a kind; of events, only fragments are no asset."""
    return "tombstone_fragment" if kind == "event" else "tombstone_member"


def _lifts(kind: str) -> str:
    return "tombstone_fragment_lift" if kind == "event" else "tombstone_lift"


@dataclass(slots=True)
class Change:
    """What a soft forget, or its undoing, did; ``touched`` are observations to be grouped anew."""

    tombstone: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    touched: set[int] = field(default_factory=set)
    records: list[tuple[str, int]] = field(default_factory=list)
    candidates: int = 0

    @property
    def members(self) -> int:
        """How many things were hidden or brought back."""
        return sum(self.counts.values())


def planned(ledger: Ledger, selection: Selection) -> Change:
    """Say what :func:`hide` would hide; nothing is written."""
    found = _new(ledger.database, selection)
    return Change(counts={_COLUMNS[kind]: len(numbers) for kind, numbers in found.items()})


def liftable(ledger: Ledger, selection: Selection, tombstone: str | None) -> Change:
    """Say what :func:`lift` would bring back; nothing is written."""
    found = _hidden(ledger.database, selection, tombstone)
    return Change(tombstone, {_COLUMNS[kind]: len(pairs) for kind, pairs in found.items()})


def hide(ledger: Ledger, selection: Selection, *, actor: str) -> Change:
    """Hide what is selected and not hidden yet; nothing new changes nothing."""
    database = ledger.database
    found = _new(database, selection)
    change = Change(counts={_COLUMNS[kind]: len(numbers) for kind, numbers in found.items()})
    if not change.members:
        return change
    number, change.tombstone = ledger.tombstones.add("soft", change.counts, actor)
    for kind, numbers in found.items():
        database.executemany(
            f"INSERT INTO {_members(kind)} (tombstone, {kind}) VALUES (?, ?)",
            [(number, one) for one in sorted(numbers)],
        )
    change.touched = _observations(database, found)
    _invalidate(ledger, found, change, actor)
    return change


def lift(
    ledger: Ledger, selection: Selection, *, tombstone: str | None = None, actor: str
) -> Change:
    """Bring back what is selected, or all that one tombstone hides."""
    database = ledger.database
    found = _hidden(database, selection, tombstone)
    change = Change(
        tombstone=tombstone,
        counts={_COLUMNS[kind]: len(pairs) for kind, pairs in found.items()},
    )
    for kind, pairs in found.items():
        database.executemany(
            f"INSERT INTO {_lifts(kind)} (member, actor, at) VALUES (?, ?, ?) "
            "ON CONFLICT (member) DO NOTHING",
            [(member, actor, now()) for member, _ in pairs],
        )
    numbers = {kind: {number for _, number in pairs} for kind, pairs in found.items()}
    change.touched = _observations(database, numbers)
    if change.members:
        _restore(ledger, change, actor)
    return change


def _new(database: apsw.Connection, selection: Selection) -> dict[str, set[int]]:
    """Return what is selected, with what is inside of it, and not hidden yet."""
    assets = inside_of(database, selection.assets)
    hidden = _numbers(database, "SELECT asset FROM hidden_asset")
    observations = selection.observations - _numbers(
        database,
        "SELECT o.seq FROM observation o WHERE o.asset IN (SELECT value FROM json_each(?)) "
        "UNION SELECT observation FROM hidden_observation "
        "UNION SELECT o.seq FROM hidden_asset h JOIN observation o ON o.asset = h.asset",
        (as_json(assets),),
    )
    records = selection.records & _numbers(
        database,
        # What was corrected has a version that was taken back, and keeps it when it is forgotten.
        f"SELECT record FROM record_now WHERE status = 'revoked' EXCEPT {FORGOTTEN} UNION "
        "SELECT record FROM record_now WHERE status NOT IN ('invalidated', 'revoked')",
    )
    candidates = selection.candidates & _numbers(
        database, "SELECT seq FROM candidate_now WHERE status = 'pending'"
    )
    fragments = fragments_among(database, selection.events, assets, selection.observations)
    return {
        "asset": assets - hidden, "observation": observations, "candidate": candidates,
        "record": records,
        "event": fragments - _numbers(database, "SELECT event FROM hidden_fragment"),
    }  # fmt: skip


def _hidden(
    database: apsw.Connection, selection: Selection, tombstone: str | None
) -> dict[str, list[tuple[int, int]]]:
    """Return (member, number) of what is hidden now and selected, by kind."""
    where, values = "t.id = ?", dict.fromkeys(_COLUMNS, (tombstone or "",))
    if tombstone is None:
        where = "m.{kind} IN (SELECT value FROM json_each(?))"
        assets = inside_of(database, selection.assets)
        inside = _observations(database, {"asset": assets, "observation": set()})
        fragments = fragments_among(database, selection.events, assets, selection.observations)
        values = {
            "asset": (as_json(assets),),
            "observation": (as_json(selection.observations | inside),),
            "candidate": (as_json(selection.candidates),),
            "record": (as_json(selection.records),),
            "event": (as_json(fragments),),
        }
    return {
        kind: [
            (int(member), int(number))
            for member, number in database.execute(
                f"SELECT m.seq, m.{kind} FROM {_members(kind)} m JOIN tombstone t "
                f"ON t.seq = m.tombstone WHERE m.{kind} IS NOT NULL AND {where} AND NOT EXISTS "
                f"(SELECT 1 FROM {_lifts(kind)} l WHERE l.member = m.seq)".format(kind=kind),
                values[kind],
            )
        ]
        for kind in _COLUMNS
    }


def _observations(database: apsw.Connection, found: dict[str, set[int]]) -> set[int]:
    return found["observation"] | _numbers(
        database,
        "SELECT seq FROM observation WHERE asset IN (SELECT value FROM json_each(?))",
        (as_json(found["asset"]),),
    )


def _invalidate(ledger: Ledger, named: dict[str, set[int]], change: Change, actor: str) -> None:
    """Take claims out of force whose evidence is all hidden, and those that were named."""
    found = rows(
        ledger.database,
        "SELECT r.id, r.version FROM record_now r WHERE r.status NOT IN ('revoked', 'invalidated') "
        "AND (r.record IN (SELECT value FROM json_each(?1)) OR (r.version_seq IN (SELECT e.version "
        "FROM record_evidence e WHERE e.observation IN (SELECT value FROM json_each(?2))) "
        "AND NOT EXISTS (SELECT 1 FROM record_evidence e JOIN observation_kept o "
        "ON o.seq = e.observation WHERE e.version = r.version_seq)))",
        (as_json(named["record"]), as_json(change.touched)),
    )
    for record, version in found:
        ledger.memory.revise(
            record, version, action=_ACTION, status="invalidated", actor=actor, reason=_REASON
        )
        change.records.append((record, version))
    pending = _numbers(
        ledger.database,
        "SELECT c.seq FROM candidate_now c WHERE c.status = 'pending' AND (c.seq IN (SELECT value "
        "FROM json_each(?1)) OR (c.seq IN (SELECT e.candidate "
        "FROM candidate_evidence e WHERE e.observation IN (SELECT value FROM json_each(?2))) AND "
        "NOT EXISTS (SELECT 1 FROM candidate_evidence e JOIN observation_kept o "
        "ON o.seq = e.observation WHERE e.candidate = c.seq)))",
        (as_json(named["candidate"]), as_json(change.touched)),
    )
    for candidate in sorted(pending):
        ledger.memory.decide(candidate, "rejected", _REASON, actor)
    change.candidates = len(pending)


def _restore(ledger: Ledger, change: Change, actor: str) -> None:
    """Give claims their state back whose evidence is shown again."""
    found = rows(
        ledger.database,
        "SELECT r.id, r.version, (SELECT x.status FROM revision x WHERE x.record = r.record "
        "AND x.version = r.version AND x.seq < r.revision_seq ORDER BY x.seq DESC LIMIT 1) "
        "FROM record_now r JOIN revision n ON n.seq = r.revision_seq AND n.action = ? "
        "WHERE r.status = 'invalidated' AND EXISTS (SELECT 1 FROM record_evidence e "
        "JOIN observation_kept o ON o.seq = e.observation WHERE e.version = r.version_seq) "
        "AND NOT EXISTS (SELECT 1 FROM tombstone_member m WHERE m.record = r.record "
        "AND NOT EXISTS (SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq))",
        (_ACTION,),
    )
    for record, version, status in found:
        ledger.memory.revise(
            record, version, action="unforget", status=status or "active", actor=actor,
            reason="brought back",
        )  # fmt: skip
        change.records.append((record, version))
    waiting = _numbers(
        ledger.database,
        "SELECT c.seq FROM candidate_now c WHERE c.status = 'rejected' AND c.reason = ? AND EXISTS "
        "(SELECT 1 FROM candidate_evidence e JOIN observation_kept o ON o.seq = e.observation "
        "WHERE e.candidate = c.seq) AND NOT EXISTS (SELECT 1 FROM tombstone_member m "
        "WHERE m.candidate = c.seq AND NOT EXISTS "
        "(SELECT 1 FROM tombstone_lift l WHERE l.member = m.seq))",
        (_REASON,),
    )
    for candidate in sorted(waiting):
        ledger.memory.decide(candidate, "pending", "brought back", actor)
    change.candidates = len(waiting)


def blank_episodes(ledger: Ledger, observations: set[int]) -> int:
    """Close the episodes that nothing shown is left of; their words are not repeated."""
    found = rows(
        ledger.database,
        "SELECT DISTINCT e.id FROM episode_member m JOIN episode_now e ON e.seq = m.episode "
        "WHERE m.observation IN (SELECT value FROM json_each(?)) AND e.status <> 'forgotten' "
        "AND NOT EXISTS (SELECT 1 FROM membership x JOIN observation_live o "
        "ON o.seq = x.observation WHERE x.episode = e.seq)",
        (as_json(observations),),
    )
    for (identity,) in found:
        known: dict[str, Any] = ledger.episodes.get(identity) or {}
        ledger.episodes.put(
            identity, known["anchor"], known["rule"],
            {**known, "title": "", "gist": "", "participants": [], "place": None,
             "status": "forgotten"},
        )  # fmt: skip
    return len(found)


def _numbers(database: apsw.Connection, statement: str, values: tuple[Any, ...] = ()) -> set[int]:
    return {int(row[0]) for row in database.execute(statement, values)}
