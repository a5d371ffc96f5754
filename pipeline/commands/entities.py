"""``muniment entities``: who is who, as far as only the user can tell."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command, dry_run_option, group

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

REASONS = ("same_address", "same_name")


@command("proposals")
@click.option("--reason", type=click.Choice(REASONS), help="Only those proposed for this.")
def list_proposals(session: Session, reason: str | None) -> None:
    """List entities that may be one, with what each is called and by which evidence."""
    from muniment.pipeline.entities.documents import proposal
    from muniment.pipeline.entities.merging import proposals
    from muniment.pipeline.output import printable

    with session.workspace().reading() as ledger:
        items = [
            proposal(ledger, *found) for found in proposals(ledger) if reason in (None, found[2])
        ]
    lines = []
    for item in items:
        lines.append(f"{item['reason'].replace('_', ' ')}:")
        for side in item["sides"]:
            names = ", ".join(name["name"] for name in side["names"])
            lines.append(f"  {side['ref']}  {names}")
    session.output.answer(
        {"kind": "proposals", "count": len(items), "items": items},
        printable("\n".join(lines) or "no proposals"),
    )


@command("merge")
@click.argument("refs", nargs=-1, shell_complete=completes("entity"))
@click.option(
    "--all-proposed", type=click.Choice(REASONS), help="Every pair that is proposed for this."
)
@dry_run_option
def merge_entities(
    session: Session, refs: tuple[str, ...], all_proposed: str | None, dry_run: bool
) -> None:
    """Take entities for one and the same; split undoes it.

    REFS are entity:ent_... as list and proposals show them.
    """
    from muniment.pipeline.entities.merging import merge, proposals

    if (len(refs) < 2) == (all_proposed is None):  # noqa: PLR2004 (two make a pair)
        raise click.UsageError("name two entities or more, or --all-proposed REASON")
    with session.workspace().changing(dry_run=dry_run) as ledger:
        sets = [_numbers(ledger, refs)] if refs else [
            [one, other] for one, other, reason in proposals(ledger) if reason == all_proposed
        ]  # fmt: skip
        changed = _done(ledger, dry_run, lambda: sum([merge(ledger, members) for members in sets]))
        _answer(session, ledger, "merged", (len(sets) if dry_run else changed, dry_run), sets)


@command("apart")
@click.argument("ref", shell_complete=completes("entity"))
@click.argument("other", shell_complete=completes("entity"))
@dry_run_option
def keep_apart(session: Session, ref: str, other: str, dry_run: bool) -> None:
    """Say that two entities are not the same; it is not proposed again."""
    from muniment.pipeline.entities.merging import keep_apart as apart

    with session.workspace().changing(dry_run=dry_run) as ledger:
        pair = _numbers(ledger, (ref, other))
        changed = _done(ledger, dry_run, lambda: apart(ledger, *pair))
        _answer(session, ledger, "kept apart", (changed, dry_run), [pair])


@command("split")
@click.argument("ref", shell_complete=completes("entity"))
@click.option("--name", help="Make an entity of its own of this name instead.")
@dry_run_option
def split_entity(session: Session, ref: str, name: str | None, dry_run: bool) -> None:
    """Take an entity out of what it was merged with, or a name out of an entity."""
    from muniment.pipeline.entities.editing import part_name
    from muniment.pipeline.entities.merging import split

    with session.workspace().changing(dry_run=dry_run) as ledger:
        (entity,) = _numbers(ledger, (ref,))
        parts = [entity]

        def change() -> bool:
            if name is None:
                return split(ledger, entity)
            parts.append(part_name(ledger, entity, name))
            return True

        changed = _done(ledger, dry_run, change)
        _answer(session, ledger, "split", (changed, dry_run), [parts])


@command("alias")
@click.argument("ref", shell_complete=completes("entity"))
@click.argument("name")
@click.option("--remove", is_flag=True, help="It is not called so; the evidence is kept.")
@dry_run_option
def alias_entity(session: Session, ref: str, name: str, remove: bool, dry_run: bool) -> None:
    """Say what else an entity is called; the statement is kept as evidence."""
    from muniment.pipeline.entities.editing import add_alias, remove_alias

    change = remove_alias if remove else add_alias
    with session.workspace().changing(dry_run=dry_run) as ledger:
        (entity,) = _numbers(ledger, (ref,))
        changed = _done(ledger, dry_run, lambda: change(ledger, entity, name))
        status = "name removed" if remove else "name added"
        _answer(session, ledger, status, (changed, dry_run), [[entity]])


def _numbers(ledger: "Ledger", refs: tuple[str, ...]) -> list[int]:
    from muniment.pipeline.refs import resolve
    from muniment.store.errors import NotFoundError, UsageError

    found = []
    for text in refs:
        ref = resolve(ledger, text)
        if ref.kind != "entity":
            raise UsageError(f"{text} is no entity", hint="see: muniment list entities")
        entity = ledger.entities.number(ref.id)
        if entity is None:
            raise NotFoundError(
                f"no entity {ref.id} in this scope", hint="see: muniment list entities"
            )
        found.append(entity)
    return found


def _done(ledger: "Ledger", dry_run: bool, change: Callable[[], int]) -> int:
    """Make a change in a unit of its own; a dry run makes none and is taken for one."""
    if dry_run:
        return 1
    with ledger.unit():
        return int(change())


def _answer(
    session: Session, ledger: "Ledger", done: str, outcome: tuple[int, bool], sets: list[list[int]]
) -> None:
    from muniment.pipeline.entities.documents import reference
    from muniment.pipeline.output import printable

    changed, dry_run = outcome
    status = "planned" if dry_run else done if changed else "unchanged"
    entities = [[reference(ledger, one) for one in members] for members in sets]
    document: dict[str, Any] = {
        "status": status, "changed": 0 if dry_run else changed, "entities": entities
    }  # fmt: skip
    lines = [f"{status}: {' '.join(members)}" for members in entities]
    session.output.answer(document, printable("\n".join(lines) or "nothing to do"))


entities = group(
    "entities",
    {
        "proposals": list_proposals,
        "merge": merge_entities,
        "apart": keep_apart,
        "split": split_entity,
        "alias": alias_entity,
    },
    "Settle who is who: merge, split and name the people, places and things of the evidence.",
)
