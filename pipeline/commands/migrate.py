"""``muniment migrate``."""

from muniment.pipeline.options import Session, command, dry_run_option


@command("migrate")
@dry_run_option
def migrate(session: Session, dry_run: bool) -> None:
    """Bring the store to the current schema, keeping a copy of each ledger.

    A migration that was cut short is taken up again. A newer schema is refused.
    """
    from muniment.store.migrating import migrate as bring_up

    document = bring_up(
        session.workspace().root, wait_seconds=session.settings["lock_wait"], dry_run=dry_run
    )
    verb = "would bring" if dry_run else "brought"
    lines = [
        f"{verb} {one['path']} from schema {one['from']} to {one['to']}; the copy is {one['copy']}"
        for one in document["files"]
        if one["steps"]
    ]
    session.output.report(document, "\n".join(lines) or "everything is at the current schema")
