"""``muniment links``: records that belong together, by the user's word."""

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option, group
from muniment.store.ids import record_ref

ACTOR = "user"


@command("list")
@click.argument("ref", shell_complete=completes("record"))
def list_links(session: Session, ref: str) -> None:
    """List the records that one is linked to."""
    from muniment.pipeline.commands.amend import record_row
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        row = record_row(ledger, ref)
        others = [record_row(ledger, f"record:{one}") for one in ledger.pairs.related(row["id"])]
        links = ledger.memory.links(row["id"])
    items = [
        {"ref": record_ref(one), "text": one["text"],
         "status": one["status"]}
        for one in others
    ]  # fmt: skip
    lines = [f"{item['ref']}  {item['status']}  {item['text']}" for item in items]
    session.output.answer(
        {"kind": "links", "count": len(items), "items": items, "all": links},
        printable("\n".join(lines) or "no links"),
    )


@command("add")
@click.argument("ref", shell_complete=completes("record"))
@click.argument("other", shell_complete=completes("record"))
@click.option("--reason", default="related", show_default=True, help="Kept with it.")
@dry_run_option
def add_link(session: Session, ref: str, other: str, reason: str, dry_run: bool) -> None:
    """Link two records as related: what recalls one brings in the other.

    Forgetting one leaves the other.
    """
    _change(session, (ref, other), reason, dry_run=dry_run, related=True)


@command("remove")
@click.argument("ref", shell_complete=completes("record"))
@click.argument("other", shell_complete=completes("record"))
@click.option("--reason", default="not related", show_default=True, help="Kept with it.")
@dry_run_option
def remove_link(session: Session, ref: str, other: str, reason: str, dry_run: bool) -> None:
    """Take the link of two records back; that it was there stays in the history."""
    _change(session, (ref, other), reason, dry_run=dry_run, related=False)


def _change(
    session: Session, refs: tuple[str, str], reason: str, *, dry_run: bool, related: bool
) -> None:
    from muniment.pipeline.commands.amend import record_row

    with session.workspace().changing(dry_run=dry_run) as ledger:
        one, other = (record_row(ledger, ref)["id"] for ref in refs)
        if one == other:
            raise click.UsageError("a record is not linked to itself; name two")
        changed = (other in ledger.pairs.related(one)) is not related
        if changed and not dry_run:
            verdict = "related" if related else "unrelated"
            with ledger.unit():
                ledger.pairs.add(one, other, verdict, actor=ACTOR, reason=reason)
    done = "linked" if related else "unlinked"
    status = "unchanged" if not changed else "planned" if dry_run else done
    document = {"status": status, "records": [f"record:{one}", f"record:{other}"]}
    session.output.answer(document, f"{status}: record:{one} record:{other}")


links = group(
    "links",
    {"list": list_links, "add": add_link, "remove": remove_link},
    "Link records as related, so that one brings in the other.",
)
