"""Models behind an OpenAI-compatible address, named in the configuration: used, and audited."""

import json
from pathlib import Path

import pytest
from support.cli import execute

from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger

KEY = "sk-not-to-be-seen"


@pytest.fixture
def environment(tmp_path: Path, openai_port: int) -> dict[str, str]:
    config = tmp_path / "config.toml"
    roles = ("describe", "transcribe", "embed")
    config.write_text(
        "\n".join(
            f'[models.{role}]\nbase_url = "http://127.0.0.1:{openai_port}/v1"\nmodel = "good"\n'
            f'api_key_env = "SERVICE_KEY"\n'
            for role in roles
        )
    )
    return {
        "MUNIMENT_CONFIG": str(config),
        "MUNIMENT_ROOT": str(tmp_path / "root"),
        "MUNIMENT_CACHE": str(tmp_path / "cache"),
        "SERVICE_KEY": KEY,
    }


def test_remote_models_describe_hear_and_embed_and_each_call_leaves_a_row(
    environment: dict[str, str], samples: Path
) -> None:
    files = [samples / name for name in ("whiteboard.png", "memo.ogg")]

    said = execute("--json", "ingest", *files, environment=environment)
    asked = execute("recall", "--semantic", "a picture", environment=environment)

    assert (said.code, asked.code) == (0, 0), said.err + asked.err
    listed = execute("--json", "list", "observations", environment=environment).json["items"]
    kinds = {item["kind"]: item for item in listed}
    assert kinds["visual"]["producer"]["adapter"] == "openai"
    assert "asr" in kinds
    with Ledger.read(Root(Path(environment["MUNIMENT_ROOT"])), Scope()) as ledger:
        calls = ledger.audit.calls()
    assert {call["role"] for call in calls} == {"describe", "transcribe", "embed"}
    assert {call["outcome"] for call in calls} == {"ok"}
    described = next(call for call in calls if call["role"] == "describe")
    assert described["inputs"] == [kinds["visual"]["asset"]]
    kept = json.dumps(calls) + said.out + said.err + asked.err
    assert KEY not in kept


def test_offline_refuses_them_and_says_so(environment: dict[str, str], samples: Path) -> None:
    said = execute(
        "--json", "ingest", "--offline", samples / "memo.ogg", environment=environment
    )  # fmt: skip

    assert said.code == 12
    assert said.json["error"]["code"] == "offline"
