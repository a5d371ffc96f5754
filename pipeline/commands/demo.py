"""``muniment demo``."""

import click

from muniment.pipeline.options import Session, command


@command("demo")
@click.option("--keep", metavar="DIR", help="Keep the demo's store there.")
def demo(session: Session, keep: str | None) -> int:
    """Ingest the bundled samples and recall from them, offline."""
    from tempfile import TemporaryDirectory

    from muniment.pipeline.demonstration import demonstrate

    session.add({"offline": True})
    if keep is not None:
        return demonstrate(session, keep)
    with TemporaryDirectory(prefix="muniment-demo-") as folder:
        return demonstrate(session, f"{folder}/root")
