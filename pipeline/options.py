"""Options that every command shares, spelt once and accepted before or after the command."""

import functools
import os
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from muniment.pipeline.output import Output

if TYPE_CHECKING:
    from muniment.adapters.ports import ModelCall
    from muniment.pipeline.settings import Settings
    from muniment.pipeline.workspace import Workspace

Function = TypeVar("Function", bound=Callable[..., Any])

_GLOBAL = (
    click.option("--root", metavar="DIR", help="The directory that holds the store."),
    click.option("--tenant", metavar="ID", help="Tenant of the scope (local)."),
    click.option("--user", metavar="ID", help="User of the scope (me)."),
    click.option("--namespace", metavar="ID", help="Namespace of the scope (personal)."),
    click.option("--agent", metavar="ID", help="Agent that asks; kept as provenance."),
    click.option("--session", metavar="ID", help="Session; kept as provenance."),
    click.option("--config", metavar="FILE", help="Configuration file (TOML)."),
    click.option("--json", "json", is_flag=True, default=None, help="Print one JSON document."),
    click.option("-q", "--quiet", is_flag=True, default=None, help="Only the answer and errors."),
    click.option("-v", "--verbose", is_flag=True, default=None, help="Say more on stderr."),
    click.option("--progress", type=click.Choice(["auto", "always", "never"]), default=None,
                 help="When to draw progress on stderr."),
    click.option("--offline", is_flag=True, default=None, help="Refuse every remote adapter."),
    click.option("--lock-wait", type=click.FloatRange(min=0), default=None, metavar="SECONDS",
                 help="How long to wait for another process."),
    click.option("--debug", is_flag=True, default=None, help="Show tracebacks."),
)  # fmt: skip
_NAMES = (
    "root", "tenant", "user", "namespace", "agent", "session", "config", "json", "quiet",
    "verbose", "progress", "offline", "lock_wait", "debug",
)  # fmt: skip


# What may name a file by its metavar: those names are bytes and stay as they are.
_FILES = re.compile(r"FILE|DIR|PATH|DEST|PATTERN|URL|^\[?REFS?\b(?!\|)")


def engine_options(function: Function) -> Function:
    """Add the options of a command whose heavy work may run elsewhere."""
    function = click.option(
        "--ray-address", metavar="ADDRESS", help="The Ray cluster: HOST:PORT, or auto."
    )(function)
    engines = click.Choice(["local", "ray"])
    return click.option("--engine", type=engines, help="Where reading and embedding run (local).")(
        function
    )


def global_options(function: Function) -> Function:
    """Add the global options to a group or command."""
    for option in reversed(_GLOBAL):
        function = option(function)
    return function


class Session:
    """What one invocation knows: the flags given before and after the command."""

    def __init__(self, flags: dict[str, Any] | None = None) -> None:
        self._flags = flags or {}
        self._settings: Settings | None = None
        self.calls: list[ModelCall] = []  # audit rows of remote calls, not kept yet

    def add(self, flags: dict[str, Any]) -> None:
        """Let flags after the command beat those before it."""
        self._flags |= {name: value for name, value in flags.items() if value is not None}
        self._settings = None

    @property
    def settings(self) -> "Settings":
        """The effective settings, read at first use."""
        if self._settings is None:
            from muniment.pipeline.settings import load

            self._settings = load(self._flags, os.environ, self._flags.get("config"))
        return self._settings

    @property
    def output(self) -> Output:
        """The streams as the settings want them."""
        settings = self.settings
        return Output(
            as_json=settings["json"], quiet=settings["quiet"], verbose=settings["verbose"]
        )

    def workspace(self) -> "Workspace":
        """Name the root and scope; nothing is opened yet."""
        from muniment.pipeline.workspace import Workspace

        return Workspace(self.settings)


def _storable(context: click.Context, flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags with their texts as a store can hold them, whatever bytes were given."""
    told = dict(flags)
    for param in context.command.params:
        value = flags.get(param.name or "")
        texts = value if isinstance(value, tuple) else (value,)
        if all(not isinstance(text, str) or text.isascii() for text in texts):
            continue
        if _FILES.search(param.make_metavar(context)) is None:
            told[str(param.name)] = _mended(value)
    return told


def _mended(value: Any) -> Any:
    from muniment.store.ids import storable

    if isinstance(value, tuple):
        return tuple(map(_mended, value))
    return storable(value) if isinstance(value, str) else value


def _keep_calls(session: Session) -> None:
    """Leave a row of every remote call; where the store is busy, say that it could not be."""
    from muniment.store.errors import MunimentError

    try:
        with session.workspace().writing() as ledger, ledger.unit():
            ledger.audit.keep(session.calls)
    except MunimentError as error:
        session.output.warn(f"{len(session.calls)} model calls left no row: {error.message}")
    session.calls.clear()


dry_run_option = click.option(
    "-n", "--dry-run", is_flag=True, help="Say what would be done; write nothing."
)


def command(name: str, **attributes: Any) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command that takes the global options and gets the session first."""

    def wrap(function: Callable[..., Any]) -> click.Command:
        @click.pass_context
        @functools.wraps(function)
        def run(context: click.Context, /, **flags: Any) -> Any:
            session = context.ensure_object(Session)
            flags = _storable(context, flags)
            session.add({key: flags.pop(key) for key in _NAMES})
            try:
                return function(session, **flags)
            finally:
                if session.calls:
                    _keep_calls(session)

        decorate: Callable[[Callable[..., Any]], click.Command] = click.command(name, **attributes)
        return decorate(global_options(run))

    return wrap


def group(name: str, members: Mapping[str, click.Command], help_text: str) -> click.Group:
    """Make a command of commands; the global options may stand before or after each of them."""

    @click.pass_context
    def run(context: click.Context, /, **flags: Any) -> None:
        context.ensure_object(Session).add(flags)
        if context.invoked_subcommand is None:
            context.fail(f"which one? {context.command_path} {'|'.join(members)}")

    decorate = click.group(name, help=help_text, invoke_without_command=True)
    made: click.Group = decorate(global_options(run))
    for member, one in members.items():
        made.add_command(one, member)
    return made
