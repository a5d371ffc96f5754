"""``muniment recall``."""

import sys
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.query_options import filter_options, queries_of, queries_option

if TYPE_CHECKING:
    from muniment.pipeline.output import Output
    from muniment.pipeline.recall.request import Request
    from muniment.pipeline.recalling import Reading

_LEVELS = ("none", "partial", "supported")


@command("recall")
@click.argument("query", required=False)
@click.option("--format", "form", type=click.Choice(["md", "json", "html"]), default="md",
              help="How; html is one page that stands alone, evidence included.")  # fmt: skip
@click.option("--token-budget", type=int, default=2_000, help="Ceiling of the pack (at least 256).")
@filter_options
@queries_option
@click.option("--fade", is_flag=True, help="Show what is old by its gist, and its time coarsely.")
@click.option(
    "--require",
    type=click.Choice(["supported", "partial"]),
    help="Exit with 4 when coverage is less.",
)
def recall(
    session: Session,
    query: str | None,
    form: str,
    queries_from: str | None,
    require: str | None,
    **asked: Any,
) -> int:
    """Answer a question with a budgeted, cited pack.

    QUERY is plain language; - reads it from standard input. With --queries-from, each answer is
    one line of JSON (or Markdown, one after another), under --json all are one document.
    """
    if form == "html" and queries_from is not None:
        raise click.UsageError("--format html answers one query at a time")
    from muniment.pipeline.resident import ask

    texts = list(queries_of(query, queries_from))
    found = ask(session, texts[0][1], asked) if queries_from is None else None
    if found is not None:
        reached = [_shown(session, *found, form)]
    else:
        reached = _cold(session, texts, asked, form, many=queries_from is not None)
    met = require is None or all(level >= _LEVELS.index(require) for level in reached)
    return 0 if met else 4


def _cold(
    session: Session, texts: list[tuple[str | None, str]], asked: dict[str, Any], form: str,
    *, many: bool,
) -> list[int]:  # fmt: skip
    """Open the store here and answer; return the level that each answer reached."""
    from muniment.pipeline.agent.working import pack_of
    from muniment.pipeline.recalling import asked_of, named, reading

    requests = [named(asked_of(session, text, asked), key, text) for key, text in texts]
    with reading(session, semantic=asked["semantic"] is True) as opened:
        if many:
            return _many(opened, requests, session.output, form)
        asking = session.settings["session"]
        return [_shown(session, *pack_of(opened, texts[0][1], asked, asking), form)]


def _shown(session: Session, pack: dict[str, Any], markdown: str, form: str) -> int:
    output = session.output
    if form == "json":
        output.document(pack)
    elif form == "html":
        from muniment.pipeline.view.pack_page import pack_page

        with session.workspace().reading() as ledger:
            output.answer(pack, "" if output.as_json else pack_page(ledger, pack))
    else:
        output.answer(pack, markdown)
    return _LEVELS.index(pack["coverage"])


def _many(opened: "Reading", requests: "list[Request]", output: "Output", form: str) -> list[int]:
    from muniment.pipeline.output import to_json, write

    packs = []
    reached = []
    for request in requests:
        pack, markdown = opened.recall(request)
        document = {"query_id": request.query_id, **pack}
        reached.append(_LEVELS.index(pack["coverage"]))
        if output.as_json:
            packs.append(document)
        else:
            write(sys.stdout, to_json(document) + "\n" if form == "json" else markdown + "\n")
    if output.as_json:
        output.document({"count": len(packs), "packs": packs})
    return reached
