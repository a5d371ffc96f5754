"""``muniment restore``."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.repositories import opened, place, secret_options, sized
from muniment.store.errors import ExitCode, StateError, UsageError

if TYPE_CHECKING:
    from muniment.store.layout import Root


@command("restore")
@click.argument("destination", metavar="[DEST]", required=False)
@click.option("--snapshot", metavar="ID", help="Another than the latest.")
@click.option("--replace", is_flag=True, help="Put the store that is there aside.")
@click.option("--partial", is_flag=True, help="Restore the rest where assets are damaged.")
@click.option(
    "--assets", metavar="URL", help="Put assets over 64 KiB there: s3://BUCKET/PREFIX (else here)."
)
@click.option("-n", "--dry-run", is_flag=True, help="Check everything; write nothing.")
@secret_options
def restore(session: Session, destination: str | None, **asked: Any) -> int:
    """Bring a snapshot of a backup repository back into the root.

    Everything is checked before the root is touched. A restore that was cut short is taken up
    again by the same command, or by restore alone once the old store is being replaced.
    """
    root = session.workspace().root
    document = _document(session, root, destination, asked)
    for lost in document["left_out"]:
        session.output.warn(f"not restored: {lost['path']} ({lost['reason']})")
    verb = "would restore" if document["dry_run"] else "restored"
    lines = [f"{verb} {document['snapshot']}: {document['files']} files, "
             f"{sized(document['bytes'])}"]  # fmt: skip
    if document["displaced"]:
        lines.append(f"the old store is at {document['displaced']}")
    if document["erased_again"]:
        lines.append(f"what was forgotten since was erased again in {document['erased_again']} "
                     "scopes")  # fmt: skip
    session.output.report(document, "\n".join(lines))
    return ExitCode.PARTIAL if document["left_out"] else ExitCode.DONE


def _document(
    session: Session, root: "Root", destination: str | None, asked: dict[str, Any]
) -> dict[str, Any]:
    """Take up what is under way, else restore what is asked for."""
    from muniment.pipeline.forgetting.carrying import cleanse, known_lists
    from muniment.store.asset_places import Location
    from muniment.store.backup.create import require_apart
    from muniment.store.backup.restore import Wishes
    from muniment.store.backup.restore import restore as bring_back
    from muniment.store.backup.swap import pending, resume

    wait = session.settings["lock_wait"]
    under_way = pending(root)
    if under_way is not None:
        if asked["snapshot"] not in {None, under_way["snapshot"]}:
            raise StateError(
                f"the restore of snapshot {under_way['snapshot']} is not finished",
                code="recovery_required",
                hint="finish it first with: muniment restore",
            )
        session.output.note("taking up the restore that was cut short")
        return resume(root, wait, dry_run=asked["dry_run"])
    if destination is None:
        raise UsageError("nothing to take up", code="usage", hint="name a repository: restore DEST")
    require_apart(root.path, place(destination))
    repository = opened(destination, asked["passphrase_file"], asked["key_file"])
    location = None if asked["assets"] is None else Location.parse(asked["assets"])
    wishes = Wishes(asked["replace"], asked["partial"], asked["dry_run"], location)
    with repository.reading(wait):
        snapshot = repository.read(asked["snapshot"] or "latest")

        def settle(staged: "Root") -> int:
            return cleanse(session.settings, staged, known_lists(root, repository, snapshot))

        return bring_back(root, repository, snapshot, wishes, wait, settle)
