"""``muniment session append|show|resume|end``."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, group

if TYPE_CHECKING:
    from muniment.pipeline.agent.appending import Outcome
    from muniment.pipeline.agent.events import Event
    from muniment.pipeline.agent.proposing import Proposal, Proposed

CHUNK_BYTES = 1024 * 1024


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
@click.option("--jsonl", is_flag=True, help="A line for each event once it is kept, summary last.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be kept; write nothing.")
def append(session: Session, text: str, host: str | None, no_proposals: bool, **asked: Any) -> int:
    """Append events to a session; each commits before any model runs.

    TEXT is one message; - reads a JSON object a line: event_id, role, text, and occurred_at,
    category, source, author, session, final.
    """
    how = {name: asked.pop(name) for name in ("jsonl", "dry_run")}
    taking = TakingIn(session, host, proposals=not no_proposals, **how)
    return taking.stream() if text == "-" else taking.one(text, asked)


class TakingIn:
    """Commits what was said, lets proposers read it, and says what became of it."""

    def __init__(
        self, session: Session, host: str | None, *, proposals: bool = True, jsonl: bool = False,
        dry_run: bool = False,
    ) -> None:  # fmt: skip
        self._session = session
        self._host = host
        self._proposals = proposals and not dry_run
        self._dry_run = dry_run
        self._jsonl = jsonl
        self._outcomes: list[Outcome] = []
        self._closed: list[str] = []
        self._proposed: list[Proposed] = []

    def one(self, text: str, asked: dict[str, Any]) -> int:
        """Take one message in."""
        from muniment.pipeline.agent.events import read_event
        from muniment.store.ids import made
        from muniment.store.times import now

        own = self._session.settings["session"]
        event_id = asked["event_id"] or made("evt", own, text, now())
        self._keep([(1, read_event({**asked, "event_id": event_id, "text": text}, own))])
        return self._finish()

    def stream(self) -> int:
        """Take standard input in; what has arrived is committed before more is waited for."""
        number = 0
        for lines in _arriving():
            self._keep(self._read(lines, number))
            number += len(lines)
        return self._finish()

    def turn(self, lines: list[bytes], proposals: "dict[int, Proposal | Proposed]") -> int:
        """Take the events of a turn in, then what the agent proposes to remember of them.

        Proposals come by the numbers of their lines, those that are none as what is told of them.
        """
        from muniment.pipeline.agent.appending import Outcome
        from muniment.pipeline.agent.proposing import Proposed, foresee, propose_of_turn

        items = self._read(lines, 0)
        self._keep(items)
        good = [one for one in proposals.values() if not isinstance(one, Proposed)]
        if self._dry_run:
            events = [event for _, event in items if not isinstance(event, Outcome)]
            made = foresee(self._session, good, {one.event_id: one.text for one in events})
        else:
            made = propose_of_turn(self._session, good)
        done = iter(made)
        for number, one in proposals.items():
            outcome = one if isinstance(one, Proposed) else next(done)
            outcome.line = number
            self._proposed.append(outcome)
        return self._finish({"proposals": [one.as_dict() for one in self._proposed]})

    def _read(self, lines: list[bytes], before: int) -> "list[tuple[int, Event | Outcome]]":
        from muniment.pipeline.agent.appending import Outcome
        from muniment.pipeline.agent.events import named_in, read_line
        from muniment.store.errors import UsageError

        found: list[tuple[int, Event | Outcome]] = []
        for number, line in enumerate(lines, before + 1):
            if not line.strip(b"\xef\xbb\xbf \t\r\n"):
                continue
            try:
                found.append((number, read_line(line, self._session.settings["session"])))
            except UsageError as error:
                told = (error.code, error.message)
                found.append((number, Outcome(named_in(line), None, "failed", None, *told)))
        return found

    def _keep(self, items: "list[tuple[int, Event | Outcome]]") -> None:
        """Commit the events of a batch at once, in their order."""
        from muniment.pipeline.agent.appending import Outcome
        from muniment.pipeline.agent.appending import append as take
        from muniment.pipeline.output import to_json, write

        events = [item for _, item in items if not isinstance(item, Outcome)]
        taken, closed = (
            take(self._session, events, host=self._host, dry_run=self._dry_run)
            if events
            else ([], [])
        )
        done = iter(taken)
        for number, item in items:
            outcome = item if isinstance(item, Outcome) else next(done)
            outcome.line = number
            self._outcomes.append(outcome)
            if self._jsonl:
                write(sys.stdout, to_json(outcome.as_dict()) + "\n")
        self._closed += closed

    def _finish(self, more: dict[str, Any] | None = None) -> int:
        from muniment.pipeline.agent.appending import follow_up

        done = any(outcome.status in {"appended", "known"} for outcome in self._outcomes)
        proposed = {
            "candidates": 0,
            "records": 0,
            "pending": None if self._proposals else "skipped",
        }
        if done and self._proposals:
            proposed = follow_up(self._session)
        proposed |= {**(more or {}), "dry_run": self._dry_run}
        told: list[Outcome | Proposed] = [*self._outcomes, *self._proposed]
        code = _code_of(self._session, told)
        _answer(self._session, self._outcomes, self._closed, proposed, jsonl=self._jsonl)
        return code


def _arriving() -> Iterator[list[bytes]]:
    """Yield the whole lines that are at hand, again and again, waiting when there are none."""
    held = b""
    read = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
    while chunk := read(CHUNK_BYTES):
        *whole, held = (held + chunk).split(b"\n")
        if whole:
            yield whole
    if held:
        yield [held]


def _code_of(session: Session, told: "list[Outcome | Proposed]") -> int:
    """Warn of each line that could not be kept; return the exit code that says so."""
    from muniment.store.errors import ExitCode

    failed = [one for one in told if one.status == "failed"]
    for one in failed:
        session.output.warn(f"line {one.line}: {one.message} ({one.code})")
    if not failed:
        return int(ExitCode.DONE)
    return int(ExitCode.PARTIAL if len(told) > len(failed) else ExitCode.FAILED)


def _answer(
    session: Session, told: "list[Outcome]", closed: list[str], proposed: dict[str, Any],
    *, jsonl: bool,
) -> None:  # fmt: skip
    from collections import Counter

    counts = Counter(outcome.status for outcome in told)
    summary = {
        **{name: counts[name] for name in ("appended", "known", "fragment", "forgotten")},
        "sessions": list(dict.fromkeys(o.session for o in told if o.session)),
        "closed": closed,
        **proposed,
    }
    lines = [f"{count} {status}" for status, count in counts.items()]
    if jsonl:
        session.output.document({"type": "summary", **summary, "failed": counts["failed"]})
    else:
        document = {
            **summary,
            "events": [outcome.as_dict() for outcome in told if outcome.status != "failed"],
            "failed": [outcome.as_dict() for outcome in told if outcome.status == "failed"],
        }
        session.output.answer(document, ", ".join(lines) or "nothing to append")


@command("show")
@click.argument("session_id", metavar="[ID]", required=False, shell_complete=completes("session"))
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Messages to leave out.")
@click.option("--limit", type=click.IntRange(min=1), default=100, help="Messages to show.")
def show(session: Session, session_id: str | None, offset: int, limit: int) -> None:
    """Show a session: its title, gist, state and messages.

    ID may also be given by --session.
    """
    from muniment.pipeline.agent.sessions import document
    from muniment.pipeline.memory.corrected import MARK
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        found = document(ledger, named(session, session_id), offset=offset, limit=limit)
    lines = [f"{' '.join(found['id'].split())}  {found['status']}  {found['title'] or '-'}"]
    lines += [f"gist: {found['gist']}"] if found["gist"] else []
    for event in found["events"]:
        mark = f" ({MARK})" if event["corrected"] else ""
        said = _indented(event["text"])
        lines.append(f"{event['time'] or '-'}  {event['role'] or '-'}: {said}{mark}")
    lines += [f"… {_indented(fragment['text'])}" for fragment in found["working"]]
    session.output.answer(found, printable("\n".join(lines)))


def _indented(text: str) -> str:
    """Return a text whose further lines can't be taken for lines of their own."""
    return "\n    ".join(text.splitlines())


@command("resume")
@click.argument("session_id", metavar="[ID]", required=False, shell_complete=completes("session"))
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
@click.argument("session_id", metavar="[ID]", required=False, shell_complete=completes("session"))
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
