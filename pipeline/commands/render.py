"""``muniment render``."""

import os
from pathlib import Path

import click

from muniment.pipeline.options import Session, command


@command("render")
@click.argument("folder", metavar="DIR")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be written; write nothing.")
def render(session: Session, folder: str, dry_run: bool) -> None:
    """Write memory as Markdown pages for people into DIR.

    Profile, tasks, people, timeline and episodes by month. They are made anew each time: pages
    that a change has emptied go, other files in DIR are left alone.
    """
    from muniment.pipeline.memory.projections import pages
    from muniment.pipeline.rendering import write_pages

    target = Path(os.path.abspath(folder))  # noqa: PTH100 (links stay as they were given)
    with session.workspace().reading() as ledger, ledger.snapshot():
        written = write_pages(target, session.workspace().root.path, pages(ledger), dry_run)
    status = ("planned" if dry_run else "done") if written.changed else "unchanged"
    document = {
        "status": status,
        "folder": str(target),
        "written": written.written,
        "unchanged": written.same,
        "removed": written.removed,
    }
    said = f"{len(written.written)} pages written, {len(written.removed)} removed"
    session.output.answer(document, f"{status}: {said}, {len(written.same)} as they were")
