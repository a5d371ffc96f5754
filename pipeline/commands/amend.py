"""``muniment correct``, ``pin``, ``unpin``, ``archive``, ``unarchive``: changes of one record."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option
from muniment.store.ids import record_ref

if TYPE_CHECKING:
    from muniment.pipeline.memory.claims import Claims
    from muniment.store.ledger import Ledger

_SHOWN = frozenset({"active", "conflicted", "superseded"})


@command("correct")
@click.argument("ref", shell_complete=completes("record"))
@click.option("--text", help="What it should say.")
@click.option("--value", help="The right value of its key.")
@click.option("--valid-at", metavar="TIME", help="Since when it holds; otherwise as before.")
@click.option("--reason", default="corrected by the user", show_default=True, help="Kept with it.")
@dry_run_option
def correct(session: Session, ref: str, dry_run: bool, **said: Any) -> None:
    """Say what a record should say; the old version is kept and no longer answers.

    REF is record:rec_... as recall and list show it.
    """
    from muniment.pipeline.memory import amending
    from muniment.pipeline.recall.request import instant

    if all(said[name] is None for name in ("text", "value", "valid_at")):
        raise click.UsageError("say what is right: --text, --value or --valid-at")
    said["valid_at"] = said["valid_at"] and instant(said["valid_at"])
    correction = amending.Correction(**said)
    workspace = session.workspace()
    with workspace.changing(dry_run=dry_run) as ledger:
        row = record_row(ledger, ref)
        old = record_ref(row)
        if dry_run:
            kept = amending.foresee(ledger, row, correction)
        else:
            with ledger.unit():
                kept = amending.correct(ledger, row, correction)
    done = "planned" if dry_run else "corrected"
    status, new = done if kept.changed else "unchanged", kept.ref
    document = {"status": status, "record": new, "corrects": old, "reason": said["reason"]}
    told = {"corrected": f"corrected: {new}", "planned": f"would correct: {old}"}
    session.output.answer(document, told.get(status, f"unchanged: {new} says so already"))


@command("pin")
@click.argument("refs", nargs=-1, required=True, shell_complete=completes("record"))
@dry_run_option
def pin(session: Session, refs: tuple[str, ...], dry_run: bool) -> None:
    """Exempt records from decay."""

    def change(claims: "Claims", row: dict[str, Any]) -> object:
        return claims.pin(row, pinned=True)

    _each(session, refs, dry_run, _Verb("pinned", lambda row: not row["pinned"], change))


@command("unpin")
@click.argument("refs", nargs=-1, required=True, shell_complete=completes("record"))
@dry_run_option
def unpin(session: Session, refs: tuple[str, ...], dry_run: bool) -> None:
    """Let records decay again."""

    def change(claims: "Claims", row: dict[str, Any]) -> object:
        return claims.pin(row, pinned=False)

    _each(session, refs, dry_run, _Verb("unpinned", lambda row: bool(row["pinned"]), change))


@command("archive")
@click.argument("refs", nargs=-1, required=True, shell_complete=completes("record"))
@click.option("--reason", default="archived by the user", show_default=True, help="Kept with it.")
@dry_run_option
def archive(session: Session, refs: tuple[str, ...], reason: str, dry_run: bool) -> None:
    """Hide records from recall; they and their evidence are kept."""

    def change(claims: "Claims", row: dict[str, Any]) -> object:
        return claims.set_status(row, "archived", reason)

    _each(session, refs, dry_run, _Verb("archived", lambda row: row["status"] in _SHOWN, change))


@command("unarchive")
@click.argument("refs", nargs=-1, required=True, shell_complete=completes("record"))
@click.option("--reason", default="restored by the user", show_default=True, help="Kept with it.")
@dry_run_option
def unarchive(session: Session, refs: tuple[str, ...], reason: str, dry_run: bool) -> None:
    """Let archived records answer again."""

    def change(claims: "Claims", row: dict[str, Any]) -> object:
        return claims.set_status(row, "active", reason)

    verb = _Verb("restored", lambda row: row["status"] == "archived", change)
    _each(session, refs, dry_run, verb)


class _Verb(NamedTuple):
    """A change by hand: what it is called when done, when there is something to do, and how."""

    done: str
    applies: Callable[[dict[str, Any]], bool]
    change: "Callable[[Claims, dict[str, Any]], object]"


def _each(session: Session, refs: tuple[str, ...], dry_run: bool, verb: _Verb) -> None:
    """Change every named record, all of them or none; say which changed."""
    from muniment.pipeline.memory.claims import Claims

    workspace = session.workspace()
    with workspace.changing(dry_run=dry_run) as ledger, _unit(ledger, dry_run):
        rows = {row["version_seq"]: row for row in (record_row(ledger, ref) for ref in refs)}
        changed = [row for row in rows.values() if verb.applies(row)]
        for row in changed if not dry_run else ():
            verb.change(Claims(ledger, "user"), row)
    same = [row for row in rows.values() if row not in changed]
    document = {
        "status": ("planned" if dry_run else "done") if changed else "unchanged",
        verb.done: [record_ref(row) for row in changed],
        "unchanged": [record_ref(row) for row in same],
    }
    lines = [f"{'would be ' if dry_run else ''}{verb.done}: {record_ref(row)}" for row in changed]
    lines += [f"unchanged: {record_ref(row)}" for row in same]
    session.output.answer(document, "\n".join(lines))


def _unit(ledger: "Ledger", dry_run: bool) -> AbstractContextManager[None]:
    return nullcontext() if dry_run else ledger.unit()


def record_row(ledger: "Ledger", text: str) -> dict[str, Any]:
    """Return the record version that a reference names, the newest when it names none."""
    from muniment.pipeline.memory.claims import Claims
    from muniment.pipeline.refs import resolve

    ref = resolve(ledger, text)
    if ref.kind != "record":
        raise click.UsageError(f"{text} is a {ref.kind}; name a record (record:rec_...)")
    return Claims(ledger, "user").current(ref.id, ref.version)
