"""``muniment recall``."""

import sys
from typing import Any

import click

from muniment.pipeline.options import Session, command


@command("recall")
@click.argument("query")
@click.option("--format", "form", type=click.Choice(["md", "json"]), default="md", help="How.")
@click.option("--token-budget", type=int, default=2_000, help="Ceiling of the pack (at least 256).")
@click.option("--kind", multiple=True, help="Only observations of this kind, such as ocr.")
@click.option("--media", multiple=True, help="Only from this family, such as image or audio.")
@click.option("--since", metavar="TIME", help="Only from then on.")
@click.option("--until", metavar="TIME", help="Only before then.")
@click.option("--as-of", metavar="TIME", help="Facts as they held then.")
@click.option("--known-at", metavar="TIME", help="Facts as the store knew them then.")
@click.option("--include-history", is_flag=True, help="Superseded records, too.")
@click.option("--include-archived", is_flag=True, help="Archived records, too.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), help="At least.")
@click.option("--in-session", metavar="ID", help="Only from this session or thread.")
@click.option("--path", metavar="PATH", help="Only from this file or folder.")
@click.option(
    "--fusion",
    type=click.Choice(["weighted", "rrf"]),
    default="weighted",
    help="How signals are merged.",
)
@click.option("--semantic/--no-semantic", default=None, help="Use vectors, or do not.")
@click.option(
    "--require",
    type=click.Choice(["supported", "partial"]),
    help="Exit with 4 when coverage is less.",
)
def recall(session: Session, query: str, form: str, require: str | None, **asked: Any) -> int:
    """Answer a question with a budgeted, cited pack.

    QUERY is plain language; - reads it from standard input.
    """
    from muniment.pipeline.recalling import answer

    if query == "-":
        query = sys.stdin.read()
    pack, markdown = answer(session, query, asked)
    output = session.output
    if form == "json":
        output.document(pack)
    else:
        output.answer(pack, markdown)
    levels = ("none", "partial", "supported")
    met = require is None or levels.index(pack["coverage"]) >= levels.index(require)
    return 0 if met else 4
