"""Correct a record: what the user says instead is kept as evidence and becomes the new version."""

from dataclasses import dataclass
from typing import Any

from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.memory.claims import Claims, Kept
from muniment.pipeline.proposers.guards import LONGEST_TEXT, LONGEST_VALUE
from muniment.pipeline.statements import add_statement, said_anew
from muniment.store.errors import StateError, UsageError
from muniment.store.ids import made, record_ref
from muniment.store.ledger import Ledger
from muniment.store.records import Candidate, Evidence, Moment
from muniment.store.times import sort_key

PROPOSER = "correct"
_TAKEN_BACK = frozenset({"revoked", "invalidated"})


@dataclass(frozen=True, slots=True)
class Correction:
    """What is said instead; null keeps what the record says. ``valid_at`` is a UTC instant."""

    text: str | None = None
    value: str | None = None
    valid_at: str | None = None
    reason: str = "corrected by the user"


@dataclass(frozen=True, slots=True)
class _Said:
    """What the corrected version says."""

    text: str
    value: str | None
    valid_at: dict[str, Any] | None


def correct(ledger: Ledger, row: dict[str, Any], correction: Correction) -> Kept:
    """Append the corrected version, inside the caller's unit; the same again changes nothing."""
    said = _said(row, correction)
    standing = _standing(ledger, row, said)
    if standing is not None:
        return standing
    observation = said_anew(ledger, said.text, ledger.memory.clock())
    add_statement(ledger, observation, PROPOSER)
    claim = Candidate(
        id=made("cand", PROPOSER, row["id"], row["version"], said.text, said.value, said.valid_at),
        **{name: row[name] for name in ("type", "kind", "subject", "key", "sensitivity", "risk")},
        text=said.text,
        value=said.value,
        valid_at=_moment(said.valid_at),
        due_at=_moment(row["due_at"]),
        basis="user_statement",
        salience=row["salience"],
        confidence=1.0,
        evidence=(
            Evidence(observation=observation.id, quote=said.text, start=0, end=len(said.text)),
        ),
        operation="SUPERSEDE",
        proposer=PROPOSER,
        created_at=ledger.memory.clock(),
    )
    number = ledger.memory.propose(claim)
    if number is None:  # the same words for the same version: they stand
        return Kept(row["id"], row["version"], changed=False)
    ledger.memory.decide(number, "active", "corrected", "user")
    kept = Claims(ledger, "user").correct(row, number, claim, correction.reason)
    Relations(ledger).read()
    return kept


def foresee(ledger: Ledger, row: dict[str, Any], correction: Correction) -> Kept:
    """Tell what a correction would do; where it changes nothing, which version says so."""
    standing = _standing(ledger, row, _said(row, correction))
    return standing or Kept(row["id"], row["version"], changed=True)


def _standing(ledger: Ledger, row: dict[str, Any], said: _Said) -> Kept | None:
    """Return the version that says so already: of one that was taken back, one that came later.

    Raises ``StateError`` where none is left that could be corrected.
    """
    if row["status"] not in _TAKEN_BACK:
        return None if _differs(row, said) else Kept(row["id"], row["version"], changed=False)
    later = [
        one
        for one in ledger.memory.records("r.id = ? ORDER BY r.version DESC", (row["id"],))
        if one["version"] > row["version"] and one["status"] not in _TAKEN_BACK
    ]
    for one in later:
        if not _differs(one, said):
            return Kept(one["id"], one["version"], changed=False)
    raise StateError(
        f"record {row['id']}@{row['version']} is {row['status']}, there is nothing to correct",
        hint=f"correct {record_ref(later[0])} instead" if later else "remember the claim anew",
    )


def _differs(row: dict[str, Any], said: _Said) -> bool:
    starts = sort_key(said.valid_at) != sort_key(row["valid_at"])
    return starts or (said.text, said.value) != (row["text"], row["value"])


def _said(row: dict[str, Any], correction: Correction) -> _Said:
    value = row["value"] if correction.value is None else correction.value.strip()
    text = _text(row, correction, value)
    valid = row["valid_at"]
    if correction.valid_at is not None:
        moment = Moment(utc=correction.valid_at, zone_source="utc", precision="microsecond")
        valid = moment.model_dump()
    if not text or value == "" or len(text) > LONGEST_TEXT or len(value or "") > LONGEST_VALUE:
        raise UsageError(
            "a correction says something, in no more than "
            f"{LONGEST_TEXT} characters ({LONGEST_VALUE} for a value)"
        )
    return _Said(text, value, valid)


def _text(row: dict[str, Any], correction: Correction, value: str | None) -> str:
    """Return the new words: those given, else the old ones with the new value in them."""
    old = row["value"]
    if correction.text is not None:
        text = correction.text.strip()
        stale = correction.value is None and row["key"] and old and old not in text
        if stale and old in row["text"]:
            raise UsageError(
                f"the text no longer says {old!r}, the value of {row['key']}",
                hint=f"give the new value of {row['key']}, too",
            )
        return text
    if correction.value is None or value == old:
        return str(row["text"])
    if old and old in row["text"]:
        return str(row["text"]).replace(old, value or "", 1)
    if row["key"] is None:
        raise UsageError(
            "this record has no key that a value could be of",
            hint="say the whole sentence as it should be: give the text, without the value",
        )
    return f"{row['key']}: {value}"


def _moment(fields: dict[str, Any] | None) -> Moment | None:
    return None if fields is None else Moment(**fields)
