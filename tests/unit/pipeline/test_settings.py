"""Flags beat variables beat the file beats defaults, and nonsense is refused."""

from pathlib import Path

import pytest

from muniment.pipeline.settings import load
from muniment.store.errors import UsageError


@pytest.fixture
def config(tmp_path: Path) -> str:
    path = tmp_path / "config.toml"
    path.write_text('tenant = "file"\nuser = "file"\nnamespace = "file"\njobs = 3\n')
    return str(path)


def test_flags_beat_variables_beat_the_file_beat_defaults(config: str) -> None:
    settings = load({"tenant": "flag"}, {"MUNIMENT_TENANT": "env", "MUNIMENT_USER": "env"}, config)

    assert [settings[name] for name in ("tenant", "user", "namespace", "zone")] == [
        "flag", "env", "file", "UTC",
    ]  # fmt: skip
    assert [settings.origins[name] for name in ("tenant", "user", "namespace", "zone")] == [
        "flag", "environment", "config", "default",
    ]  # fmt: skip


def test_numbers_and_lists_are_read_from_variables() -> None:
    settings = load({}, {"MUNIMENT_JOBS": "2", "MUNIMENT_ME": "Lin, 林梅", "MUNIMENT_JSON": "yes"})

    assert (settings["jobs"], settings["me"], settings["json"]) == (2, ("Lin", "林梅"), True)


@pytest.mark.parametrize(
    ("variable", "value"), [("JOBS", "many"), ("JSON", "perhaps"), ("PROGRESS", "sometimes")]
)
def test_an_unfit_value_is_refused(variable: str, value: str) -> None:
    with pytest.raises(UsageError):
        load({}, {f"MUNIMENT_{variable}": value})


def test_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('tenent = "x"\n')

    with pytest.raises(UsageError) as refused:
        load({}, {}, str(path))

    assert "tenant" in refused.value.hint


@pytest.mark.parametrize("text", ["tenant = ", "\x00", "[unclosed"])
def test_a_broken_file_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)

    with pytest.raises(UsageError) as refused:
        load({}, {}, str(path))

    assert refused.value.path == str(path)


def test_a_missing_file_that_was_named_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load({}, {}, str(tmp_path / "none.toml"))


@pytest.mark.parametrize("scope", ["..", "", "a/b", "x" * 129, "é"])
def test_a_scope_that_could_leave_its_folder_is_refused(scope: str) -> None:
    with pytest.raises(UsageError):
        _ = load({"user": scope}, {}).scope
