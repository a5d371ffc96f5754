"""``muniment verify``."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.repositories import SAMPLE, time_limit, verdict
from muniment.store.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from muniment.store.verify import Report


@command("verify")
@click.option(
    "--sample", metavar=SAMPLE, help="Re-hash a part of the assets only: 2/7, 5% or 500M."
)
@time_limit
@click.option("--repair", is_flag=True, help="Mend what can be mended without a doubt.")
@click.option(
    "--from", "backup", metavar="DEST", help="Take lost bytes from this backup repository, too."
)
@click.option("-n", "--dry-run", is_flag=True, help="Say what --repair would do; write nothing.")
def verify(session: Session, repair: bool, backup: str | None, dry_run: bool, **asked: Any) -> int:
    """Re-hash assets and check that everything holds together."""
    if repair:
        return _repair(session, backup, dry_run=dry_run)
    if backup is not None or dry_run:
        raise UsageError("--from and --dry-run belong to --repair")
    from muniment.store import manifest
    from muniment.store.verify import verify as verify_scope

    workspace = session.workspace()
    with manifest.shared(workspace.root, session.settings["lock_wait"]):
        report = verify_scope(workspace.root, workspace.scope, **asked)
    return _answer(session, report.as_dict(), report, [])


def _repair(session: Session, backup: str | None, *, dry_run: bool) -> int:
    from muniment.pipeline.mending import mend

    repairs, report = mend(session, backup, dry_run=dry_run)
    verb = "would mend" if dry_run else "mended"
    lines = [f"{verb}: {kind.replace('_', ' ')}: {count}" for kind, count in
             sorted(repairs["done"].items())]  # fmt: skip
    lines += [f"not mended: {asset}" for asset in repairs["left"]]
    document = {**report.as_dict(), "repairs": repairs, "dry_run": dry_run}
    return _answer(session, document, report, lines or ["nothing to mend"])


def _answer(session: Session, document: dict[str, Any], report: "Report", lines: list[str]) -> int:
    from muniment.pipeline.output import printable

    lines += [f"{finding.code}: {finding.ref}: {finding.message} - {finding.hint}"
              for finding in report.findings]  # fmt: skip
    lines.append(verdict(report.damaged, report.complete))
    session.output.report(document, printable("\n".join(lines)), well=not report.damaged)
    return int(ExitCode.DAMAGE if report.damaged else ExitCode.DONE)
