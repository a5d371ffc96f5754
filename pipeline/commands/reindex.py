"""``muniment reindex``."""

import click

from muniment.pipeline.options import Session, command, engine_options


@command("reindex")
@click.option("--embeddings", is_flag=True, help="Compute every vector again, too.")
@click.option("--no-embeddings", is_flag=True, help="Leave vectors that are missing out.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be indexed; write nothing.")
@click.option("--drop", is_flag=True, help="Only drop the index; what needs it makes it again.")
@engine_options
def reindex(
    session: Session, embeddings: bool, no_embeddings: bool, dry_run: bool, drop: bool,
    **engine: str | None,
) -> None:  # fmt: skip
    """Rebuild the search index beside the live one and swap it in."""
    from muniment.pipeline.flow import drop_index, rebuild_index

    session.add(engine)
    if dry_run:
        _plan(session)
        return
    if drop:
        drop_index(session)
        session.output.report({"dropped": True}, "dropped the index")
        return
    document = rebuild_index(session, anew=embeddings, embed=not no_embeddings)
    said = ", ".join(f"{value} {name}" for name, value in document.items() if value)
    session.output.report(document, f"rebuilt the index: {said or 'nothing to index'}")


def _plan(session: Session) -> None:
    """Count what would go into the index, by kind."""
    from muniment.pipeline.stages.follow import indexable
    from muniment.store import manifest

    manifest.require(session.workspace().root)
    with session.workspace().planning() as ledger:
        document = {**indexable(ledger), "dry_run": True}
    said = ", ".join(f"{value} {name}" for name, value in document.items() if name != "dry_run")
    session.output.report(document, f"would index {said}")
