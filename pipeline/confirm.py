"""Ask before something goes: on a terminal only, where nobody else can answer."""

import sys

import click

from muniment.pipeline.output import printable
from muniment.store.errors import UsageError


def confirm(what: str, *, yes: bool) -> None:
    """Return when the person agrees; without a terminal ``--yes`` must have been given."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise UsageError(
            f"this would {what}", code="not_confirmed", hint="give --yes, or --dry-run to see it"
        )
    click.confirm(printable(f"This will {what}. Go on?", one_line=True), abort=True, err=True)
