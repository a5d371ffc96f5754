"""``muniment backup``: create, list, verify, prune and drill."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command, group
from muniment.pipeline.pace import paced
from muniment.pipeline.repositories import (
    SAMPLE,
    opened,
    place,
    remember,
    secret_of,
    secret_options,
    sized,
    time_limit,
    verdict,
)
from muniment.store.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from muniment.store.backup.repository import Repository

_NUMBER = click.IntRange(min=1)


@command("create")
@click.argument("destination", metavar="DEST")
@click.option("--encrypt", is_flag=True, help="Make a new repository an encrypted one.")
@secret_options
@click.option(
    "--sample", metavar=SAMPLE, help="Of objects that are there already, read a part again only."
)
@time_limit
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be copied; write nothing.")
def create(
    session: Session, destination: str, sample: str | None, time_limit: float | None,
    dry_run: bool, **asked: Any,
) -> int:  # fmt: skip
    """Back the whole store up into a repository, sharing what has not changed."""
    from muniment.store import manifest
    from muniment.store.backup import notes
    from muniment.store.backup.create import create as make
    from muniment.store.backup.create import plan, require_apart
    from muniment.store.forgetting.list import standing

    root, wait = session.workspace().root, session.settings["lock_wait"]
    manifest.require(root)
    require_apart(root.path, place(destination))
    repository = _repository(destination, dry_run=dry_run, **asked)
    if dry_run or repository is None:
        document = plan(root, repository, wait_seconds=wait)
        said = f"would copy {sized(document['new_bytes'])} of {sized(document['bytes'])}"
        session.output.report(document, said)
        return ExitCode.DONE
    with repository.writing(wait), paced(session, "backup", time_limit) as pace:
        document = make(
            root, repository, wait_seconds=wait, sample=sample, forgotten=standing(root),
            each=pace.step,
        )  # fmt: skip
        remember(session, repository, notes.BACKUP, document, "complete")
    for lost in document["missing"]:
        session.output.warn(f"not in the backup: {lost['path']} ({lost['reason']})")
    session.output.report(
        document,
        f"{document['snapshot']}: {document['files']} files, {sized(document['bytes'])}, "
        f"of which new {sized(document['new_bytes'])}; verified",
    )
    return _code(document["missing"])


def _code(missing: list[dict[str, str]]) -> ExitCode:
    """Tell damage of a database from assets that were lost."""
    if any(lost["reason"] in {"database_damaged", "ledger_missing"} for lost in missing):
        return ExitCode.DAMAGE
    return ExitCode.PARTIAL if missing else ExitCode.DONE


def _repository(
    destination: str, *, encrypt: bool, passphrase_file: str | None, key_file: str | None,
    dry_run: bool,
) -> "Repository | None":  # fmt: skip
    """Open the repository, or make it where there is none; a dry run leaves null."""
    from muniment.store.backup.repository import Repository, is_repository, require_free

    secret = secret_of(passphrase_file, key_file)
    path = place(destination)
    if is_repository(path):
        found = Repository.open(path, secret)
        if encrypt and not found.encrypted:
            raise UsageError(
                "the repository is not encrypted, and stays as it is", code="not_encrypted",
                hint="choose another DEST for an encrypted one", path=str(path),
            )  # fmt: skip
        return found
    if encrypt and secret is None:
        raise UsageError(
            "nothing to encrypt with", code="secret_needed",
            hint="give --passphrase-file or --key-file",
        )  # fmt: skip
    if secret is not None and not encrypt:
        raise UsageError(
            "a secret was named for a new repository without encryption", code="not_encrypted",
            hint="give --encrypt, too",
        )  # fmt: skip
    require_free(path)
    return None if dry_run else Repository.create(path, secret)


@command("list")
@click.argument("destination", metavar="DEST")
@secret_options
def list_snapshots(
    session: Session, destination: str, passphrase_file: str | None, key_file: str | None
) -> int:
    """List the snapshots of a repository, oldest first."""
    from muniment.store.errors import DamageError, NotFoundError, StateError

    repository = opened(destination, passphrase_file, key_file)
    found: list[dict[str, Any]] = []
    damaged = 0
    for identity in repository.ids():  # whole files come and go at once: no lock is needed
        try:
            found.append({**repository.read(identity).summary(), "readable": True})
        except NotFoundError:
            continue  # it was pruned meanwhile
        except (DamageError, StateError) as error:
            damaged += isinstance(error, DamageError)
            found.append({"id": identity, "readable": False, "reason": error.code})
            session.output.warn(error.message)
    document = {
        "repository": repository.place.name, "id": repository.id,
        "encrypted": repository.encrypted, "count": len(found), "snapshots": found,
    }  # fmt: skip
    session.output.answer(document, "\n".join(map(_line, found)))
    return ExitCode.DAMAGE if damaged else ExitCode.DONE


def _line(found: dict[str, Any]) -> str:
    if not found["readable"]:
        return f"{found['id']}  {found['reason']}"
    state = "complete" if found["complete"] else "INCOMPLETE"
    scopes = ", ".join(found["scopes"])
    return f"{found['id']}  {state}  {found['files']} files  {sized(found['bytes'])}  {scopes}"


@command("verify")
@click.argument("destination", metavar="DEST")
@click.option("--snapshot", metavar="ID", help="Only this one (latest, or an id).")
@click.option("--sample", metavar=SAMPLE, help="Read a part of the objects only.")
@time_limit
@secret_options
def verify(
    session: Session, destination: str, snapshot: str | None, sample: str | None,
    time_limit: float | None, **secret: str | None,
) -> int:  # fmt: skip
    """Hash the objects of a repository and open its databases."""
    from muniment.pipeline.output import printable
    from muniment.store.backup.verify import verify as check

    repository = opened(destination, **secret)
    wait = session.settings["lock_wait"]
    with repository.reading(wait), paced(session, "verify", time_limit) as pace:
        report = check(repository, snapshot=snapshot, sample=sample, each=pace.go_on)
    lines = [f"{one['code']}: {one['ref']}: {one['message']}" for one in report.findings]
    lines.append(verdict(report.damaged, report.complete))
    document = {"repository": repository.place.name, **report.as_dict()}
    session.output.report(document, printable("\n".join(lines)), well=not report.damaged)
    return ExitCode.DAMAGE if report.damaged else ExitCode.DONE


@command("prune")
@click.argument("destination", metavar="DEST")
@click.option("--keep-last", type=_NUMBER, metavar="N", help="The newest N.")
@click.option("--keep-daily", type=_NUMBER, metavar="N", help="One a day for N days (UTC).")
@click.option("--keep-weekly", type=_NUMBER, metavar="N", help="One a week for N weeks.")
@click.option("--keep-monthly", type=_NUMBER, metavar="N", help="One a month for N months.")
@click.option("--keep-within", metavar="SPAN", help="All of the last hours or days: 12h, 30d.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would go; remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@secret_options
def prune(
    session: Session, destination: str, dry_run: bool, yes: bool, passphrase_file: str | None,
    key_file: str | None, **keep: Any,
) -> None:  # fmt: skip
    """Remove the snapshots that no rule keeps, and what only they need.

    At least one rule is needed; a store never loses its last snapshot.
    """
    from muniment.pipeline.confirm import confirm
    from muniment.store.backup.prune import Retention
    from muniment.store.backup.prune import prune as remove
    from muniment.store.times import now

    rules = Retention(**{name.removeprefix("keep_"): value for name, value in keep.items()})
    rules.require_any()
    repository = opened(destination, passphrase_file, key_file)
    wait, moment = session.settings["lock_wait"], now()
    with repository.reading(wait) if dry_run else repository.writing(wait):
        document = remove(repository, rules, moment, dry_run=True)
        if document["removed"] and not dry_run:
            confirm(f"remove {len(document['removed'])} snapshots for good", yes=yes)
        if not dry_run:
            document = remove(repository, rules, moment)
    would = "would keep" if dry_run else "kept"
    session.output.report(
        document,
        f"{would} {len(document['kept'])}, removed {len(document['removed'])} snapshots and "
        f"{document['removed_objects']} objects ({sized(document['freed_bytes'])})",
    )


@command("drill")
@click.argument("destination", metavar="DEST")
@click.option("--snapshot", metavar="ID", default="latest", help="Another than the latest.")
@click.option("--in", "folder", metavar="DIR", help="Where to restore to for the while.")
@click.option("--recalls", type=click.IntRange(min=0), default=3, help="Questions per scope (3).")
@secret_options
def drill(
    session: Session, destination: str, passphrase_file: str | None, key_file: str | None,
    **asked: Any,
) -> int:  # fmt: skip
    """Restore a snapshot to a temporary place, verify it and recall from it."""
    from muniment.pipeline.drilling import rehearse
    from muniment.store import manifest
    from muniment.store.backup import notes

    repository = opened(destination, passphrase_file, key_file)
    with repository.reading(session.settings["lock_wait"]):
        document = rehearse(session, repository, **asked)
        root = session.workspace().root
        if manifest.state_of(root) is manifest.RootState.CURRENT:
            remember(session, repository, notes.DRILL, document, "ok")
    lines = [
        f"{'/'.join(scope['scope'].values())}: "
        f"{'damage found' if scope['damaged'] else 'verified'}, "
        f"{scope['answered']} of {scope['asked']} recalls answered"
        for scope in document["scopes"]
    ]
    said = "it can be restored" if document["ok"] else "it can NOT be relied on"
    told = "\n".join([*lines, f"{document['snapshot']}: {said}"])
    session.output.report(document, told, well=document["ok"])
    return ExitCode.DONE if document["ok"] else ExitCode.DAMAGE


@command("forget")
@click.argument("destination", metavar="DEST")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be looked into; write nothing.")
@secret_options
def forget(
    session: Session, destination: str, dry_run: bool, passphrase_file: str | None,
    key_file: str | None,
) -> int:  # fmt: skip
    """Apply the store's hard forgets to the snapshots that were made before them."""
    from muniment.pipeline.forgetting.rewriting import rewrite
    from muniment.store import files, manifest

    root = session.workspace().root
    manifest.require(root)
    files.make_directory(root.temporary)
    repository = opened(destination, passphrase_file, key_file)
    with repository.writing(session.settings["lock_wait"]):
        document = rewrite(session, repository, dry_run=dry_run)
    said = (
        f"looked into {len(document['looked_into'])} snapshots, rewrote "
        f"{len(document['rewritten'])}, removed {document['removed_objects']} objects "
        f"({sized(document['freed_bytes'])})"
    )
    session.output.report(document, said if not dry_run else f"would have: {said}")
    return ExitCode.DONE


backup = group(
    "backup",
    {
        "create": create,
        "list": list_snapshots,
        "verify": verify,
        "prune": prune,
        "drill": drill,
        "forget": forget,
    },
    "Keep verified snapshots of the whole store in a repository.",
)
