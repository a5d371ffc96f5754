"""What is named wrongly is told as such, and a check that is bounded says how far it came."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.cli import Answer, invoke

Run = Callable[..., Answer]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "note: today.txt").write_text("The heron stands in the reeds.")
    (tmp_path / "in" / "large.txt").write_text("Leaf floats to the sea. " * 6_000)
    root = tmp_path / "root"
    assert invoke("-q", "--root", root, "ingest", tmp_path / "in", "--no-embeddings").code == 0
    return lambda *arguments: invoke("--root", root, "--json", *arguments)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("garbage:zz", "the kinds are asset"),
        ("sha256:12", "64 hexadecimal digits"),
        ("observation:", "an id follows observation:"),
        ("sha256:", "64 hexadecimal digits"),
    ],
)
@pytest.mark.parametrize("command", ["show", "forget", "unforget"])
def test_what_is_no_reference_is_no_path_either(
    command: str, text: str, hint: str, run: Run
) -> None:
    done = run(command, text)

    assert (done.code, done.json["error"]["code"]) == (2, "bad_ref")
    assert hint in done.json["error"]["hint"]


def test_the_whole_scope_can_be_forgotten_and_not_shown(run: Run) -> None:
    done = run("show", "scope:.")

    assert (done.code, done.json["error"]["code"]) == (2, "bad_ref")
    assert run("forget", "scope:.", "-n").code == 0


def test_a_version_of_the_persona_is_an_object(run: Run) -> None:
    assert run("show", "persona:1").code == 4
    for text in ("You are Ada.", "You are Ada, brief and kind."):
        assert run("persona", "set", text).code == 0

    shown = [run("show", f"persona:{n}").json for n in (1, 2)]

    assert [(one["version"], one["text"]) for one in shown] == [
        (1, "You are Ada."), (2, "You are Ada, brief and kind.")
    ]  # fmt: skip
    assert run("show", "persona:first").code == 4


@pytest.mark.parametrize("text", ["path:garbage:zz", "nowhere.txt", "a/b:c", "observation:obs_0"])
def test_what_could_be_there_and_is_not_is_not_found(text: str, run: Run) -> None:
    done = run("show", text)

    assert (done.code, done.json["error"]["code"]) == (4, "not_found")


def test_a_file_whose_name_looks_like_a_reference_is_found_by_it(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "in")

    assert run("show", "note: today.txt").code == 0


def test_a_manifest_that_is_there_and_broken_is_not_called_lost(run: Run, tmp_path: Path) -> None:
    manifest = tmp_path / "root" / "muniment.json"
    manifest.write_text("{")
    assert "has a damaged manifest" in run("list", "assets").json["error"]["message"]

    manifest.unlink()
    assert "has lost its manifest" in run("list", "assets").json["error"]["message"]


@pytest.mark.parametrize("sample", ["1/1", "100%", "500M", "1.5GiB"])
def test_every_form_of_a_sample_is_taken(sample: str, run: Run, tmp_path: Path) -> None:
    assert run("verify", "--sample", sample).json["counts"]["hashed"] == 2
    assert run("backup", "create", tmp_path / "repo", "--sample", sample).code == 0
    checked = run("backup", "verify", tmp_path / "repo", "--sample", sample).json
    assert checked["counts"]["hashed"] == checked["counts"]["objects"]


def test_what_the_time_limit_left_unread_is_told(run: Run, tmp_path: Path) -> None:
    repository = tmp_path / "repo"
    late = run("backup", "create", repository, "--time-limit", "0")
    assert (late.code, late.json["error"]["code"]) == (1, "time_limit")
    assert run("backup", "list", repository).json["count"] == 0
    assert run("backup", "create", repository, "--time-limit", "600").code == 0

    for command in (["verify"], ["backup", "verify", repository]):
        done = run(*command, "--time-limit", "0")
        assert (done.code, done.json["complete"], done.json["damaged"]) == (0, False, False)
        assert run(*command).json["complete"]


def test_progress_of_a_backup_is_drawn_when_it_is_asked_for(run: Run, tmp_path: Path) -> None:
    done = run("backup", "create", tmp_path / "repo", "--progress", "always")

    assert "backup" in done.err
    assert run("backup", "create", tmp_path / "repo").err == ""
