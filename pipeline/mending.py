"""``verify --repair``: mend what is sure under the root alone, then look again."""

from collections.abc import Iterable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

from muniment.store import manifest
from muniment.store.ledger import Ledger
from muniment.store.repair import Fetch, repair
from muniment.store.verify import Report, verify_ledger
from muniment.store.verify import verify as verify_scope

if TYPE_CHECKING:
    from muniment.pipeline.options import Session


def mend(session: "Session", backup: str | None, *, dry_run: bool) -> tuple[dict[str, Any], Report]:
    """Repair a scope and check it whole; return what was done and what still does not hold.

    A ledger that can't be opened is reported, never replaced.
    """
    from muniment.pipeline.flow import rebuild_index
    from muniment.pipeline.forgetting.erasing import resume

    workspace = session.workspace()
    manifest.require(workspace.root)
    if dry_run:
        with ExitStack() as held:
            fetches = _fetches(held, backup)
            ledger = held.enter_context(workspace.planning())
            if not ledger.paths.ledger.exists():
                with Ledger.read(workspace.root, workspace.scope):
                    """Says that there is nothing."""
            return repair(ledger, fetches, dry_run=True).as_dict(), verify_ledger(ledger)
    with ExitStack() as held:
        fetches = _fetches(held, backup)
        held.enter_context(workspace.alone())
        ledger = held.enter_context(closing(Ledger.create(workspace.root, workspace.scope)))
        found = repair(ledger, fetches)
    if resume(session).resumed:
        found.count("forget_finished")
    if found.index_lost:
        rebuild_index(session, anew=False, embed=False)
    return found.as_dict(), verify_scope(workspace.root, workspace.scope)


def _fetches(held: ExitStack, backup: str | None) -> Iterable[Fetch]:
    if backup is None:
        return []
    from muniment.pipeline.repositories import place
    from muniment.store.backup.repository import Repository

    repository = Repository.open(place(backup))
    held.enter_context(repository.reading())
    return [lambda asset: repository.chunks(asset.removeprefix("sha256:"))]
