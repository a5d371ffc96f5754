"""Save and show the state of a task as its host reported it."""

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, ValidationError

from muniment.pipeline.agent.events import Id, read_event
from muniment.store.errors import NotFoundError, UsageError
from muniment.store.ids import storable_value

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger

MOST_CHARACTERS = 20_000


class Checkpoint(BaseModel):
    """The state of a task: what it is for, what is done, what is left, what binds it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    goal: str
    done: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    next_action: str | None = None
    last_event: Id | None = None
    session: Id | None = None
    scope: dict[str, str] | None = None


def read_checkpoint(fields: Any) -> Checkpoint:
    """Check a checkpoint's fields. Raises ``UsageError``."""
    hint = "goal, done, pending, constraints, next_action, last_event"
    try:
        found = Checkpoint.model_validate(storable_value(fields))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{where}: {first['msg']}", code="bad_checkpoint", hint=hint) from None
    if not found.goal.strip() or len(found.model_dump_json()) > MOST_CHARACTERS:
        raise UsageError(
            f"a checkpoint has a goal and at most {MOST_CHARACTERS} characters",
            code="bad_checkpoint",
            hint=hint,
        )
    return found


def save(
    session: "Session", session_id: str, checkpoint: Checkpoint, *, dry_run: bool = False
) -> dict[str, Any]:
    """Keep a checkpoint of a session; the same one again changes nothing and says so.

    Raises ``UsageError`` when it was made for another scope or session, ``NotFoundError`` when the
    event that it names is not one of the session.
    """
    workspace = session.workspace()
    _check(checkpoint, session_id, workspace.scope.as_dict())
    read_event({"event_id": "x", "role": "user", "text": "x", "session": session_id}, None)
    kept = {"goal", "done", "pending", "constraints", "next_action"}
    state = checkpoint.model_dump(include=kept)
    if dry_run:
        with workspace.planning() as ledger:
            last = _last_event(ledger, session_id, checkpoint)
            known = ledger.checkpoints.standing(session_id, state, last)
        status = "planned" if known is None else "known"
        return {"checkpoint": known, "session": session_id, "status": status}
    agent = session.settings["agent"]
    with workspace.writing() as ledger, ledger.unit():
        last = _last_event(ledger, session_id, checkpoint)
        number = ledger.sessions.number(session_id)
        if number is None:
            number, _ = ledger.sessions.open(session_id, host=None, agent=agent)
        identity, new = ledger.checkpoints.save(number, state, last, agent)
    return {"checkpoint": identity, "session": session_id, "status": "created" if new else "known"}


def _last_event(ledger: "Ledger", session_id: str, checkpoint: Checkpoint) -> int | None:
    """Return the number of the last event that is covered; null where none was named."""
    if checkpoint.last_event is None:
        return None
    event = ledger.sessions.event(checkpoint.last_event)
    if event is None or event.session != session_id:
        raise NotFoundError(
            f"no event {checkpoint.last_event!r} in session {session_id!r}",
            hint="append the events first",
        )
    return event.seq


def show(session: "Session", session_id: str) -> dict[str, Any]:
    """Return the newest checkpoint of a session. Raises ``NotFoundError``."""
    with session.workspace().reading() as ledger:
        found = ledger.checkpoints.newest(session_id)
        if found is None:
            raise NotFoundError(
                f"session {session_id!r} has no checkpoint", hint="see: muniment list sessions"
            )
    return {**found, "scope": session.workspace().scope.as_dict()}


def _check(checkpoint: Checkpoint, session_id: str, scope: dict[str, str]) -> None:
    if checkpoint.session not in (None, session_id):
        raise UsageError(
            "the checkpoint was made for another session",
            code="session_mismatch",
            hint=f"save it with --session {checkpoint.session}",
        )
    if checkpoint.scope not in (None, scope):
        raise UsageError(
            "the checkpoint was made in another scope",
            code="scope_mismatch",
            hint="name its scope with --tenant, --user and --namespace",
        )
