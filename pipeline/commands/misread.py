"""``muniment misread``: evidence that a reader got wrong."""

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option


@command("misread")
@click.argument("ref", shell_complete=completes("observation"))
@click.option("--text", help="What it says; cited from the same place.")
@click.option("--undo", is_flag=True, help="It was read rightly after all.")
@click.option("--reason", default="misread", show_default=True, help="Kept with it.")
@dry_run_option
def misread(
    session: Session, ref: str, text: str | None, undo: bool, reason: str, dry_run: bool
) -> None:
    """Say that an observation was misread: it is kept, marked, and no longer answers.

    REF is observation:obs_... as recall and list show it. Records that rest on nothing else no
    longer answer either; nothing is taken from the history.
    """
    from muniment.pipeline.memory import misreading
    from muniment.pipeline.refs import resolve

    if undo and text is not None:
        raise click.UsageError("--undo takes the mark back, and needs no --text")
    correction = None
    with session.workspace().changing(dry_run=dry_run) as ledger:
        found = resolve(ledger, ref)
        if found.kind != "observation":
            raise click.UsageError(f"{ref} is no observation; name one (observation:obs_...)")
        row = misreading.find(ledger, found.id)
        changed = misreading.would_change(ledger, row, text, undo=undo)
        if changed and not dry_run:
            with ledger.unit():
                if undo:
                    misreading.lift(ledger, row, reason)
                else:
                    correction = misreading.mark(ledger, row, text, reason)
    done = "lifted" if undo else "marked"
    status = "unchanged" if not changed else "planned" if dry_run else done
    document = {
        "status": status,
        "observation": f"observation:{found.id}",
        "correction": None if correction is None else f"observation:{correction}",
    }
    right = f", corrected by {document['correction']}" if correction else ""
    session.output.answer(document, f"{status}: {document['observation']}{right}")
