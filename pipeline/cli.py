"""The command line: options in, one stage run, one answer out, errors to exit codes.

``--help``, ``--version`` and completion load no command, no store and no model: the names and
first lines of the commands stand in a table here, the commands in files of their own.
"""

import errno
import functools
import importlib
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import click

from muniment import __version__
from muniment.pipeline import output
from muniment.pipeline.options import Session, global_options
from muniment.store.errors import ExitCode, MunimentError

# verb: (module:command, first line of its help). A test holds the two together.
COMMANDS = {
    "init": ("store:init", "Make the root a store with this scope in it."),
    "status": ("store:status", "Show what the store holds and what is left to do."),
    "stats": (
        "stats:stats",
        "Show media and memories over time, sources, growth and the time of recalls.",
    ),
    "doctor": ("doctor:doctor", "Check every dependency and the store's integrity."),
    "config": ("store:config", "Show the effective settings and where each came from."),
    "ingest": ("ingest:ingest", "Run the whole pipeline over files and folders."),
    "register": ("ingest:register", "Hash files and keep their bytes."),
    "observe": ("ingest:observe", "Read what has been registered."),
    "group": ("ingest:group", "Group observations into episodes."),
    "propose": ("ingest:propose", "Propose memories and let the policy gate decide."),
    "index": ("ingest:index", "Bring the search index up to date."),
    "recall": ("recall:recall", "Answer a question with a budgeted, cited pack."),
    "search": ("search:search", "Rank what answers a question, without packing it."),
    "explain": (
        "search:explain",
        "Show every signal's rank, score and part in each hit, and why others were left out.",
    ),
    "show": ("show:show", "Show any object with its provenance."),
    "list": ("list:list_objects", "List objects of one kind."),
    "remember": ("remember:remember", "Keep an explicit statement of the user."),
    "candidates": ("candidates:candidates", "List, show, approve and reject proposed memories."),
    "correct": (
        "amend:correct",
        "Say what a record should say; the old version is kept and no longer answers.",
    ),
    "misread": (
        "misread:misread",
        "Say that an observation was misread: it is kept, marked, and no longer answers.",
    ),
    "links": ("links:links", "Link records as related, so that one brings in the other."),
    "pin": ("amend:pin", "Exempt records from decay."),
    "unpin": ("amend:unpin", "Let records decay again."),
    "archive": ("amend:archive", "Hide records from recall; they and their evidence are kept."),
    "unarchive": ("amend:unarchive", "Let archived records answer again."),
    "history": (
        "history:history",
        "Show every version of a record or key and every change of its state.",
    ),
    "timeline": ("history:timeline", "Show what held when, in words."),
    "conflicts": (
        "conflicts:conflicts",
        "List claims that contradict each other, and settle them.",
    ),
    "entities": (
        "entities:entities",
        "Settle who is who: merge, split and name the people, places and things of the evidence.",
    ),
    "forget": (
        "forget:forget",
        "Hide things until they are asked back, or erase them for good.",
    ),
    "unforget": ("forget:unforget", "Bring back what was forgotten softly."),
    "consolidate": (
        "consolidate:consolidate",
        "Archive what has faded, close what has ended, merge what says the same.",
    ),
    "render": ("render:render", "Write memory as Markdown pages for people into DIR."),
    "verify": ("verify:verify", "Re-hash assets and check that everything holds together."),
    "reindex": ("reindex:reindex", "Rebuild the search index beside the live one and swap it in."),
    "backup": ("backup:backup", "Keep verified snapshots of the whole store in a repository."),
    "restore": ("restore:restore", "Bring a snapshot of a backup repository back into the root."),
    "export": (
        "archive:export_archive",
        "Write the scope's authoritative state as a portable JSONL archive.",
    ),
    "import": ("archive:import_archive", "Take an archive into this scope, which must be empty."),
    "migrate": (
        "migrate:migrate",
        "Bring the store to the current schema, keeping a copy of each ledger.",
    ),
    "session": ("session:session", "Append to sessions, show, resume and end them."),
    "turn": ("turn:turn", "Prepare a turn before a reply and complete it after."),
    "checkpoint": ("checkpoint:checkpoint", "Save and show the state of a task."),
    "persona": ("persona:persona", "Show, set and roll back the persona of the user."),
    "host-ingest": (
        "host_ingest:host_ingest",
        "Take a host's events in behind a cursor that only one writer can move.",
    ),
    "serve": ("serve:serve", "Keep a store warm and serve it."),
    "demo": ("demo:demo", "Ingest the bundled samples and recall from them, offline."),
    "completion": ("completion:completion", "Print a completion script for a shell."),
}

_EXIT_TABLE = """\b
Exit codes:
  0    done
  1    failed, nothing usable
  2    usage or configuration
  3    done in part
  4    object not found, or --require not met
  5    a check found damage
  10   no store here
  11   locked, try later
  12   the store's state or version refuses
  13   no space left
  14   a needed tool or model is missing
  130  interrupted
  143  terminated
"""


