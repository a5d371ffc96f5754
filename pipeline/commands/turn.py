"""``muniment turn prepare|complete``."""

import sys
from typing import TYPE_CHECKING

import click

from muniment.pipeline.commands.session import TakingIn, named
from muniment.pipeline.options import Session, command, group

if TYPE_CHECKING:
    from muniment.pipeline.agent.proposing import Proposal


@command("prepare")
@click.argument("query")
@click.option("--token-budget", type=int, default=2_000, help="Ceiling of both (at least 512).")
def prepare(session: Session, query: str, token_budget: int) -> None:
    """Give pack and resume context under one budget, before a reply in --session.

    QUERY is what the user said; - reads it from standard input.
    """
    from muniment.pipeline.agent.turns import prepare_turn

    said = sys.stdin.read() if query == "-" else query
    document, markdown = prepare_turn(
        session, named(session, None), said, {"token_budget": token_budget}
    )
    session.output.answer(document, markdown)


@command("complete")
@click.argument("events", metavar="-")
@click.option("--host", metavar="TAG", help="Tag of the program that hosts the session.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be kept; write nothing.")
def complete(session: Session, events: str, host: str | None, dry_run: bool) -> int:
    """Take the events of a turn in, after a reply, and let proposers read them.

    - reads a JSON object a line: events as session append takes them, and {"proposal": {"text",
    "quote", "ref", ...}} for what the agent would remember; those wait for approval. Each line has
    its own outcome: one that can't be kept is told and keeps no other from going in.
    """
    from muniment.pipeline.agent.proposing import Proposed, read_proposal
    from muniment.store.errors import UsageError

    if events != "-":
        raise UsageError("the events of a turn come as JSON lines on stdin", hint="give -")
    lines: list[bytes] = []
    proposals: dict[int, Proposal | Proposed] = {}
    for number, line in enumerate(sys.stdin.buffer.read().split(b"\n"), 1):
        try:
            proposal = read_proposal(line)
        except UsageError as error:
            proposals[number] = Proposed.failed(None, error)
        else:
            if proposal is not None:
                proposals[number] = proposal
        lines.append(b"" if number in proposals else line)  # the others keep their numbers
    return TakingIn(session, host, dry_run=dry_run).turn(lines, proposals)


turn = group(
    "turn",
    {"prepare": prepare, "complete": complete},
    "Prepare a turn before a reply and complete it after.",
)
