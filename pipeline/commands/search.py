"""``muniment search`` and ``muniment explain``."""

import sys
from typing import Any

import click

from muniment.pipeline.options import Session, command
from muniment.pipeline.query_options import filter_options, queries_of, queries_option

_LINE_CHARACTERS = 100


@command("search")
@click.argument("query", required=False)
@click.option("--limit", type=click.IntRange(min=1, max=1_000), default=10, help="Hits at most.")
@filter_options
@queries_option
@click.option("--jsonl", is_flag=True, help="One JSON object a hit, a summary last.")
def search(
    session: Session,
    query: str | None,
    limit: int,
    queries_from: str | None,
    jsonl: bool,
    **asked: Any,
) -> None:
    """Rank what answers a question, without packing it.

    Observations are ranked unless --kind names others. QUERY is plain language; - reads it from
    standard input.
    """
    from muniment.pipeline.output import to_json, write
    from muniment.pipeline.recalling import asked_of, named, reading

    requests = [named(asked_of(session, text, asked), key, text)
                for key, text in queries_of(query, queries_from)]  # fmt: skip
    found: list[dict[str, Any]] = []
    count = 0
    with reading(session, semantic=asked["semantic"] is True) as opened:
        for request in requests:
            hits = opened.search(request, limit)
            count += len(hits)
            if jsonl:
                write(sys.stdout, "".join(to_json(hit) + "\n" for hit in hits))
            else:
                found += hits
        notes = opened.notes
    if jsonl:
        summary = {"type": "summary", "queries": len(requests), "count": count, "warnings": notes}
        write(sys.stdout, to_json(summary) + "\n")
        return
    document = {"queries": len(requests), "count": count, "hits": found, "warnings": notes}
    session.output.answer(document, "".join(map(_line, found)))


@command("explain")
@click.argument("query")
@click.option("--limit", type=click.IntRange(min=1, max=200), default=10, help="Hits at most.")
@click.option("--token-budget", type=int, default=2_000, help="Of the pack that is explained.")
@filter_options
def explain(session: Session, query: str, limit: int, **asked: Any) -> None:
    """Show every signal's rank, score and part in each hit, and why others were left out."""
    from muniment.pipeline.recall.explain import as_text
    from muniment.pipeline.recalling import asked_of, reading

    if query == "-":
        query = sys.stdin.read()
    request = asked_of(session, query, asked)
    with reading(session, semantic=request.semantic == "on") as opened:
        document = opened.explain(request, limit)
    session.output.answer(document, as_text(document))


def _line(hit: dict[str, Any]) -> str:
    from muniment.pipeline.output import printable

    text = " ".join(hit["text"].split())
    if len(text) > _LINE_CHARACTERS:
        text = text[: _LINE_CHARACTERS - 1] + "…"
    lead = f"{hit['query_id']} " if hit["query_id"] is not None else ""
    return printable(f"{lead}{hit['rank']:>3}  {hit['score']:.4f}  {text}") + (
        f"\n       {hit['ref']}  {printable(hit['path'], one_line=True)}\n"
    )
