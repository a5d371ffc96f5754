"""``muniment ingest`` and the five stage commands: one flow, cut at different places."""

import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from muniment.pipeline.options import Session, command

_UNTIL = ("register", "observe", "group", "propose", "index")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _options(*options: Decorator) -> Decorator:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return wrap


_RUN = _options(
    click.option("-n", "--dry-run", is_flag=True, help="Plan only; write nothing at all."),
    click.option("--jobs", type=click.IntRange(min=1), help="Worker processes at most."),
    click.option("--time-limit", type=click.FloatRange(min=0), metavar="SECONDS",
                 help="Stop after this long, between two items."),
)  # fmt: skip
_FILES = _options(
    click.argument("paths", nargs=-1, metavar="PATH..."),
    click.option("--files-from", metavar="FILE", help="Take paths from a file, - for stdin."),
    click.option("-0", "--null", "nul", is_flag=True, help="Paths of --files-from end with NUL."),
    click.option("--include", multiple=True, metavar="PATTERN", help="Take only what matches."),
    click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out what matches."),
    click.option("--source", default="folder", metavar="NAME", help="Name of where this is from."),
    click.option("--origin", default="external", help="Whose words these are.",
                 type=click.Choice(["user", "agent", "tool", "external", "third_party"])),
)  # fmt: skip
_READ = _options(
    click.option("--retry-failed", is_flag=True, help="Try again what failed for good."),
    click.option("--me", multiple=True, metavar="NAME", help="A name of the user in chats."),
)
_INDEX = click.option("--no-embeddings", is_flag=True, help="Index words only.")


@command("ingest")
@_FILES
@_READ
@click.option("--until", type=click.Choice(_UNTIL), default="index", help="Last stage to run.")
@_INDEX
@_RUN
def ingest(session: Session, until: str, **asked: Any) -> int:
    """Run the whole pipeline over files and folders.

    PATH may be - to read one text from standard input. Source folders are never written to.
    """
    stages = _UNTIL[: _UNTIL.index(until) + 1]
    return _perform(session, "ingest", stages, asked)


@command("register")
@_FILES
@_RUN
def register(session: Session, **asked: Any) -> int:
    """Hash files and keep their bytes."""
    return _perform(session, "register", ("register",), asked)


@command("observe")
@_READ
@_RUN
def observe(session: Session, **asked: Any) -> int:
    """Read what has been registered."""
    return _perform(session, "observe", ("observe",), asked)


@command("group")
@_RUN
def group(session: Session, **asked: Any) -> int:
    """Group observations into episodes."""
    return _perform(session, "group", ("group",), asked)


@command("propose")
@_RUN
def propose(session: Session, **asked: Any) -> int:
    """Propose memories and let the policy gate decide."""
    return _perform(session, "propose", ("propose",), asked)


@command("index")
@_INDEX
@_RUN
def index(session: Session, **asked: Any) -> int:
    """Bring the search index up to date."""
    return _perform(session, "index", ("index",), asked)


def _perform(session: Session, name: str, stages: tuple[str, ...], asked: dict[str, Any]) -> int:
    from muniment.pipeline.flow import Orders, perform
    from muniment.pipeline.summary import summary

    session.add({"jobs": asked["jobs"], "me": asked.get("me") or None})
    orders = Orders(
        command=name,
        stages=stages,
        register=_registration(asked) if "register" in stages else None,
        dry_run=asked["dry_run"],
        retry_failed=asked.get("retry_failed", False),
        embeddings=not asked.get("no_embeddings", False),
        time_limit=asked["time_limit"],
    )
    tally, code = perform(session, orders)
    session.output.answer(tally.document() | {"dry_run": orders.dry_run}, summary(tally, orders))
    for failure in tally.failed:
        session.output.warn(
            f"muniment: {failure['message']} [{failure['path']}] ({failure['code']})"
        )
    return int(code)


def _registration(asked: dict[str, Any]) -> Callable[[Any, bool], None]:
    """Check the selection now, so that a wrong one is said before anything is opened."""
    from muniment.pipeline.stages.register import Registration, text_from_stdin
    from muniment.pipeline.stages.walk import Filters, walk
    from muniment.store.errors import UsageError

    paths = asked["paths"]
    if not paths and not asked["files_from"]:
        raise UsageError("nothing to ingest", hint="name a PATH, or use --files-from")
    if "-" in paths and (len(paths) > 1 or asked["files_from"]):
        raise UsageError("- reads one text and stands alone")
    filters = Filters(asked["include"], asked["exclude"])

    def register_all(run: Any, dry_run: bool) -> None:
        registration = Registration(run, asked["source"], asked["origin"], dry_run)
        if paths == ("-",):
            text_from_stdin(registration)
        else:
            registration.take(walk(_named(asked), filters))

    return register_all


def _named(asked: dict[str, Any]) -> Iterator[bytes]:
    from pathlib import Path

    from muniment.pipeline.stages.walk import read_list

    yield from map(os.fsencode, asked["paths"])
    listed = asked["files_from"]
    if listed == "-":
        yield from read_list(sys.stdin.buffer, nul=asked["nul"])
    elif listed:
        with Path(listed).open("rb") as stream:
            yield from read_list(stream, nul=asked["nul"])
