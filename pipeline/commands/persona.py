"""``muniment persona show|set|rollback``."""

import sys

import click

from muniment.pipeline.options import Session, command, group


@command("show")
@click.option("--version", type=click.IntRange(min=1), help="An older version.")
def show(session: Session, version: int | None) -> None:
    """Show the persona of the user, and which versions there are."""
    from muniment.pipeline.agent.personas import current
    from muniment.pipeline.output import printable

    found = current(session, version)
    head = "no persona; the neutral one" if found["default"] else f"version {found['version']}"
    session.output.answer(found, printable(f"{head}:\n{found['text']}"))


@command("set")
@click.argument("text")
@click.option("--reason", default="set", help="Why, for the history.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would change; write nothing.")
def set_persona(session: Session, text: str, reason: str, dry_run: bool) -> None:
    """Append a version with TEXT; - reads it from standard input."""
    from muniment.pipeline.agent.personas import MOST_CHARACTERS, current
    from muniment.store import personas
    from muniment.store.errors import UsageError

    said = (sys.stdin.read() if text == "-" else text).strip()
    if not said or len(said) > MOST_CHARACTERS:
        raise UsageError(f"a persona has 1 to {MOST_CHARACTERS} characters", code="bad_persona")
    workspace = session.workspace()
    if dry_run:
        _answer(session, current(session)["text"] != said, dry_run=True)
        return
    wait = session.settings["lock_wait"]
    with personas.writing(workspace.root, workspace.scope, wait) as held:
        changed = held.add(said, actor=session.settings["agent"] or "user", reason=reason)
    _answer(session, changed)


@command("rollback")
@click.argument("version", type=click.IntRange(min=1))
@click.option("-n", "--dry-run", is_flag=True, help="Say what would change; write nothing.")
def rollback(session: Session, version: int, dry_run: bool) -> None:
    """Append a version with the text of an older one."""
    from muniment.pipeline.agent.personas import current
    from muniment.store import personas

    workspace = session.workspace()
    wanted = current(session, version)  # a version that is not there makes nothing
    if dry_run:
        _answer(session, current(session)["text"] != wanted["text"], dry_run=True)
        return
    wait = session.settings["lock_wait"]
    with personas.writing(workspace.root, workspace.scope, wait) as held:
        changed = held.roll_back(version, actor=session.settings["agent"] or "user")
    _answer(session, changed)


def _answer(session: Session, changed: bool, *, dry_run: bool = False) -> None:
    from muniment.pipeline.agent.personas import current

    found = current(session)
    status = "known" if not changed else "planned" if dry_run else "created"
    told = {"known": "nothing changed", "planned": "would change", "created": "changed"}[status]
    session.output.answer(
        {"status": status, "version": found["version"]}, f"{told}: version {found['version']}"
    )


persona = group(
    "persona",
    {"show": show, "set": set_persona, "rollback": rollback},
    "Show, set and roll back the persona of the user.",
)
