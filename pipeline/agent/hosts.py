"""Take batches of a host's events in behind a cursor: events first, then compare and set.

A batch whose acknowledgement was lost is sent again and changes nothing. A cursor that is not the
one that the host counted from tells of another writer, and is refused.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent.appending import Outcome, Taking
from muniment.pipeline.agent.events import Event, read_event
from muniment.store.errors import StateError, UsageError
from muniment.store.forgetting.streams import keyed_cursor, keyed_stream
from muniment.store.ids import storable

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger
    from muniment.store.ledger.checkpoints import Cursor

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
        taking = Taking(ledger, batch.host, session.settings["agent"])
        outcomes = [item for item in events if isinstance(item, Outcome)]
        good = [item for item in events if isinstance(item, Event)]
        stream, held = _held(ledger, batch.host, batch.stream)
        known = _compare(taking, batch, held, good)
        _check_dropped(ledger, batch, events)
        for at in range(0, len(good), BATCH):
            outcomes += taking.take(good[at : at + BATCH])
        _drop(ledger, batch)
        if known:
            return Taken("replayed", batch.cursor, outcomes, taking.closed)
        with ledger.unit():
            ledger.checkpoints.advance(
                batch.host, stream, batch.cursor,
                previous=None if held is None else held.number, events=len(good),
            )  # fmt: skip
        return Taken("advanced", batch.cursor, outcomes, taking.closed)


def _foreseen(session: "Session", batch: Batch, events: "list[Event | Outcome]") -> Taken:
    with session.workspace().planning() as ledger:
        taking = Taking(ledger, batch.host)
        outcomes = [item for item in events if isinstance(item, Outcome)]
        good = [item for item in events if isinstance(item, Event)]
        _, held = _held(ledger, batch.host, batch.stream)
        known = _compare(taking, batch, held, good)
        _check_dropped(ledger, batch, events)
        outcomes += taking.foresee(good)
    return Taken("replayed" if known else "planned", batch.cursor, outcomes)


def cursor_of(session: "Session", host: str, stream: str) -> str | None:
    """Return how far a host's stream was taken in; null where nothing was."""
    return _followed(session, host, stream)[0]


def _followed(
    session: "Session", host: str, stream: str
) -> tuple[str | None, Callable[[str], str]]:
    """Return a stream's cursor, and what gives a plain one the form that this one is kept in."""
    from muniment.store import manifest

    workspace = session.workspace()
    state = manifest.state_of(workspace.root)
    if state is manifest.RootState.UNINITIALIZED:
        return None, str
    with workspace.planning() as ledger:
        name, held = _held(ledger, host, stream)
        kept = str if name == stream else partial(keyed_cursor, ledger.tombstones)
    return None if held is None else held.text, kept


def _held(ledger: "Ledger", host: str, stream: str) -> "tuple[str, Cursor | None]":
    """Return the name that a stream is kept under, and its cursor: a forget takes plain names."""
    if ledger.tombstones.any():
        name = keyed_stream(ledger.tombstones, host, stream)
        held = ledger.checkpoints.cursor(host, name)
        if held is not None:
            return name, held
    return stream, ledger.checkpoints.cursor(host, stream)


def _compare(
    taking: Taking, batch: Batch, held: "Cursor | None", events: Sequence[Event]
) -> bool:  # fmt: skip
    """Tell whether the batch is a replay of one that is in; refuse it when others were quicker.

    A replay is sent as it was: it counts from where the batch did, and brings nothing new.
    """
    now_at = None if held is None else held.text
    if held is not None and now_at == batch.cursor:
        if batch.expected in (now_at, held.previous) and not _bring_new(taking, events):
            return True
    elif now_at == batch.expected:
        return False
    raise StateError(
        "another writer has moved the cursor of this stream",
        code="cursor_conflict",
        hint="read the cursor again with: muniment host-ingest HOST --stream ID --show",
    )


def _bring_new(taking: Taking, events: Sequence[Event]) -> bool:
    return any(one.status in {"appended", "fragment"} for one in taking.foresee(events))


def _checked(batch: Batch) -> Iterator[Event | Outcome]:
    for number, fields in enumerate(batch.lines, 1):
        try:
            yield read_event(fields, batch.session)
        except UsageError as error:
            event = fields.get("event_id")
            name = event if isinstance(event, str) else None
            yield Outcome(name, None, "failed", None, error.code, error.message, number)


def _check_dropped(ledger: "Ledger", batch: Batch, events: "list[Event | Outcome]") -> None:
    """Raise ``UsageError`` for an unknown last dropped event, before anything is taken in."""
    name = batch.dropped_through
    if name is None or name in {one.event_id for one in events if isinstance(one, Event)}:
        return
    if ledger.sessions.event(name) is None and not ledger.tombstones.blocks("event", name):
        raise UsageError(f"no event {name!r} to drop turns up to", code="bad_event")


def _drop(ledger: "Ledger", batch: Batch) -> None:
    """Note what the host dropped; of an event that was erased there is nothing to note."""
    event = ledger.sessions.event(batch.dropped_through) if batch.dropped_through else None
    number = None if event is None else ledger.sessions.number(event.session)
    if event is not None and number is not None:
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
        raise UsageError(
            f"the transcript can't be read: {error.strerror}", code="unreadable", path=str(path)
        ) from error
    stream = os.fsencode(path.absolute()).decode("utf-8", "backslashreplace")[-LABEL_CHARACTERS:]
    held, kept = _followed(session, host, stream)
    known = data[: _size(held)]
    start = len(known) if held == kept(_cursor(known)) else 0
    end = data.rfind(b"\n") + 1
    lines = data[start:end].decode("utf-8", "replace").split("\n") if end > start else []
    cursor = kept(_cursor(data[: max(start, end)]))
    return Batch(
        host, stream, list(read(lines)), cursor, held,
        session=storable(path.stem)[:LABEL_CHARACTERS],
    )  # fmt: skip


def _cursor(data: bytes) -> str:
    said = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return json.dumps(said, sort_keys=True)


def _size(cursor: str | None) -> int:
    try:
        return max(0, int(json.loads(cursor or "null")["bytes"]))
    except (ValueError, TypeError, KeyError):
        return 0
