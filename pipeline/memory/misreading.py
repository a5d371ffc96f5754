"""What was misread: marked by the user, it answers no more; the right reading takes its place.

The right reading stands in the same asset, at the same place, of the same origin: what a picture
says stays the picture's, whoever typed it.
"""

from typing import TYPE_CHECKING

from muniment.pipeline.stages.run import new_run_id
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.ids import made, storable
from muniment.store.records import Observation, Producer

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger
    from muniment.store.rows import ObservationRow

ACTOR = "user"
PRODUCER = Producer(adapter="misread", version="1", role="correction")
MOST_CHARACTERS = 16_000


def find(ledger: "Ledger", observation: str) -> "ObservationRow":
    """Return the observation that is to be marked."""
    row = ledger.evidence.get(observation)
    if row is None:
        raise NotFoundError(
            f"no observation {observation} in this scope", hint="see: muniment list observations"
        )
    return row


def would_change(ledger: "Ledger", row: "ObservationRow", text: str | None, *, undo: bool) -> bool:
    """Tell whether a mark says anything new."""
    held = ledger.readings.marked(row.id)
    if undo or held is None:
        return undo is (held is not None)
    if text is None:
        return False
    said = None if held["correction"] is None else ledger.evidence.get(held["correction"])
    return said is None or said.text != _right(row, text)


def mark(ledger: "Ledger", row: "ObservationRow", text: str | None, reason: str) -> str | None:
    """Mark a reading as wrong, inside the caller's unit; return the id of the right one.

    The same again changes nothing; another right reading takes the place of the one before.
    """
    if not would_change(ledger, row, text, undo=False):
        held = ledger.readings.marked(row.id)
        return held["correction"] if held else None
    _retract(ledger, row, reason)
    ledger.readings.mark(row.id, "mark", reason, ACTOR)
    if text is None:
        return None
    correction = _correction(ledger, row, _right(row, text))
    ledger.readings.mark(row.id, "mark", reason, ACTOR, correction.id)
    return correction.id


def lift(ledger: "Ledger", row: "ObservationRow", reason: str) -> bool:
    """Take a mark back, inside the caller's unit; the correction of it no longer answers."""
    if ledger.readings.marked(row.id) is None:
        return False
    _retract(ledger, row, reason)
    ledger.readings.mark(row.id, "lift", reason, ACTOR)
    return True


def _retract(ledger: "Ledger", row: "ObservationRow", reason: str) -> None:
    """Let the correction that is in force answer no more."""
    held = ledger.readings.marked(row.id)
    if held is not None and held["correction"] is not None:
        ledger.readings.mark(held["correction"], "mark", reason, ACTOR)


def _right(row: "ObservationRow", text: str) -> str:
    right = storable(text).strip()
    if not right or len(right) > MOST_CHARACTERS:
        raise UsageError(f"a reading has 1 to {MOST_CHARACTERS} characters")
    if right == row.text:
        raise UsageError("it says so already", hint="leave out --text to mark it as misread")
    return right


def _correction(ledger: "Ledger", row: "ObservationRow", text: str) -> Observation:
    """Keep the right reading as an observation of the same asset, at the same place."""
    producer, fingerprint = ledger.evidence.producer(PRODUCER)
    fields = {name: getattr(row, name) for name in _SAME}
    correction = Observation.model_validate_json(
        _json(
            {
                **fields,
                "id": made("obs", "misread", row.id, ledger.readings.count(row.id)),
                "text": text,
                "producer": fingerprint,
                "confidence": 1.0,
                "attributes": {},
                "created_at": ledger.memory.clock(),
            }
        )
    )
    number = ledger.assets.number(row.asset)
    if number is None:
        raise NotFoundError(f"no asset {row.asset} in this scope")
    run = new_run_id()
    ledger.attempts.start_run(run, "misread")
    attempt = ledger.attempts.add(
        number, "misread", PRODUCER.adapter, fingerprint, status="ok", run=run
    )
    ledger.evidence.add([correction], number, {fingerprint: producer}, attempt)
    ledger.attempts.end_run(run, 0, {"corrected": 1})
    return correction


_SAME = (
    "asset", "kind", "locator", "origin", "role", "language", "author", "thread", "occurred",
)  # fmt: skip


def _json(fields: dict[str, object]) -> bytes:
    import json

    return json.dumps(fields).encode()
