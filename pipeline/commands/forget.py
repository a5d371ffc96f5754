"""``muniment forget`` and ``unforget``."""

import sys
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command
from muniment.pipeline.repositories import secret_options
from muniment.store.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from muniment.store.forgetting.selection import Wanted


@command("forget")
@click.argument(
    "refs", nargs=-1, metavar="REF...",
    shell_complete=completes("record", "candidate", "episode", "observation", files=True),
)  # fmt: skip
@click.option("--hard", is_flag=True, help="Erase for good; nothing brings it back.")
@click.option("--author", multiple=True, metavar="NAME", help="Only messages of this author.")
@click.option("--since", metavar="TIME", help="Only from then on.")
@click.option("--until", metavar="TIME", help="Only before then.")
@click.option("--in-session", metavar="ID", help="Only messages of this session or thread.")
@click.option(
    "--keep-containers", is_flag=True, help="Leave files whole that hold what goes inside them."
)
@click.option(
    "--backups", multiple=True, metavar="DEST",
    help="Look into this backup repository, too, beside those that the store was backed up to.",
)  # fmt: skip
@secret_options
@click.option("--resume", is_flag=True, help="Finish a hard forget that was cut short.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would go; write nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before erasing.")
def forget(session: Session, refs: tuple[str, ...], hard: bool, **asked: Any) -> int:
    """Hide things until they are asked back, or erase them for good.

    REF is kind:id, sha256:..., a file or folder that was ingested, or scope:. for everything.
    Conditions narrow what REF names, or the whole scope where there is no REF.
    """
    if asked["resume"]:
        return _resume(session, asked)
    wanted = _wanted(asked)
    if not hard:
        from muniment.pipeline.forgetting.hiding import forget as hide

        _say(session, hide(session, refs, wanted, dry_run=asked["dry_run"]))
        return ExitCode.DONE
    return _erase(session, refs, wanted, asked)


@command("unforget")
@click.argument(
    "refs", nargs=-1, metavar="REF...",
    shell_complete=completes("record", "candidate", "episode", "observation", files=True),
)  # fmt: skip
@click.option("--author", multiple=True, metavar="NAME", help="Only messages of this author.")
@click.option("--since", metavar="TIME", help="Only from then on.")
@click.option("--until", metavar="TIME", help="Only before then.")
@click.option("--in-session", metavar="ID", help="Only messages of this session or thread.")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would come back; write nothing.")
def unforget(session: Session, refs: tuple[str, ...], **asked: Any) -> None:
    """Bring back what was forgotten softly.

    REF is what was named then, or tombstone:ID (see: muniment list tombstones).
    """
    from muniment.pipeline.forgetting.hiding import unforget as show

    _say(session, show(session, refs, _wanted(asked), dry_run=asked["dry_run"]))


def _wanted(asked: dict[str, Any]) -> "Wanted":
    from muniment.pipeline.recall.request import instant
    from muniment.store.forgetting.selection import Wanted

    since, until = (instant(asked[name]) if asked[name] else None for name in ("since", "until"))
    return Wanted(tuple(asked["author"]), since, until, asked["in_session"])


def _erase(session: Session, refs: tuple[str, ...], wanted: "Wanted", asked: dict[str, Any]) -> int:
    from muniment.pipeline.forgetting.erasing import erase_all, planned

    keep = asked["keep_containers"]
    plan = planned(session, refs, wanted, keep_containers=keep).as_dict()
    if asked["dry_run"]:
        document = {"status": "planned", "mode": "hard", "erased": plan, "dry_run": True}
        session.output.answer(document, f"would erase: {_counted(plan)}")
        return ExitCode.DONE
    if not asked["yes"]:
        _ask(session, plan)
    done = erase_all(session, refs, wanted, keep_containers=keep)
    return _give_receipt(session, done, asked)


def _ask(session: Session, plan: dict[str, int]) -> None:
    if session.settings["json"] or not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"this erases {_counted(plan)} for good",
            code="needs_yes",
            hint="say --yes, or look first with --dry-run",
        )
    click.confirm(f"Erase {_counted(plan)} for good?", abort=True, err=True)


def _resume(session: Session, asked: dict[str, Any]) -> int:
    from muniment.pipeline.forgetting.erasing import resume

    return _give_receipt(session, resume(session), asked)


def _give_receipt(session: Session, done: Any, asked: dict[str, Any]) -> int:
    from muniment.pipeline.forgetting.copies import Wanted
    from muniment.pipeline.forgetting.receipt import receipt
    from muniment.pipeline.output import printable

    wanted = Wanted(asked["backups"], asked["passphrase_file"], asked["key_file"])
    document = receipt(session, done, wanted)
    erased, checks = document["erased"], document["checks"]
    lines = [f"erased: {_counted(erased)}" if erased else "finished what was cut short"
             if document["resumed"] else "nothing was left to do"]  # fmt: skip
    if document["tombstone"]:
        lines.append(f"receipt: tombstone:{document['tombstone']}")
    lines.append(
        f"looked for {sum(checks['looked_for'].values())} traces in {checks['files']} files "
        f"({checks['bytes']} bytes) and on every reading path: "
        + ("none found" if document["clean"] else "FOUND")
    )
    lines += [f"still in: {path}" for path in checks["still_in"]]
    lines += [f"a backup still holds it: {one['repository']} {one['snapshot']}"
              for one in document["backups"]]  # fmt: skip
    if document["backups"]:
        lines.append("take it out of them, too: muniment backup forget DEST")
    lines += [f"a backup may still hold it, and can't be looked into: {one['repository']} "
              f"({one['reason']})" for one in document["backups_unread"]]  # fmt: skip
    session.output.answer(document, printable("\n".join(lines)))
    return int(ExitCode.DONE if document["clean"] else ExitCode.DAMAGE)


def _say(session: Session, document: dict[str, Any]) -> None:
    names = ("assets", "observations", "candidates", "records", "fragments")
    counted = ", ".join(f"{document[name]} {name}" for name in names if document[name])
    verbs = {"forgotten": "forgot", "restored": "brought back", "planned": "would change",
             "unchanged": "nothing changed"}  # fmt: skip
    text = verbs[document["status"]] + (f": {counted}" if counted else "")
    if document["tombstone"]:
        text += f" (tombstone:{document['tombstone']})"
    session.output.answer(document, text)


def _counted(plan: dict[str, int]) -> str:
    shown = {name: count for name, count in plan.items() if count and name != "bytes"}
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in shown.items()) or "0"
