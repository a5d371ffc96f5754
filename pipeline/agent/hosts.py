"""Take batches of a host's events in behind a cursor: events first, then compare and set.

A batch whose acknowledgement was lost is sent again and changes nothing. A cursor that is not the
one that the host counted from tells of another writer, and is refused.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent.appending import Outcome, Taking
from muniment.pipeline.agent.events import Event, read_event
from muniment.store.errors import InputError, StateError, UsageError

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger

BATCH = 500
LABEL_CHARACTERS = 256


@dataclass(frozen=True, slots=True)
class Batch:
    """Events of one stream of a host, and the cursor that they lead to.

    ``expected`` is the cursor that they were read from, null for none. ``dropped_through`` names
    the last event that the host no longer shows to its model.
    """

    host: str
    stream: str
    lines: list[dict[str, Any]]
    cursor: str
    expected: str | None
    session: str | None = None
    dropped_through: str | None = None


@dataclass(slots=True)
class Taken:
    """What became of a batch; ``status`` is ``advanced`` or ``replayed``."""

    status: str
    cursor: str
    outcomes: list[Outcome] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


def ingest(session: "Session", batch: Batch, *, dry_run: bool = False) -> Taken:
    """Commit a batch's events, then advance the cursor. Raises ``StateError`` on another writer.

    A dry run says what would become of them.
    """
    for name in ("host", "stream", "cursor"):
        if not 0 < len(getattr(batch, name)) <= LABEL_CHARACTERS:
            raise UsageError(f"{name} has 1 to {LABEL_CHARACTERS} characters", code="bad_cursor")
    events = list(_checked(batch))
    if dry_run:
        return _foreseen(session, batch, events)
    with session.workspace().writing() as ledger:
        known = _compare(ledger, batch)
        taking = Taking(ledger, batch.host, session.settings["agent"])
        outcomes = [item for item in events if isinstance(item, Outcome)]
        good = [item for item in events if isinstance(item, Event)]
        for at in range(0, len(good), BATCH):
            outcomes += taking.take(good[at : at + BATCH])
        _drop(ledger, batch)
        if known:
            return Taken("replayed", batch.cursor, outcomes, taking.closed)
        with ledger.unit():
            held = ledger.checkpoints.cursor(batch.host, batch.stream)
            ledger.checkpoints.advance(
                batch.host, batch.stream, batch.cursor,
                previous=None if held is None else held[0], events=len(good),
            )  # fmt: skip
        return Taken("advanced", batch.cursor, outcomes, taking.closed)


def _foreseen(session: "Session", batch: Batch, events: "list[Event | Outcome]") -> Taken:
    with session.workspace().planning() as ledger:
        known = _compare(ledger, batch)
        outcomes = [item for item in events if isinstance(item, Outcome)]
        good = [item for item in events if isinstance(item, Event)]
        outcomes += Taking(ledger, batch.host).foresee(good)
    return Taken("replayed" if known else "planned", batch.cursor, outcomes)


def cursor_of(session: "Session", host: str, stream: str) -> str | None:
    """Return how far a host's stream was taken in; null where nothing was."""
    from muniment.store import manifest

    workspace = session.workspace()
    state = manifest.state_of(workspace.root)
    if state is manifest.RootState.UNINITIALIZED:
        return None
    with workspace.planning() as ledger:
        held = ledger.checkpoints.cursor(host, stream)
    return None if held is None else held[1]


def _compare(ledger: "Ledger", batch: Batch) -> bool:
    """Tell whether the batch is a replay of one that is in; refuse it when others were quicker."""
    held = ledger.checkpoints.cursor(batch.host, batch.stream)
    now_at = None if held is None else held[1]
    if now_at == batch.cursor:
        return True
    if now_at != batch.expected:
        raise StateError(
            "another writer has moved the cursor of this stream",
            code="cursor_conflict",
            hint="read the cursor again with: muniment host-ingest HOST --stream ID --show",
        )
    return False


def _checked(batch: Batch) -> Iterator[Event | Outcome]:
    for number, fields in enumerate(batch.lines, 1):
        try:
            yield read_event(fields, batch.session)
        except UsageError as error:
            event = fields.get("event_id")
            name = event if isinstance(event, str) else None
            yield Outcome(name, None, "failed", None, error.code, error.message, number)


def _drop(ledger: "Ledger", batch: Batch) -> None:
    if batch.dropped_through is None:
        return
    event = ledger.sessions.event(batch.dropped_through)
    if event is None:
        raise UsageError(
            f"no event {batch.dropped_through!r} to drop turns up to", code="bad_event"
        )
    number = ledger.sessions.number(event.session)
    if number is not None:
        with ledger.unit():
            ledger.sessions.drop(number, event.seq)


# --- transcripts -------------------------------------------------------------------------------


def transcript(
    session: "Session", host: str, path: Path, read: Callable[[list[str]], Iterator[dict[str, Any]]]
) -> Batch:
    """Read what a transcript holds past its cursor, up to its last whole line.

    The cursor is the number of bytes read and their digest: a transcript that was rewritten is
    read from its beginning, where every event that is known changes nothing.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"can't be read: {error.strerror}", code="unreadable", transient=True
        ) from error
    stream = str(path.absolute())[-LABEL_CHARACTERS:]
    held = cursor_of(session, host, stream)
    start = _start(held, data)
    end = data.rfind(b"\n") + 1
    lines = data[start:end].decode("utf-8", "replace").split("\n") if end > start else []
    end = max(start, end)
    digest = hashlib.sha256(data[:end]).hexdigest()
    cursor = json.dumps({"bytes": end, "sha256": digest}, sort_keys=True)
    return Batch(
        host, stream, list(read(lines)), cursor, held, session=path.stem[:LABEL_CHARACTERS]
    )


def _start(cursor: str | None, data: bytes) -> int:
    try:
        known = json.loads(cursor or "null")
        size, digest = int(known["bytes"]), str(known["sha256"])
    except (ValueError, TypeError, KeyError):
        return 0
    return size if hashlib.sha256(data[:size]).hexdigest() == digest else 0