class Terminated(BaseException):
    """SIGTERM arrived; the item in hand is rolled back on the way out."""


class LazyGroup(click.Group):
    """A group that imports a command when it is called, not when it is listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the flow."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, attribute = COMMANDS[cmd_name][0].split(":")
        found = getattr(importlib.import_module(f"muniment.pipeline.commands.{module}"), attribute)
        return found if isinstance(found, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for a mistyped one."""
        if args and args[0] not in COMMANDS:
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            hint = f" Did you mean {close[0]!r}?" if close else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup,
    epilog=_EXIT_TABLE,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="muniment")
@global_options
@click.pass_context
def cli(context: click.Context, /, **flags: Any) -> None:
    """Turn folders of media into memory that can prove itself: local, offline, cited."""
    context.obj = Session(flags)


def main() -> NoReturn:
    """Run one command and exit with its code."""
    _harden_streams()
    _die_like_others(signal.SIGTERM)
    arguments = sys.argv[1:]
    try:
        code = run(arguments)
    except BrokenPipeError:
        # `| head` closed the pipe: it has what it wanted.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = ExitCode.DONE
    sys.exit(int(code))


def run(arguments: list[str]) -> int:
    """Run one command in this process; return its exit code."""
    try:
        result = _invoke(arguments)
    except BrokenPipeError:
        raise
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)  # asked for nothing: what there is, is told
        return ExitCode.USAGE
    except (Exception, KeyboardInterrupt, Terminated) as error:
        if _asked("debug", arguments) and isinstance(error, Exception):
            raise
        return _say(_fault(error), as_json=_asked("json", arguments))
    return result if isinstance(result, int) else ExitCode.DONE


def _invoke(arguments: list[str]) -> Any:
    """Run a command without click's own ending, which takes a closed pipe for a failure."""
    if "_MUNIMENT_COMPLETE" in os.environ:
        return cli.main(args=arguments, prog_name="muniment", standalone_mode=False)
    with cli.make_context("muniment", list(arguments)) as context:
        return cli.invoke(context)


def _asked(flag: str, arguments: list[str]) -> bool:
    """Tell whether a flag was given, even where the arguments could not be parsed."""
    variable = os.environ.get(f"MUNIMENT_{flag.upper()}", "").lower()
    return f"--{flag}" in arguments or variable in {"1", "true", "yes"}


class Fault(NamedTuple):
    """What is said of an error: the fields of the error document and the exit code."""

    exit_code: ExitCode
    code: str
    message: str
    hint: str = ""
    path: str | None = None


@functools.singledispatch
def _fault(error: BaseException) -> Fault:
    """Put an error into one line; what we did not foresee shows neither input nor traceback."""
    said = error.strerror if isinstance(error, OSError) and error.strerror else ""
    message = f"unexpected {type(error).__name__}{': ' if said else ''}{said}"
    return Fault(ExitCode.FAILED, "internal", message, "run again with --debug for the details")


@_fault.register
def _(error: MunimentError) -> Fault:
    return Fault(error.exit_code, error.code, error.message, error.hint, error.path)


@_fault.register
def _(error: click.ClickException) -> Fault:
    context = getattr(error, "ctx", None)
    hint = f"see: {context.command_path if context else 'muniment'} --help"
    return Fault(ExitCode.USAGE, "usage", error.format_message(), hint)


@_fault.register
def _(error: OSError) -> Fault:
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return Fault(ExitCode.NO_SPACE, "no_space", "no space left where the answer goes")
    return _fault.dispatch(Exception)(error)


@_fault.register
def _(error: MemoryError) -> Fault:
    return Fault(ExitCode.FAILED, "memory", "not enough memory")


@_fault.register(KeyboardInterrupt)
@_fault.register(click.Abort)
def _(error: BaseException) -> Fault:
    return Fault(ExitCode.INTERRUPTED, "interrupted", "interrupted")


@_fault.register
def _(error: Terminated) -> Fault:
    return Fault(ExitCode.TERMINATED, "terminated", "terminated")


def _say(fault: Fault, *, as_json: bool) -> int:
    if as_json:
        document: dict[str, Any] = {
            "code": fault.code, "message": fault.message, "hint": fault.hint
        }  # fmt: skip
        if fault.path is not None:
            document |= output.path_fields(os.fsencode(fault.path))
        output.write(sys.stdout, output.to_json({"error": document}) + "\n")
    where = f" [{fault.path}]" if fault.path else ""
    hint = f" - {fault.hint}" if fault.hint else ""
    line = f"muniment: {fault.message}{where} ({fault.code}){hint}"
    output.write(sys.stderr, output.printable(line, one_line=True) + "\n")
    return int(fault.exit_code)


def _harden_streams() -> None:
    """Write UTF-8 in any locale; what can't be encoded or decoded is never a crash."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # it was closed before we began: say it to nobody
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    reconfigure = getattr(sys.stdin, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _die_like_others(number: signal.Signals) -> None:
    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(number, stop)
