"""``backup forget``: apply the hard forgets of a store to the snapshots that were made before."""

from typing import TYPE_CHECKING, Any

from muniment.pipeline.forgetting.carrying import Carried, cleanse, of_root
from muniment.store.backup.create import create
from muniment.store.backup.prune import sweep
from muniment.store.backup.restore import Wishes, restore
from muniment.store.backup.snapshot import store_of
from muniment.store.layout import Root
from muniment.store.scratch import aside

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.backup.repository import Repository
    from muniment.store.backup.snapshot import Snapshot


def rewrite(session: "Session", repository: "Repository", *, dry_run: bool) -> dict[str, Any]:
    """Rewrite every snapshot that does not know the store's forget list, then drop the objects.

    Each is brought back aside, erased from, and takes its own place under its id and time; the
    caller holds the repository alone. Cut short, the same command goes on.
    """
    root = session.workspace().root
    found = of_root(root)
    listed = set(found.digests)
    own = store_of(root.manifest.read_bytes())
    snapshots = [repository.read(identity) for identity in repository.ids()]
    behind = [one for one in snapshots
              if one.store == own and not listed <= set(one.forgotten)]  # fmt: skip
    changed = []
    for snapshot in behind if not dry_run else ():
        if _rewrite(session, repository, snapshot, found):
            changed.append(snapshot.id)
    needed = {
        part.sha256 for identity in repository.ids() for part in repository.read(identity).objects()
    }
    objects, size = sweep(repository, needed, dry_run=dry_run)
    return {
        "listed": len(listed),
        "looked_into": [one.id for one in behind],
        "rewritten": changed,
        "removed_objects": objects,
        "freed_bytes": size,
        "dry_run": dry_run,
    }


def _rewrite(
    session: "Session", repository: "Repository", snapshot: "Snapshot", found: Carried
) -> bool:
    """Make a snapshot anew without what was forgotten; return whether it held any of it."""
    with aside(session.workspace().root.temporary, "forget") as temporary:
        root = Root(temporary / "root")
        restore(root, repository, snapshot, Wishes(partial=True))
        touched = cleanse(session.settings, root, [found])
        digests = tuple(sorted({*snapshot.forgotten, *found.digests}))
        create(root, repository, forgotten=digests, instead_of=snapshot)
    return bool(touched)
