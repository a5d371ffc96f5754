import pickle
from typing import Any

import pytest

from muniment.adapters.models.settings import ModelSettings, RoleSettings
from muniment.store.errors import UsageError


def test_the_tables_of_a_configuration_become_settings() -> None:
    table: dict[str, Any] = {
        "base_url": "https://models.example/v1",
        "model": "vision-7b",
        "api_key_env": "KEY",
        "timeout": 30,
        "extra_body": {"provider": {"zdr": True}},
    }

    settings = ModelSettings.from_config({"describe": table}, offline=True, languages=("fr",))

    assert settings.role("describe") == RoleSettings(adapter="openai", **table)
    assert (settings.offline, settings.languages) == (True, ("fr",))
    assert settings.role("ocr") == RoleSettings()


def test_settings_cross_a_process_border() -> None:
    settings = ModelSettings.from_config({"ocr": {"path": "models"}})

    assert pickle.loads(pickle.dumps(settings)) == settings


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"sing": {}}, "models.sing"),
        ({"ocr": "big"}, "models.ocr must be a table"),
        ({"ocr": {"modle": "x"}}, r"models\.ocr\.modle"),
        ({"chat": {"timeout": "long"}}, r"models\.chat\.timeout must be a number"),
        ({"chat": {"timeout": True}}, r"models\.chat\.timeout must be a number"),
        ({"chat": {"timeout": 0}}, r"models\.chat\.timeout must be above 0"),
        ({"chat": {"timeout": float("nan")}}, r"models\.chat\.timeout must be above 0"),
        ({"chat": {"max_concurrency": 0}}, "max_concurrency must be above 0"),
        ({"chat": {"max_concurrency": 2.5}}, "max_concurrency must be a whole number"),
        ({"chat": {"base_url": "ftp://x"}}, "base_url must be an http"),
        ({"chat": {"base_url": "http://"}}, "base_url must be an http"),
        ({"chat": {"base_url": "http://[x"}}, "base_url must be an http"),
        ({"chat": {"extra_body": "x"}}, "extra_body must be a table"),
        ({"chat": {"model": 7}}, r"models\.chat\.model must be text"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ModelSettings.from_config(tables)
