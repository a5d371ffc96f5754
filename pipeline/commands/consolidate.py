"""``muniment consolidate``."""

import click

from muniment.pipeline.options import Session, command


@command("consolidate")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would change; write nothing.")
def consolidate(session: Session, dry_run: bool) -> None:
    """Archive what has faded, close what has ended, merge what says the same.

    What the user said, approved or pinned is never archived by itself. Nothing is deleted.
    """
    from muniment.pipeline.memory import consolidating
    from muniment.store.access import uses
    from muniment.store.times import now

    resumed = 0
    with session.workspace().changing(dry_run=dry_run) as ledger:
        used = uses(ledger.paths.access)
        if dry_run:
            steps = consolidating.plan(ledger, used, now())
        else:
            steps, resumed = consolidating.consolidate(ledger, used, now())
    by_action = {
        done: [step.ref for step in steps if step.action == action]
        for action, done in (
            ("supersede", "superseded"), ("archive", "archived"), ("merge", "merged")
        )
    }  # fmt: skip
    status = ("planned" if dry_run else "done") if steps else "unchanged"
    document = {"status": status, **by_action, "resumed": resumed}
    would = "would be " if dry_run else ""
    lines = [f"{would}{name}: {ref}" for name, refs in by_action.items() for ref in refs]
    lines += [f"{resumed} changes of an interrupted run were finished"] if resumed else []
    session.output.answer(document, "\n".join(lines) or "nothing to consolidate")
