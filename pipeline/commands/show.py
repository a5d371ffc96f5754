"""``muniment show``."""

from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.completing import completes
from muniment.pipeline.options import Session, command

if TYPE_CHECKING:
    from muniment.pipeline.refs import Ref
    from muniment.store.ledger import Ledger

PAGE_CHARACTERS = 4_000


@command("show")
@click.argument(
    "ref",
    shell_complete=completes("record", "candidate", "episode", "entity", "observation", files=True),
)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Where the text begins.")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=PAGE_CHARACTERS,
    help="How many characters of text.",
)
@click.option(
    "--extract",
    metavar="FILE",
    help="Write the cited crop, page, clip or text there; of a page, .txt gets the words.",
)
@click.option("--open", "opened", is_flag=True, help="Hand the same to the desktop to look at.")
@click.option("--no-preview", is_flag=True, help="Draw no small picture on the terminal.")
@click.option("--why-time", is_flag=True, help="Tell every claim on its time, and the choice.")
def show(  # noqa: PLR0913 (the options of a command)
    session: Session, ref: str, *, offset: int, limit: int, extract: str | None, opened: bool,
    no_preview: bool, why_time: bool,
) -> None:  # fmt: skip
    """Show any object with its provenance.

    REF is kind:id, sha256:..., or a path that was ingested (path:... forces it).
    """
    from muniment.pipeline.objects import describe
    from muniment.pipeline.refs import resolve

    with session.workspace().reading() as ledger:
        found = resolve(ledger, ref)
        if why_time:
            from muniment.pipeline import why_time as reasons

            document = reasons.why_time(ledger, found)
            session.output.answer(document, _text(document))
            return
        document = _page(describe(ledger, found), offset, limit)
        if extract is not None:
            from muniment.pipeline.extraction import extract_to

            document["extracted"] = extract_to(ledger, found, extract, session.workspace())
        if opened:
            from muniment.pipeline.opening import open_evidence

            document["opened"] = open_evidence(ledger, found, session.workspace())
        drawn = "" if no_preview or session.output.as_json else _drawn(session, ledger, found)
    session.output.answer(document, drawn + _text(document))


def _drawn(session: Session, ledger: "Ledger", found: "Ref") -> str:
    """Return a small picture for the terminal; a command that is piped loads nothing for it."""
    import sys

    if not sys.stdout.isatty():
        return ""
    from muniment.pipeline.view.preview import preview

    return preview(ledger, found, session.workspace())


def _page(document: dict[str, Any], offset: int, limit: int) -> dict[str, Any]:
    """Cut a long text to one page and say where the next begins."""
    text = document.get("text")
    if text is None:
        return document
    end = offset + limit
    return {
        **document,
        "text": text[offset:end],
        "text_characters": len(text),
        "next_offset": end if end < len(text) else None,
    }


def _text(document: dict[str, Any], indent: str = "") -> str:
    from muniment.pipeline.output import printable

    lines: list[str] = []
    for name, value in document.items():
        lines += _field(name.replace("_", " "), value, indent)
    return printable("\n".join(lines))


def _field(label: str, value: Any, indent: str) -> list[str]:
    if isinstance(value, dict) and value:
        return [f"{indent}{label}:", _text(value, indent + "  ")]
    if isinstance(value, list | tuple) and value:
        return [f"{indent}{label}:", *(_item(item, indent + "  ") for item in value)]
    if isinstance(value, str) and "\n" in value:
        return [f"{indent}{label}:", *(f"{indent}  | {line}" for line in value.splitlines())]
    return [f"{indent}{label}: {'-' if value in (None, [], {}) else value}"]


def _item(value: Any, indent: str) -> str:
    if not isinstance(value, dict):
        return f"{indent}- {value}"
    first, *rest = _text(value, indent + "  ").split("\n")
    return "\n".join([f"{indent}- {first.strip()}", *rest])
