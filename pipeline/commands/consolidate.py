"""``muniment consolidate``."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger


@command("consolidate")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would change; write nothing.")
def consolidate(session: Session, dry_run: bool) -> None:
    """Archive what has faded, close what has ended, merge what says the same.

    What the user said, approved or pinned is never archived by itself. Nothing is deleted. Where
    [models.chat] names a model, it is asked about records that are near each other; what it says
    waits under conflicts proposals, and changes nothing by itself.
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
        reviewed = _review(session, ledger, dry_run)
    by_action = {
        done: [step.ref for step in steps if step.action == action]
        for action, done in (
            ("supersede", "superseded"), ("archive", "archived"), ("merge", "merged")
        )
    }  # fmt: skip
    status = ("planned" if dry_run else "done") if steps else "unchanged"
    document = {"status": status, **by_action, "resumed": resumed, "review": reviewed}
    would = "would be " if dry_run else ""
    lines = [f"{would}{name}: {ref}" for name, refs in by_action.items() for ref in refs]
    lines += [f"{resumed} changes of an interrupted run were finished"] if resumed else []
    lines += _told(reviewed)
    session.output.answer(document, "\n".join(lines) or "nothing to consolidate")


def _review(session: Session, ledger: "Ledger", dry_run: bool) -> dict[str, Any] | None:
    """Ask the configured model about near records; null where none is configured or allowed."""
    from muniment.adapters import registry
    from muniment.pipeline.flow import models_of

    models = models_of(session)
    spec = registry.model_spec("chat", models)
    if spec is None or (spec.remote and models.offline):
        return None
    from muniment.pipeline.memory import pairing

    if dry_run:
        return {"pairs": len(pairing.near(ledger)), "proposed": [], "failed": None}
    done = pairing.review(ledger, lambda audit: registry.model("chat", models, audit))
    proposed = [
        {"one": f"record:{one}", "other": f"record:{other}", "verdict": verdict}
        for one, other, verdict in done.proposed
    ]
    return {"pairs": done.asked, "proposed": proposed, "failed": done.failed}


def _told(reviewed: dict[str, Any] | None) -> list[str]:
    if reviewed is None:
        return []
    lines = [
        f"may be {one['verdict']}: {one['one']} {one['other']}" for one in reviewed["proposed"]
    ]
    if lines:
        lines.append("settle them: muniment conflicts proposals")
    if reviewed["failed"]:
        lines.append(f"the model could not be asked ({reviewed['failed']}); nothing was changed")
    return lines
