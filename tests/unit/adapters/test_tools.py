from dataclasses import replace
from typing import Any

import pytest

from muniment.adapters import registry
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import Limits, Tools
from muniment.adapters.tools import LocalTools

REMOTE = ModelSettings.from_config({"describe": {"base_url": "http://x/v1", "model": "m"}})


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the roles that were loaded, with the models themselves left out."""
    roles: list[str] = []

    def load(role: str, models: ModelSettings, audit: Any) -> object:
        roles.append(role)
        return object()

    monkeypatch.setattr(registry, "model", load)
    return roles


def test_a_model_is_loaded_at_its_first_use_and_kept(asked: list[str]) -> None:
    tools = LocalTools()
    assert asked == []

    assert tools.ocr() is tools.ocr()
    assert asked == ["ocr"]


def test_what_is_given_overrules_the_settings() -> None:
    tools: Tools = LocalTools(ModelSettings(), Limits(max_pages=3), ("fr",), threads=2)

    assert tools.languages == ("fr",)
    assert tools.limits.max_pages == 3
    assert isinstance(tools, LocalTools)
    assert (tools.models.languages, tools.models.threads) == (("fr",), 2)


def test_a_describer_is_there_when_it_is_configured_and_allowed(asked: list[str]) -> None:
    assert LocalTools().describer() is None
    assert LocalTools(replace(REMOTE, offline=True)).describer() is None
    assert asked == []

    assert LocalTools(REMOTE).describer() is not None
    assert asked == ["describe"]
