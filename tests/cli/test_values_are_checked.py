"""A value that names nothing is an error that says what there is, not an empty answer."""

from pathlib import Path

import pytest
from support.cli import invoke
from support.ingesting import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    top = tmp_path_factory.mktemp("values")
    (top / "a.txt").write_text("The key is under the blue pot.")
    made = Store(top / "root")
    made.ingest(top / "a.txt")
    return made


@pytest.mark.parametrize(
    ("option", "value", "named"),
    [("--kind", "messag", "did you mean message?"), ("--media", "picture", "image")],
)
@pytest.mark.parametrize("command", ["recall", "search", "explain"])
def test_a_filter_of_nothing_names_what_there_is(
    store: Store, command: str, option: str, value: str, named: str
) -> None:
    said = invoke("--root", store.root, "--json", command, "key", option, value)

    assert said.code == 2
    assert said.json["error"]["code"] == "bad_value"
    assert value in said.json["error"]["message"]
    assert named in said.json["error"]["hint"]


@pytest.mark.parametrize("kind", ["text", "fact", "record", "episode", "ocr"])
def test_a_kind_that_may_be_there_is_no_error(store: Store, kind: str) -> None:
    assert invoke("--root", store.root, "search", "key", "--kind", kind).code == 0


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("MUNIMENT_JOBS", "-3", "from 1 on"),
        ("MUNIMENT_JOBS", "0", "from 1 on"),
        ("MUNIMENT_TIER", "huge", "full, standard, lite"),
    ],
)
def test_a_setting_of_the_environment_is_checked_by_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, hint: str
) -> None:
    monkeypatch.setenv(name, value)

    said = invoke("--root", tmp_path, "--json", "status")

    assert said.code == 2
    assert said.json["error"]["code"] == "bad_value"
    assert hint in said.json["error"]["hint"]


def test_a_command_of_commands_names_them_when_none_is_given() -> None:
    said = invoke("backup")

    assert said.code == 2
    assert "muniment backup create|list|verify|prune|drill|forget" in said.err
    assert invoke("--json", "conflicts").json["error"]["hint"] == "see: muniment conflicts --help"


def test_nothing_at_all_prints_the_help() -> None:
    said = invoke()

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("Usage: muniment [OPTIONS] COMMAND [ARGS]...\n")
    assert "  recall  " in said.err
