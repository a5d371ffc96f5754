"""Models behind an OpenAI-compatible address, named in the configuration: used, and audited."""

import json
from pathlib import Path

import pytest
from PIL import Image
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


def test_a_model_bound_to_a_tier_waits_for_it_and_its_readings_stand(
    environment: dict[str, str], openai_port: int, samples: Path, tmp_path: Path
) -> None:
    second = tmp_path / "sky.png"
    Image.new("RGB", (64, 48), "skyblue").save(second)
    first = samples / "whiteboard.png"
    Path(environment["MUNIMENT_CONFIG"]).write_text(
        f'[models.describe]\nbase_url = "http://127.0.0.1:{openai_port}/v1"\nmodel = "good"\n'
        'tier = "full"\n'
    )

    def described(tier: str, picture: Path) -> tuple[int, int]:
        """Ingest a picture on a tier; return how many are described, and how many calls it took."""
        at = environment | {"MUNIMENT_TIER": tier}
        said = execute("--json", "ingest", "--no-embeddings", picture, environment=at)
        assert said.code == 0, said.err
        items = execute("--json", "list", "observations", environment=at).json["items"]
        with Ledger.read(Root(Path(environment["MUNIMENT_ROOT"])), Scope()) as ledger:
            calls = len(ledger.audit.calls())
        return sum(item["kind"] == "visual" for item in items), calls

    assert described("full", first) == (1, 1)
    assert described("lite", second) == (1, 1)
    doctor = execute("doctor", environment=environment | {"MUNIMENT_TIER": "lite"})
    assert "describe: none configured; the configured one waits for the tier full" in doctor.out
    assert described("full", second) == (2, 2)
    assert described("lite", first) == (2, 2)
