"""``muniment history`` and ``muniment timeline``: what happened to a fact, and what held when."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger


@command("history")
@click.argument("ref_or_key", metavar="REF|KEY", shell_complete=completes("record"))
@click.option("--subject", metavar="NAME", help="Only about this subject.")
def history(session: Session, ref_or_key: str, subject: str | None) -> None:
    """Show every version of a record or key and every change of its state."""
    from muniment.pipeline.memory import timeline

    with session.workspace().reading() as ledger:
        rows = _rows(ledger, ref_or_key)
        found = timeline.history(ledger, (row for row in rows if subject in {None, row["subject"]}))
    document = {"query": ref_or_key, "count": len(found), "versions": found}
    session.output.answer(document, _history_text(found))


@command("timeline")
@click.argument("subject_or_key", metavar="SUBJECT|KEY")
@click.option("--before", metavar="TIME|REF", help="Only what began before it.")
@click.option("--after", metavar="TIME|REF", help="Only what held at it or later.")
@click.option("--episodes", is_flag=True, help="With the episodes of that time.")
@click.option("--limit", type=click.IntRange(min=1), help="Only so many, the last ones.")
def timeline(
    session: Session, subject_or_key: str, before: str | None, after: str | None, episodes: bool,
    limit: int | None,
) -> None:  # fmt: skip
    """Show what held when, in words.

    SUBJECT is user or a name; KEY is a key such as home, or a family of keys such as preference.
    """
    from muniment.pipeline.memory import timeline as lines
    from muniment.pipeline.output import printable
    from muniment.store.times import sort_key

    with session.workspace().reading() as ledger:
        span = {"before": _instant(ledger, before), "after": _instant(ledger, after)}
        items = lines.timeline(lines.rows_about(ledger, subject_or_key), **span)
        if episodes:
            items += lines.episodes_between(ledger, **span)
            items.sort(key=lambda item: sort_key(item["from"]) or "")
    items = items[-limit:] if limit else items
    document = {"query": subject_or_key, **span, "count": len(items), "items": items}
    text = "\n".join(printable(item["words"], one_line=True) for item in items)
    session.output.answer(document, text or "nothing is known of that")


def _rows(ledger: "Ledger", text: str) -> list[dict[str, Any]]:
    """Return the versions that a record's reference or a key names."""
    from muniment.pipeline.memory import timeline as lines
    from muniment.pipeline.refs import resolve
    from muniment.store.errors import NotFoundError

    if text.startswith(("record:", "rec_")):
        ref = resolve(ledger, text)
        rows = lines.versions_shown(ledger, ref.id)
    else:
        rows = lines.rows_about(ledger, text)
    if not rows:
        raise NotFoundError(
            f"nothing is known of {text!r}", hint="name a record (record:rec_...) or a key"
        )
    return rows


def _instant(ledger: "Ledger", text: str | None) -> str | None:
    """Read a time, or take that of the object that a reference names."""
    if text is None:
        return None
    from muniment.pipeline.objects import describe
    from muniment.pipeline.recall.request import instant
    from muniment.pipeline.refs import KINDS, resolve
    from muniment.store.times import sort_key

    if text.partition(":")[0] not in KINDS:
        return instant(text)
    found = describe(ledger, resolve(ledger, text))
    moment = found.get("valid_at") or found.get("start") or found.get("occurred")
    at = sort_key(moment) or found.get("instant") or found.get("recorded_at")
    if at is None:
        raise click.UsageError(f"{text} has no time")
    return str(at)


def _history_text(versions: list[dict[str, Any]]) -> str:
    from muniment.pipeline.memory.timeline import in_words
    from muniment.pipeline.output import printable

    lines = []
    for one in versions:
        lines.append(f"{one['ref']}  {one['status']}  {in_words(one)}")
        lines += [
            f"  {change['at']}  {change['action']} by {change['actor']}: {change['reason']}"
            for change in one["revisions"]
        ]
        lines += [f'  "{item["quote"]}" (observation:{item["observation"]})'
                  for item in one["evidence"]]  # fmt: skip
    return printable("\n".join(lines))
