"""Completion offers what the store holds: by the protocol of each shell, and in those installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli import SCRIPT
from support.stores import TinyStore

from muniment.store import manifest
from muniment.store.layout import Root


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Make a store with one record on two lines; return the environment that names it."""
    folder = tmp_path_factory.mktemp("completion")
    manifest.initialize(Root(folder / "root"))
    made = TinyStore(folder / "root")
    note = made.note("The gate code\nis 7731.")
    record = made.record("The gate code\nis 7731.", note, "7731")
    made.close()
    return {
        "MUNIMENT_ROOT": str(folder / "root"), "MUNIMENT_CACHE": str(folder / "cache"),
        "PATH": f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder),
        "RECORD": record, "NOTE": note,
    }  # fmt: skip


def offered(store: dict[str, str], *line: str, root: str | None = None) -> list[str]:
    """Return what fish is offered for the last word of a line."""
    told = {"COMP_WORDS": " ".join(line), "COMP_CWORD": line[-1],
            "_MUNIMENT_COMPLETE": "fish_complete"}  # fmt: skip
    changed = {} if root is None else {"MUNIMENT_ROOT": root}
    done = subprocess.run(
        [SCRIPT], env=store | told | changed, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return [line for line in done.stdout.splitlines() if line]


def test_ids_are_offered_with_what_they_are_in_one_line(store: dict[str, str]) -> None:
    assert offered(store, "muniment", "show", "rec_") == [
        f"plain,{store['RECORD']}\tThe gate code is 7731."
    ]
    assert offered(store, "muniment", "show", store["NOTE"][:9]) == [
        f"plain,{store['NOTE']}\tThe gate code is 7731."
    ]


def test_a_command_is_offered_only_what_it_takes(store: dict[str, str]) -> None:
    assert offered(store, "muniment", "candidates", "approve", "rec_") == []
    assert offered(store, "muniment", "pin", "obs_") == []
    assert len(offered(store, "muniment", "pin", "r")) == 1


def test_a_path_is_left_to_the_shell(store: dict[str, str]) -> None:
    assert offered(store, "muniment", "show", "/tm") == ["file,/tm"]


def test_the_root_of_the_line_is_asked_and_none_offers_nothing(
    store: dict[str, str], tmp_path: Path
) -> None:
    nowhere = str(tmp_path / "none")

    assert offered(store, "muniment", "pin", "rec_", root=nowhere) == []
    line = ("muniment", "--root", store["MUNIMENT_ROOT"], "pin", "rec_")
    assert len(offered(store, *line, root=nowhere)) == 1
    assert not (tmp_path / "none").exists()


def test_bash_completes_an_id(store: dict[str, str]) -> None:
    line = 'COMP_WORDS=(muniment pin rec_); COMP_CWORD=2; _muniment_completion muniment; ' \
           'printf %s "${COMPREPLY[*]}"'  # fmt: skip
    script = f'eval "$(muniment completion bash)"; {line}'

    done = subprocess.run(
        ["bash", "-c", script], env=store, capture_output=True, text=True, check=True
    )

    assert done.stdout == store["RECORD"]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_an_id(store: dict[str, str]) -> None:
    script = 'muniment completion fish | source; complete -C "muniment pin rec_"'

    done = subprocess.run(
        ["fish", "-c", script], env=store, capture_output=True, text=True, check=True
    )

    assert done.stdout == f"{store['RECORD']}\tThe gate code is 7731.\n"


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_completes_an_id(store: dict[str, str]) -> None:
    # Its completion runs on a terminal only, so what it would hand over is written down instead.
    script = """
        compdef() { :; }
        _describe() { print -rl -- ${(P)3} }
        _muniment_() { words=(muniment pin rec_); CURRENT=3; _muniment_completion }
        eval "$(muniment completion zsh)"
        _muniment_
    """
    done = subprocess.run(
        ["zsh", "-f", "-c", script], env=store, capture_output=True, text=True, check=False
    )

    assert f"{store['RECORD']}:The gate code is 7731." in done.stdout, done.stderr
