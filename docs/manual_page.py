"""Write the manual page ``muniment(1)`` from the commands' own help; part of ``make docs``."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from muniment import __version__
from muniment.pipeline.cli import cli
from muniment.pipeline.settings import OPTIONS
from muniment.store.errors import ExitCode

PAGE = Path(__file__).resolve().parent / "reference" / "muniment.1"
CONTEXT = click.Context(cli, info_name="muniment")
INTRODUCTION = (
    "Muniment hashes notes, chats, documents, pictures, recordings and films into "
    "content-addressed storage, reads them on this machine, and answers a question with a "
    "budgeted pack in which each claim cites the place that it was read from.",
    "Options that every command knows go before or after it. Each is a variable, too, and a key "
    "of the configuration file; flags beat variables, variables beat the file. A query that "
    "starts with a dash comes after two dashes.",
)
FILES = (
    ("$XDG_DATA_HOME/muniment", "the store, unless --root or MUNIMENT_ROOT names another"),
    ("$XDG_CONFIG_HOME/muniment/config.toml", "the configuration"),
    ("$XDG_CACHE_HOME/muniment", "what can be made again"),
)


def manual_page() -> str:
    """Return the page in man(7) macros, without a date."""
    lines = [
        f'.TH MUNIMENT 1 "" "muniment {escaped(__version__)}" "User Commands"',
        ".SH NAME",
        escaped("muniment - folders of media turned into memory that can prove itself"),
        ".SH SYNOPSIS",
        r".B muniment",
        escaped("[OPTIONS] COMMAND [OPTIONS] [ARGUMENTS]"),
        ".SH DESCRIPTION",
        *_paragraphs(INTRODUCTION),
        ".SH OPTIONS",
        *_options(cli.params),
        ".SH COMMANDS",
    ]
    for name, command in _commands():
        lines += [f'.SS "muniment {escaped(name)}{_arguments(command)}"', *_help(command)]
        shared = {parameter.name for parameter in cli.params}
        lines += _options(p for p in command.params if p.name not in shared)
    lines += [".SH EXIT STATUS"]
    for code in ExitCode:
        lines += [".TP", str(code.value), escaped(code.name.lower().replace("_", " "))]
    lines += [".SH ENVIRONMENT"]
    for name, option in OPTIONS.items():
        lines += [".TP", rf".B MUNIMENT_{name.upper()}", escaped(option.help)]
    lines += [".SH FILES"]
    for path, text in FILES:
        lines += [".TP", f".I {escaped(path)}", escaped(text)]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Return text on one line that troff takes as it stands."""
    line = " ".join(text.replace("\b", "").split())
    line = line.replace("\\", r"\e").replace("-", r"\-").replace('"', r"\(dq")
    return r"\&" + line if line.startswith((".", "'")) else line


def _commands() -> Iterator[tuple[str, click.Command]]:
    for name in cli.list_commands(CONTEXT):
        command = cli.get_command(CONTEXT, name)
        if command is None or command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from ((f"{name} {verb}", one) for verb, one in command.commands.items())
        else:
            yield name, command


def _arguments(command: click.Command) -> str:
    named = [p.make_metavar(CONTEXT) for p in command.params if isinstance(p, click.Argument)]
    return "".join(f" {escaped(name)}" for name in named)


def _help(command: click.Command) -> list[str]:
    return _paragraphs((command.help or "").split("\n\n"))


def _paragraphs(texts: Iterable[str]) -> list[str]:
    return [line for text in texts if text.strip() for line in (".PP", escaped(text))]


def _options(parameters: Iterable[click.Parameter]) -> list[str]:
    lines = []
    for option in parameters:
        if isinstance(option, click.Option) and not option.hidden:
            names = ", ".join((*option.opts, *option.secondary_opts))
            metavar = "" if option.is_flag or option.count else f" {option.make_metavar(CONTEXT)}"
            lines += [".TP", f".B {escaped(names + metavar)}", escaped(option.help or "")]
    return lines


if __name__ == "__main__":
    PAGE.write_text(manual_page(), encoding="utf-8")
