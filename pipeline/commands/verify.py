"""``muniment verify``."""

import click

from muniment.pipeline.options import Session, command
from muniment.store.errors import ExitCode


@command("verify")
@click.option("--sample", metavar="n/t|x%", help="Re-hash a part of the assets only.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="Stop re-hashing after this long.",
)
def verify(session: Session, sample: str | None, time_limit: float | None) -> int:  # fmt: skip
    """Re-hash assets and check that everything holds together."""
    from muniment.pipeline.output import printable
    from muniment.store import manifest
    from muniment.store.verify import verify as verify_scope

    workspace = session.workspace()
    with manifest.shared(workspace.root, session.settings["lock_wait"]):
        report = verify_scope(workspace.root, workspace.scope, sample=sample, time_limit=time_limit)
    document = report.as_dict()
    lines = [f"{finding['code']}: {finding['message']}" for finding in document["findings"]]
    lines.append("damage found" if report.damaged else "all good")
    session.output.answer(document, printable("\n".join(lines)))
    return int(ExitCode.DAMAGE if report.damaged else ExitCode.DONE)
