"""Habits of every command: streams, JSON, exit codes, help (CONTRACT 6)."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from support.cli import SCRIPT, execute, invoke

from muniment.pipeline.cli import COMMANDS, cli
from muniment.store.errors import ExitCode

HEAVY = {"pydantic", "numpy", "jieba", "rjieba", "onnxruntime", "PIL", "apsw", "httpx"}


def command_of(name: str) -> click.Command:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_help_that_the_table_says(name: str) -> None:
    text = (command_of(name).help or "").splitlines()[0]
    assert text == COMMANDS[name][1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_the_global_options_behind_it(name: str) -> None:
    options = {option for param in command_of(name).params for option in param.opts}
    assert {"--root", "--json", "--quiet", "--offline", "--lock-wait", "--debug"} <= options


def test_help_names_every_command_and_exit_code() -> None:
    said = invoke("--help")

    assert said.code == 0
    assert all(f"  {name}" in said.out for name in COMMANDS)
    assert all(f"  {code.value} " in said.out for code in ExitCode)


def loaded(*arguments: str | Path) -> set[str]:
    """Return the modules that a command has loaded at its end, in a process of its own."""
    program = (
        "import sys; from muniment.pipeline import cli; cli.run(sys.argv[1:]); "
        "print(*sorted(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["completion", "bash"]])
def test_help_version_and_completion_load_nothing_heavy(arguments: list[str]) -> None:
    assert HEAVY.isdisjoint(loaded(*arguments))


def test_a_question_loads_neither_models_nor_the_library_of_records(
    tmp_path: Path, home: Path
) -> None:
    root = tmp_path / "root"
    assert invoke("--root", root, "remember", "My home is in Rome").code == 0
    assert invoke("--root", root, "index", "--no-embeddings").code == 0

    modules = loaded("--quiet", "--root", str(root), "recall", "Where is my home?")

    assert modules & HEAVY == {"apsw"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["nonsense"], 2),
        (["recall"], 2),
        (["--no-such-option"], 2),
        (["list", "nonsense"], 2),
        (["list", "assets"], 10),
        (["recall", "who?"], 10),
        (["show", "record:rec_0"], 10),
        (["ingest"], 2),
        (["recall", "who?", "--token-budget", "10"], 2),
    ],
)
def test_json_prints_one_document_whatever_goes_wrong(
    tmp_path: Path, arguments: list[str], code: int
) -> None:
    said = invoke("--json", "--root", tmp_path / "root", *arguments)

    assert said.code == code
    assert set(said.json["error"]) >= {"code", "message", "hint"}
    assert said.err.startswith("muniment: ")
    assert "Traceback" not in said.err
    assert len(said.err.splitlines()) == 1


def test_an_error_that_nobody_foresaw_is_one_line_without_its_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("a secret")

    monkeypatch.setattr("muniment.store.manifest.state_of", fail)

    said = invoke("--json", "--root", tmp_path, "status")

    assert said.code == 1
    assert said.json["error"]["code"] == "internal"
    assert "secret" not in said.out + said.err


def test_options_may_stand_before_or_behind_the_command_and_the_later_wins(tmp_path: Path) -> None:
    said = invoke("--root", tmp_path / "a", "init", "--root", tmp_path / "b", "--json")

    assert said.json["root"] == str(tmp_path / "b")
    assert not (tmp_path / "a").exists()


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    done = subprocess.run(
        f"'{SCRIPT}' --root '{tmp_path}/root' --help | head -1; echo ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "0"


def test_it_runs_in_an_empty_environment_and_any_encoding(tmp_path: Path) -> None:
    said = execute(
        "--root", tmp_path / "根", "init", environment={"PYTHONIOENCODING": "gbk:strict"}
    )

    assert said.code == 0
    assert "根" in said.out


def test_completion_prints_a_script_for_each_shell() -> None:
    for shell in ("bash", "zsh", "fish"):
        assert "_MUNIMENT_COMPLETE" in invoke("completion", shell).out


def test_config_shows_where_each_setting_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_USER", "lin")

    said = invoke("--json", "--root", tmp_path, "config")

    assert said.json["user"] == {"value": "lin", "origin": "environment"}
    assert said.json["root"] == {"value": str(tmp_path), "origin": "flag"}
    assert said.json["tenant"]["origin"] == "default"
    assert json.dumps(said.json)
