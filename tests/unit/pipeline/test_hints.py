"""Hints send people to commands: every one that is named exists, with the options it is given."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from support.stores import TinyStore

from muniment.pipeline import cli
from muniment.pipeline.objects import describe
from muniment.pipeline.refs import KINDS, Ref
from muniment.store import manifest
from muniment.store.errors import NotFoundError
from muniment.store.layout import Root

SOURCE = Path(cli.__file__).parents[1]
ROOMS = ("store", "adapters", "pipeline")
# After these, what follows is meant to be typed.
TYPED = re.compile(r"(?:: |：|(?<!`)`|\$ |\$\()muniment ([a-z-]+(?: [^\s,;`)]+)*)")


def texts(file: Path) -> Iterator[str]:
    """Yield the strings of a module, with what is filled in left out."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def typed(text: str) -> Iterator[str]:
    """Yield the commands that a text tells to type."""
    return (found.group(1) for found in TYPED.finditer(text))


def fault(line: str) -> str | None:
    """Return why a command can't be typed so; null when it can."""
    words = line.split()
    command: click.Command = cli.cli
    while words and isinstance(command, click.Group):
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            return f"no command {words[0]}"
        command, words = found, words[1:]
    options = {"--help", *(name for param in command.params for name in param.opts)}
    unknown = [word for word in words if word.startswith("--") and word not in options]
    if unknown:
        return f"no option {unknown[0]}"
    plain = [word for word in words if re.fullmatch("[a-z-]+", word) and word not in options]
    given = [param.type for param in command.params if isinstance(param, click.Argument)]
    if given and plain and isinstance(given[0], click.Choice) and plain[0] not in given[0].choices:
        return f"{plain[0]} is none of {', '.join(given[0].choices)}"
    return None


def test_every_command_that_a_text_of_the_code_tells_to_type_exists() -> None:
    told = {
        line: file.relative_to(SOURCE)
        for room in ROOMS
        for file in sorted((SOURCE / room).rglob("*.py"))
        for text in texts(file)
        for line in typed(text)
    }
    assert len(told) > 30

    wrong = {f"{file}: muniment {line}": fault(line) for line, file in told.items() if fault(line)}

    assert not wrong


@pytest.mark.parametrize("kind", KINDS)
def test_an_object_that_is_not_there_sends_to_where_others_are(tmp_path: Path, kind: str) -> None:
    manifest.initialize(Root(tmp_path / "root"))
    store = TinyStore(tmp_path / "root")

    with pytest.raises(NotFoundError) as caught:
        describe(store.ledger, Ref(kind, "7"))

    store.close()
    (line,) = typed(caught.value.hint)
    assert fault(line) is None
