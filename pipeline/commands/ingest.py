"""``muniment ingest`` and the five stage commands: one flow, cut at different places."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muniment.pipeline.options import Session, command, engine_options

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muniment.pipeline.flow import Orders
    from muniment.pipeline.stages.run import Tally
    from muniment.pipeline.stages.walk import Walked

_TYPES = (
    "text", "document", "mail", "chat", "subtitle", "image", "audio", "video", "archive",
)  # fmt: skip
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
    click.option("--allow-forgotten", is_flag=True, help="Let back in what was forgotten."),
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
    click.option("--type", "types", multiple=True, type=click.Choice(_TYPES),
                 help="Take only files that are this by their content."),
    click.option("--max-size", metavar="SIZE", help="Leave out larger files (500K, 20M, 2G)."),
    click.option("--newer-than", metavar="TIME", help="Changed after a date, or within 30d."),
    click.option("--older-than", metavar="TIME", help="Changed before a date, or 30d ago."),
    click.option("--observations", metavar="FILE", help="Take what was read elsewhere (JSON)."),
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
@click.option("--watch", is_flag=True, help="Go on following the folders until interrupted.")
@click.option(
    "--settle",
    type=click.FloatRange(min=0),
    default=2.0,
    metavar="SECONDS",
    show_default=True,
    help="With --watch: how long a file must stand still.",
)
@_INDEX
@_RUN
@engine_options
def ingest(session: Session, until: str, *, watch: bool, settle: float, **asked: Any) -> int:
    """Run the whole pipeline over files and folders.

    PATH may be - to read one text from standard input. Source folders are never written to.
    """
    stages = _UNTIL[: _UNTIL.index(until) + 1]
    if watch:
        return _follow(session, stages, asked, settle)
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
@engine_options
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
@engine_options
def index(session: Session, **asked: Any) -> int:
    """Bring the search index up to date."""
    return _perform(session, "index", ("index",), asked)


def _perform(session: Session, name: str, stages: tuple[str, ...], asked: dict[str, Any]) -> int:
    from muniment.pipeline.flow import perform

    orders = _orders(session, name, stages, asked)
    tally, code = perform(session, orders)
    _report(session, orders, tally)
    return int(code)


def _report(session: Session, orders: "Orders", tally: "Tally") -> None:
    from muniment.pipeline.summary import summary

    document = tally.document() | {"dry_run": orders.dry_run}
    session.output.report(document, summary(tally, orders), well=not tally.failed)
    for failure in tally.failed:
        session.output.warn(
            f"muniment: {failure['message']} [{failure['path']}] ({failure['code']})"
        )


def _orders(
    session: Session, name: str, stages: tuple[str, ...], asked: dict[str, Any]
) -> "Orders":
    from muniment.pipeline.flow import Orders

    session.add({
        "jobs": asked["jobs"], "me": asked.get("me") or None,
        "engine": asked.get("engine"), "ray_address": asked.get("ray_address"),
    })  # fmt: skip
    return Orders(
        command=name,
        stages=stages,
        register=_registration(asked, _walk(asked)) if "register" in stages else None,
        dry_run=asked["dry_run"],
        retry_failed=asked.get("retry_failed", False),
        embeddings=not asked.get("no_embeddings", False),
        allow_forgotten=asked["allow_forgotten"],
        time_limit=asked["time_limit"],
    )


def _follow(session: Session, stages: tuple[str, ...], asked: dict[str, Any], settle: float) -> int:
    """Take what is there and what comes, until interrupted; the item in hand is finished."""
    from dataclasses import replace
    from threading import Event, Timer

    from muniment.pipeline.flow import perform
    from muniment.pipeline.stages.run import Tally, new_run_id
    from muniment.pipeline.watching import Watch, stopped_by
    from muniment.store.errors import UsageError

    if "-" in asked["paths"] or asked["files_from"] or asked["dry_run"]:
        raise UsageError("--watch follows named folders and files", hint="name a PATH")
    stop, whole = Event(), Tally(new_run_id())
    orders = replace(_orders(session, "ingest", stages, asked), time_limit=None, stop=stop.is_set)

    def ingest_some(found: "Iterable[Walked]") -> Tally:
        done, _ = perform(session, replace(orders, register=_registration(asked, lambda: found)))
        return done

    watch = Watch(_walk(asked), ingest_some, whole, settle, session.output.warn, stop)
    timer = Timer(asked["time_limit"] or 0, stop.set)
    timer.daemon = True
    with stopped_by(stop) as came:
        if asked["time_limit"] is not None:
            timer.start()
        watch.run()
    timer.cancel()
    _report(session, orders, whole)
    return 128 + came[0] if came else int(whole.exit_code)


def _walk(asked: dict[str, Any]) -> "Callable[[], Iterable[Walked]]":
    """Check the selection now, so that a wrong one is said before anything is opened."""
    from muniment.pipeline.stages.walk import Filters, walk
    from muniment.store.errors import UsageError

    paths = asked.get("paths", ())
    if not paths and not asked.get("files_from"):
        raise UsageError("nothing to ingest", hint="name a PATH, or use --files-from")
    if "-" in paths and (len(paths) > 1 or asked["files_from"]):
        raise UsageError("- reads one text and stands alone")
    filters = Filters(asked["include"], asked["exclude"])
    return lambda: walk(_named(asked), filters)


def _registration(
    asked: dict[str, Any], walked: "Callable[[], Iterable[Walked]]"
) -> Callable[[Any, bool], None]:
    from muniment.pipeline.stages.bounds import bounds_of
    from muniment.pipeline.stages.register import Registration, text_from_stdin

    bounds = bounds_of(asked["max_size"], asked["types"], asked["newer_than"], asked["older_than"])

    def register_all(run: Any, dry_run: bool) -> None:
        registration = Registration(run, asked["source"], asked["origin"], dry_run, bounds)
        if asked["paths"] == ("-",):
            text_from_stdin(registration)
        else:
            registration.take(walked())
        if asked["observations"] and not dry_run:
            from muniment.pipeline.stages.supplied import take_supplied

            take_supplied(run, Path(asked["observations"]))

    return register_all


def _named(asked: dict[str, Any]) -> Iterator[bytes]:
    from muniment.pipeline.stages.walk import read_list
    from muniment.store.errors import UsageError

    yield from map(os.fsencode, asked["paths"])
    listed = asked["files_from"]
    if listed == "-":
        yield from read_list(sys.stdin.buffer, nul=asked["nul"])
    elif listed:
        try:
            with Path(listed).open("rb") as stream:
                yield from read_list(stream, nul=asked["nul"])
        except OSError as error:
            raise UsageError(f"the list can't be read: {error.strerror}", path=listed) from error
