"""The options of every command that asks: filters of CONTRACT 5, how signals join, many queries."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from muniment.store.errors import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

_FILTERS = (
    click.option("--kind", multiple=True, metavar="KIND",
                 help="Only this kind: ocr, message, ...; a memory's kind; record or episode."),
    click.option("--media", multiple=True, help="Only from this family, such as image or audio."),
    click.option("--since", metavar="TIME", help="Only from then on."),
    click.option("--until", metavar="TIME", help="Only up to then, a named day or month included."),
    click.option("--as-of", metavar="TIME", help="Facts as they held then."),
    click.option("--known-at", metavar="TIME", help="Facts as the store knew them then."),
    click.option("--include-history", is_flag=True, help="Superseded records, too."),
    click.option("--include-archived", is_flag=True, help="Archived records, too."),
    click.option("--min-confidence", type=click.FloatRange(0, 1), help="At least."),
    click.option("--in-session", metavar="ID", help="Only from this session or thread."),
    click.option("--path", metavar="PATH", help="Only from this file or folder."),
    click.option("--fusion", type=click.Choice(["weighted", "rrf"]), default="weighted",
                 help="How signals are merged."),
    click.option("--semantic/--no-semantic", default=None, help="Use vectors, or do not."),
)  # fmt: skip


def filter_options(function: Function) -> Function:
    """Add the filters and the choice of signals."""
    for option in reversed(_FILTERS):
        function = option(function)
    return function


queries_option = click.option(
    "--queries-from",
    metavar="FILE",
    help='Many queries, one JSON object a line: {"id": ..., "query": ...}; - is standard input.',
)


def queries_of(query: str | None, file: str | None) -> Iterator[tuple[str | None, str]]:
    """Yield (id, query) of the one query, or of each line of the file.

    Raises ``UsageError`` for neither or both, and for a line that is no such object.
    """
    if (query is None) == (file is None):
        raise UsageError("give a query or --queries-from FILE", code="bad_query")
    if file is None:
        yield None, sys.stdin.read() if query == "-" else str(query)
        return
    for number, line in enumerate(_lines(file), 1):
        if line.strip():
            yield _asked(line, f"{file}, line {number}")


def _lines(file: str) -> list[str]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8-sig")
    except OSError as error:
        raise UsageError(
            f"the queries can't be read: {error.strerror}", code="bad_query", path=file
        ) from error
    except UnicodeDecodeError as error:
        raise UsageError("the queries are not UTF-8", code="bad_query", path=file) from error
    return text.split("\n")


def _asked(line: str, place: str) -> tuple[str | None, str]:
    try:
        row = json.loads(line)
        query, key = row["query"], row.get("id")
    except (ValueError, TypeError, KeyError, AttributeError):
        query, key = None, None
    if not isinstance(query, str) or not (key is None or isinstance(key, str | int)):
        raise UsageError(
            f"{place}: not a query", code="bad_query", hint='{"id": "q1", "query": "..."}'
        )
    return None if key is None else str(key), query
