"""``muniment session append|show|resume|end``."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command, group

if TYPE_CHECKING:
    from muniment.pipeline.agent.appending import Outcome
    from muniment.pipeline.agent.events import Event

BATCH = 256


@command("append")
@click.argument("text")
@click.option(
    "--role",
    type=click.Choice(["user", "assistant", "tool", "system"]),
    default="user",
    help="Who said TEXT.",
)
@click.option("--event-id", metavar="ID", help="Id of TEXT; said again under it, it is known.")
@click.option("--occurred-at", metavar="TIME", help="When TEXT was said (ISO 8601).")
@click.option("--category", metavar="LABEL", help="Any label, such as voice_fragment.")
@click.option("--author", metavar="NAME", help="Who said TEXT, by name.")
@click.option("--host", metavar="TAG", help="Tag of the program that hosts the session.")
@click.option("--no-proposals", is_flag=True, help="Leave proposals to a later run.")
def append(session: Session, text: str, host: str | None, no_proposals: bool, **asked: Any) -> int:
    """Append events to a session; each commits before any model runs.

    TEXT is one message; - reads a JSON object a line: event_id, role, text, and occurred_at,
    category, source, author, session, final.
    """
    return take_in(session, text, asked, host=host, proposals=not no_proposals)


def take_in(
    session: Session, text: str, asked: dict[str, Any], *, host: str | None, proposals: bool
) -> int:
    """Commit what was said, let proposers read it, and say what became of it."""
    from muniment.pipeline.agent.appending import follow_up

    lines = _lines(session, text, asked)
    outcomes, closed = _append(session, lines, host)
    done = any(outcome.status in {"appended", "known"} for outcome in outcomes)
    proposed = {"candidates": 0, "records": 0, "pending": None if proposals else "skipped"}
    if done and proposals:
        proposed = follow_up(session)
    return _answer(session, outcomes, closed, proposed)


def _lines(
    session: Session, text: str, asked: dict[str, Any]
) -> "Iterator[tuple[int, Event | Outcome]]":
    """Yield each event, or why a line is none."""
    from muniment.pipeline.agent.appending import Outcome
    from muniment.pipeline.agent.events import read_event, read_line
    from muniment.store.errors import UsageError
    from muniment.store.ids import made
    from muniment.store.times import now

    own = session.settings["session"]
    if text != "-":
        event_id = asked.pop("event_id") or made("evt", own, text, now())
        yield 1, read_event({**asked, "event_id": event_id, "text": text}, own)
        return
    for number, line in enumerate(sys.stdin, 1):
        if not line.strip("\ufeff \t\r\n"):
            continue
        try:
            yield number, read_line(line.lstrip("\ufeff"), own)
        except UsageError as error:
            yield number, Outcome(None, None, "failed", None, error.code, error.message, number)


def _append(
    session: Session, lines: "Iterator[tuple[int, Event | Outcome]]", host: str | None
) -> "tuple[list[Outcome], list[str]]":
    """Commit in batches; a stream that pauses is committed up to there."""
    from muniment.pipeline.agent.appending import Outcome
    from muniment.pipeline.agent.appending import append as take

    outcomes: list[Outcome] = []
    closed: list[str] = []
    batch: list[tuple[int, Event]] = []

    def flush() -> None:
        if batch:
            taken, ended = take(session, [event for _, event in batch], host=host)
            for (number, _), outcome in zip(batch, taken, strict=True):
                outcome.line = number
            outcomes.extend(taken)
            closed.extend(ended)
            batch.clear()

    for number, item in lines:
        if isinstance(item, Outcome):
            outcomes.append(item)
            continue
        batch.append((number, item))
        if len(batch) >= BATCH or not _more_at_hand():
            flush()
    flush()
    return outcomes, closed


def _more_at_hand() -> bool:
    """Tell whether standard input holds more without waiting for it."""
    import select

    try:
        return bool(select.select([sys.stdin], [], [], 0)[0])
    except (OSError, ValueError, TypeError):  # not a stream that can be waited for
        return True


def _answer(
    session: Session, outcomes: "list[Outcome]", closed: list[str], proposed: dict[str, Any]
) -> int:
    from collections import Counter

    from muniment.store.errors import ExitCode

    counts = Counter(outcome.status for outcome in outcomes)
    told = sorted(outcomes, key=lambda outcome: outcome.line or 0)
    document = {
        **{name: counts[name] for name in ("appended", "known", "fragment", "forgotten")},
        "sessions": list(dict.fromkeys(o.session for o in told if o.session)),
        "closed": closed,
        "events": [outcome.as_dict() for outcome in told if outcome.status != "failed"],
        "failed": [outcome.as_dict() for outcome in told if outcome.status == "failed"],
        **proposed,
    }
    lines = [f"{count} {status}" for status, count in counts.items()]
    for outcome in told:
        if outcome.status == "failed":
            session.output.warn(f"line {outcome.line}: {outcome.message} ({outcome.code})")
    session.output.answer(document, ", ".join(lines) or "nothing to append")
    if not counts["failed"]:
        return int(ExitCode.DONE)
    usable = len(outcomes) > counts["failed"]
    return int(ExitCode.PARTIAL if usable else ExitCode.FAILED)


@command("show")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Messages to leave out.")
@click.option("--limit", type=click.IntRange(min=1), default=100, help="Messages to show.")
def show(session: Session, session_id: str | None, offset: int, limit: int) -> None:
    """Show a session: its title, gist, state and messages.

    ID may also be given by --session.
    """
    from muniment.pipeline.agent.sessions import document
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        found = document(ledger, named(session, session_id), offset=offset, limit=limit)
    lines = [f"{found['id']}  {found['status']}  {found['title'] or '-'}"]
    lines += [f"gist: {found['gist']}"] if found["gist"] else []
    for event in found["events"]:
        lines.append(f"{event['time'] or '-'}  {event['role'] or '-'}: {event['text']}")
    lines += [f"… {fragment['text']}" for fragment in found["working"]]
    session.output.answer(found, printable("\n".join(lines)))


@command("resume")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("--token-budget", type=int, default=2_000, help="Ceiling (at least 256).")
@click.option("--query", metavar="TEXT", help="What to recall by; the task or last words if none.")
def resume(session: Session, session_id: str | None, token_budget: int, query: str | None) -> None:
    """Give the context to go on with: persona, checkpoint, memories, recent events.

    Whole components in that order while they fit; those left out are named.
    """
    from muniment.pipeline.agent.resuming import resume as context

    document, markdown = context(
        session, named(session, session_id), token_budget=token_budget, query=query
    )
    session.output.answer(document, markdown)


@command("end")
@click.argument("session_id", metavar="[ID]", required=False)
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be ended; write nothing.")
def end(session: Session, session_id: str | None, dry_run: bool) -> None:
    """End a session and show its gist."""
    from muniment.pipeline.agent.sessions import document, found

    name = named(session, session_id)
    workspace = session.workspace()
    if dry_run:
        with workspace.reading() as ledger:
            open_ = found(ledger, name)["status"] == "open"
        answer = {"session": name, "status": "planned" if open_ else "known", "gist": None}
        session.output.answer(answer, f"would end {name}" if open_ else f"ended already: {name}")
        return
    with workspace.reading() as ledger:  # a name that is not there makes nothing
        found(ledger, name)
    with workspace.writing() as ledger:
        with ledger.unit():
            changed = ledger.sessions.end(found(ledger, name)["seq"], "host")
        state = document(ledger, name)
    answer = {
        "session": name,
        "status": "ended" if changed else "known",
        **{key: state[key] for key in ("title", "gist", "gist_basis", "messages")},
    }
    told = "ended" if changed else "ended already"
    session.output.answer(answer, f"{told}: {name}\n{state['gist']}".rstrip())


def named(session: Session, given: str | None) -> str:
    """Return the session that an argument, else ``--session`` names. Raises ``UsageError``."""
    from muniment.store.errors import UsageError

    name = given or session.settings["session"]
    if not name:
        raise UsageError("no session was named", hint="give its id, or --session ID")
    return str(name)


session = group(
    "session",
    {"append": append, "show": show, "resume": resume, "end": end},
    "Append to sessions, show, resume and end them.",
)
