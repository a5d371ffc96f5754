"""``muniment remember``."""

import sys

import click

from muniment.pipeline.options import Session, command


@command("remember")
@click.argument("text")
@click.option("--key", help="Name of the fact, such as home or allergy.")
@click.option("--value", help="Value of the fact.")
@click.option("--valid-at", metavar="TIME", help="Since when it holds (2026-03-01, say).")
@click.option("-n", "--dry-run", is_flag=True, help="Say what would be kept; write nothing.")
def remember(
    session: Session, text: str, key: str | None, value: str | None, valid_at: str | None,
    dry_run: bool,
) -> None:  # fmt: skip
    """Keep an explicit statement of the user.

    TEXT is kept as it stands and cited by the record; - reads it from standard input.
    """
    from muniment.pipeline.remembering import Statement, keep

    said = sys.stdin.read() if text == "-" else text
    document = keep(session, Statement(said, key, value, valid_at), dry_run=dry_run)
    what = {"created": "remembered", "known": "already known", "planned": "would remember"}
    refs = ", ".join(document["records"]) or "pending approval"
    session.output.answer(document, f"{what[document['status']]}: {refs}")
