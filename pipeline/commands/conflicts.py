"""``muniment conflicts``: claims that contradict each other, until the user settles them."""

from typing import Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option, group
from muniment.store.ids import record_ref


@command("list")
def list_conflicts(session: Session) -> None:
    """List unresolved conflicts with the evidence of every side."""
    from muniment.pipeline.memory.claims import Claims
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        found = Claims(ledger, "user").conflicts()
    items = [
        {"subject": rows[0]["subject"], "key": rows[0]["key"], "sides": [_side(r) for r in rows]}
        for rows in found
    ]
    lines: list[str] = []
    for item in items:
        lines.append(f"{item['subject'] or '-'} {item['key']}:")
        lines += [f'  {side["ref"]}  {side["value"]}: "{side["text"]}"' for side in item["sides"]]
    session.output.answer(
        {"kind": "conflicts", "count": len(items), "items": items},
        printable("\n".join(lines) or "no conflicts"),
    )


@command("resolve")
@click.argument("ref", shell_complete=completes("record"))
@click.option("--both", is_flag=True, help="Keep every side: they do not exclude each other.")
@click.option("--reason", default="resolved by the user", show_default=True, help="Kept with it.")
@dry_run_option
def resolve_conflict(session: Session, ref: str, both: bool, reason: str, dry_run: bool) -> None:
    """Settle a conflict in favour of REF, one of its sides.

    What else is said was true until REF began; where it began later, it is taken back.
    """
    from muniment.pipeline.commands.amend import record_row
    from muniment.pipeline.memory.claims import Claims

    workspace = session.workspace()
    with workspace.changing(dry_run=dry_run) as ledger:
        claims = Claims(ledger, "user")
        kept = record_row(ledger, ref)
        sides = claims.rows(kept["subject"], kept["key"])
        at_odds = [row for row in sides if row["status"] == "conflicted"]
        settled = kept["status"] != "conflicted"
        if not dry_run and not settled:
            with ledger.unit():
                claims.resolve(kept, reason, both=both)
    status = "unchanged" if settled else "planned" if dry_run else "resolved"
    others = [] if settled else [one for one in at_odds if one["id"] != kept["id"]]
    document = {
        "status": status,
        "kept": record_ref(kept),
        "others": [record_ref(row) for row in others],
        "both": both,
    }
    session.output.answer(document, f"{status}: {document['kept']}")


def _side(row: dict[str, Any]) -> dict[str, Any]:
    names = ("value", "text", "valid_at", "recorded_at", "evidence")
    return {"ref": record_ref(row), **{name: row[name] for name in names}}


@command("proposals")
def list_proposals(session: Session) -> None:
    """List records that a model takes for the same, or for a contradiction."""
    from muniment.pipeline.memory.pairing import proposals
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        items = [
            {**{name: found[name] for name in ("verdict", "actor", "reason", "at")},
             "sides": [_side(row) for row in found["sides"]]}
            for found in proposals(ledger)
        ]  # fmt: skip
    lines: list[str] = []
    for item in items:
        lines.append(f"{item['verdict']}?")
        lines += [f'  {side["ref"]}  "{side["text"]}"' for side in item["sides"]]
    session.output.answer(
        {"kind": "proposals", "count": len(items), "items": items},
        printable("\n".join(lines) or "no proposals"),
    )


@command("settle")
@click.argument("ref", shell_complete=completes("record"))
@click.argument("other", shell_complete=completes("record"))
@click.option("--merge", "how", flag_value="merge", help="OTHER says the same as REF.")
@click.option("--both", "how", flag_value="both", help="They do not exclude each other.")
@click.option("--reason", default="settled by the user", show_default=True, help="Kept with it.")
@dry_run_option
def settle_pair(
    session: Session, ref: str, other: str, how: str | None, reason: str, dry_run: bool
) -> None:
    """Decide on two records: REF is right, OTHER says the same, or both hold.

    What is not kept was true until REF began; where it began later, it is taken back. A merge
    adds OTHER's evidence to REF and archives OTHER.
    """
    from muniment.pipeline.commands.amend import record_row
    from muniment.pipeline.memory.pairing import settle

    with session.workspace().changing(dry_run=dry_run) as ledger:
        kept, second = record_row(ledger, ref), record_row(ledger, other)
        if kept["id"] == second["id"]:
            raise click.UsageError("name two records")
        alive = all(row["status"] in ("active", "conflicted") for row in (kept, second))
        if alive and not dry_run:
            with ledger.unit():
                settle(ledger, kept, second, how or "keep", reason)
    status = "unchanged" if not alive else "planned" if dry_run else "settled"
    names = [record_ref(row) for row in (kept, second)]
    document = {"status": status, "kept": names[0], "other": names[1], "how": how or "keep"}
    session.output.answer(document, f"{status}: {' '.join(names)}")


conflicts = group(
    "conflicts",
    {
        "list": list_conflicts,
        "resolve": resolve_conflict,
        "proposals": list_proposals,
        "settle": settle_pair,
    },
    "List claims that contradict each other, and settle them.",
)
