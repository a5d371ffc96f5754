"""Go through candidates at a terminal, one key a decision, each kept at once."""

import sys
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.memory.amending import Correction, correct
from muniment.pipeline.memory.claims import Claims
from muniment.pipeline.memory.review import (
    Decided,
    Wanted,
    approve,
    by_id,
    find,
    in_context,
    reject,
)
from muniment.pipeline.output import printable
from muniment.pipeline.refs import resolve
from muniment.store.errors import MunimentError, UsageError

if TYPE_CHECKING:
    from muniment.pipeline.options import Session

_KEYS = "[a]pprove  [r]eject  [e]dit  [s]kip  [q]uit "
_QUIT = {"q", "\x03", "\x04", "\x1b"}


def review(session: "Session", wanted: Wanted) -> dict[str, int]:
    """Ask about each pending candidate; return how many were decided how.

    Raises ``UsageError`` without a terminal to ask at.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "a review needs a terminal",
            code="no_terminal",
            hint="use: muniment candidates list, approve and reject",
        )
    counts = dict.fromkeys(("approved", "rejected", "edited", "skipped", "left"), 0)
    workspace = session.workspace()
    with workspace.reading() as ledger:
        waiting = [row["id"] for row in find(ledger, wanted)]
    for place, identity in enumerate(waiting):
        with workspace.reading() as ledger:
            (row,) = by_id(ledger, [identity])
            shown = _shown(row, in_context(ledger, row), f"{place + 1}/{len(waiting)}")
        if row["status"] != "pending":  # decided elsewhere meanwhile
            continue
        outcome = _ask(session, row, shown)
        if outcome is None:
            counts["left"] = len(waiting) - place
            break
        counts[outcome] += 1
    return counts


def _ask(session: "Session", row: dict[str, Any], shown: str) -> str | None:
    """Show a candidate until a key decides on it; null ends the review."""
    click.echo(shown, err=True)
    while True:
        click.echo(_KEYS, err=True, nl=False)
        try:
            key = click.getchar().lower()
        except (EOFError, KeyboardInterrupt):
            key = "q"
        click.echo(printable(key, one_line=True), err=True)
        if key in _QUIT:
            return None
        if key == "s":
            return "skipped"
        if key in {"a", "r", "e"}:
            try:
                return _decide(session, row, key)
            except MunimentError as error:
                click.echo(printable(error.message, one_line=True), err=True)


def _decide(session: "Session", row: dict[str, Any], key: str) -> str:
    change = _edited(row) if key == "e" else None
    with session.workspace().writing() as ledger, ledger.unit():
        if key == "r":
            reject(ledger, row, "rejected by the user")
            return "rejected"
        record = _approved(approve(ledger, row))
        if change is None:
            return "approved"
        correct(ledger, Claims(ledger, "user").current(resolve(ledger, record).id), change)
        return "edited"


def _approved(decided: Decided) -> str:
    """Return the record that an approval made."""
    if decided.refused:
        raise UsageError(f"it can't be approved: {decided.refused[0]['reason']}")
    if not decided.done:
        raise UsageError("it has been decided on already")
    return str(decided.done[0]["record"])


def _edited(row: dict[str, Any]) -> Correction:
    text = click.prompt("text", default=row["text"], err=True)
    value = row["value"]
    if row["key"]:
        value = click.prompt(f"value of {row['key']}", default=value, err=True)
    return Correction(text=text, value=value, reason="edited in review")


def _shown(row: dict[str, Any], context: list[dict[str, Any]], place: str) -> str:
    from muniment.pipeline.commands.candidates import shown

    document = {"ref": f"candidate:{row['id']}", **row, "context": context}
    return f"\n{place}\n{shown(document)}"
