"""``muniment checkpoint save|show``."""

import sys
from typing import Any

import click

from muniment.pipeline.options import Session, command, group


@command("save")
@click.argument("document", metavar="[-]", required=False)
@click.option("--goal", help="What the task is for.")
@click.option("--done", multiple=True, help="What is done (may be repeated).")
@click.option("--pending", multiple=True, help="What is left (may be repeated).")
@click.option("--constraint", "constraints", multiple=True, help="What binds it (may be repeated).")
@click.option("--next-action", help="What comes next.")
@click.option("--last-event", metavar="ID", help="The last event that it covers.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be saved; write nothing.")
def save(session: Session, document: str | None, dry_run: bool, **asked: Any) -> None:
    """Save the state of a task in --session.

    - reads one JSON object with the fields of the options instead.
    """
    import json

    from muniment.pipeline.agent.checkpoints import read_checkpoint
    from muniment.pipeline.agent.checkpoints import save as keep
    from muniment.pipeline.commands.session import named
    from muniment.pipeline.output import printable
    from muniment.store.errors import UsageError

    fields: Any = {name: value for name, value in asked.items() if value not in (None, ())}
    if document is not None:
        if document != "-":
            raise UsageError("give - for a JSON object on stdin, or the options")
        try:
            fields = json.loads(sys.stdin.read())
        except (ValueError, RecursionError):
            raise UsageError("the checkpoint is not JSON", code="bad_checkpoint") from None
    checkpoint = read_checkpoint(fields)
    named_session = named(session, session.settings["session"] or checkpoint.session)
    answer = keep(session, named_session, checkpoint, dry_run=dry_run)
    told = {"created": "saved", "known": "already saved", "planned": "would save"}
    lines = f"{told[answer['status']]}: {answer['checkpoint'] or checkpoint.goal}"
    session.output.answer(answer, printable(lines))


@command("show")
@click.argument("session_id", metavar="[SESSION]", required=False)
def show(session: Session, session_id: str | None) -> None:
    """Show the newest checkpoint of a session and whether it still holds."""
    from muniment.pipeline.agent.checkpoints import show as find
    from muniment.pipeline.commands.session import named
    from muniment.pipeline.output import printable

    found = find(session, named(session, session_id))
    lines = [f"{found['id']}  {found['status']}  {found['at']}", f"goal: {found['goal']}"]
    for name in ("done", "pending", "constraints"):
        lines += [f"{name}: {text}" for text in found[name]]
    lines += [f"next: {found['next_action']}"] if found["next_action"] else []
    session.output.answer(found, printable("\n".join(lines)))


checkpoint = group("checkpoint", {"save": save, "show": show}, "Save and show the state of a task.")
