import pickle
from typing import Any

import pytest

from muniment.adapters.models.settings import TIERS, ModelSettings, RoleSettings
from muniment.pipeline import machine
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
        ({"chat": {"tier": "huge"}}, r"models\.chat\.tier must be one of: full, standard, lite"),
        ({"embed": {"tier": "full"}}, r"models\.embed can't depend on the tier"),
    ],
)
def test_what_is_wrong_in_a_configuration_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ModelSettings.from_config(tables)


@pytest.mark.parametrize(
    ("tier", "used"),
    [("full", {"ocr", "transcribe", "chat"}), ("standard", {"ocr", "chat"}), ("lite", {"ocr"})],
)
def test_a_machine_uses_the_models_that_it_bears_and_keeps_the_choice(
    tier: str, used: set[str]
) -> None:
    chosen = ModelSettings.from_config(
        {"ocr": {"path": "a"}, "transcribe": {"tier": "full"}, "chat": {"tier": "standard"}}
    )

    borne = chosen.borne_by(tier)

    assert set(borne.roles) == used
    assert (borne.preferred or borne) == chosen
    assert set(borne.waiting()) == {"ocr", "transcribe", "chat"} - used


def test_the_tiers_are_those_of_the_machine() -> None:
    assert tuple(tier.name for tier in machine.TIERS) == TIERS
