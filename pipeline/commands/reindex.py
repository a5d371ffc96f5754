"""``muniment reindex``."""

import click

from muniment.pipeline.options import Session, command


@command("reindex")
@click.option("--embeddings", is_flag=True, help="Compute every vector again, too.")
@click.option("--no-embeddings", is_flag=True, help="Leave vectors that are missing out.")
def reindex(session: Session, embeddings: bool, no_embeddings: bool) -> None:
    """Rebuild the search index beside the live one and swap it in."""
    from muniment.pipeline.flow import rebuild_index

    document = rebuild_index(session, anew=embeddings, embed=not no_embeddings)
    said = ", ".join(f"{value} {name}" for name, value in document.items() if value)
    session.output.report(document, f"rebuilt the index: {said or 'nothing to index'}")
