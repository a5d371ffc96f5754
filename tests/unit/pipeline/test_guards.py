from dataclasses import replace
from typing import Any

import pytest

from muniment.pipeline.proposers.base import CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.guards import reject_reason
from muniment.pipeline.proposers.model import worth_reading
from muniment.pipeline.proposers.rules import RulesProposer

TEXT = "Well. I like tea a lot."
PASSAGE = Passage("obs_1", TEXT, "message", "user", "user")
GOOD = CandidateDraft(
    type="semantic",
    kind="preference",
    text="I like tea a lot",
    evidence=Quote("obs_1", "I like tea a lot", 6, 22),
    basis="user_statement",
    proposer="model",
    subject="user",
    key="preference:tea",
    value="like",
    confidence=0.8,
)


def test_a_sound_candidate_passes() -> None:
    assert reject_reason(GOOD, PASSAGE) is None


def test_no_claim_is_made_of_a_classifiers_guess() -> None:
    text = "Photo, seems to show: dog, animal. 照片，看起来像：狗、动物。"
    guess = Passage("obs_1", text, "visual", "media", attributes={"said_by": "classifier"})
    claim = replace(GOOD, basis="media", evidence=Quote("obs_1", "dog", 22, 25))

    assert reject_reason(claim, guess) == "guess"
    assert reject_reason(claim, replace(guess, attributes={})) is None
    assert not worth_reading(guess)
    assert worth_reading(replace(guess, attributes={}))


@pytest.mark.parametrize(
    "quote",
    [
        Quote("obs_1", "I like tea a lot", 5, 21),
        Quote("obs_1", "I like tea", 6, 22),
        Quote("obs_1", "i like tea a lot", 6, 22),
        Quote("obs_2", "I like tea a lot", 6, 22),
        Quote("obs_1", "", 6, 6),
        Quote("obs_1", " ", 5, 6),
        Quote("obs_1", "lot.", -5, -1),
    ],
)
def test_a_quote_must_be_the_exact_words_at_its_offsets(quote: Quote) -> None:
    assert reject_reason(replace(GOOD, evidence=quote), PASSAGE) == "quote_mismatch"


@pytest.mark.parametrize(
    ("basis", "origin", "role", "reason"),
    [
        ("user_statement", "user", "user", None),
        ("user_statement", "user", None, None),
        ("user_statement", "user", "assistant", "role_mismatch"),
        ("user_statement", "agent", "assistant", "role_mismatch"),
        ("user_statement", "media", None, "role_mismatch"),
        ("user_statement", "third_party", None, "role_mismatch"),
        ("assistant_expression", "agent", "assistant", None),
        ("assistant_expression", "user", "user", "role_mismatch"),
        ("third_party", "third_party", None, None),
        ("third_party", "user", None, "role_mismatch"),
        ("media", "media", None, None),
        ("media", "user", None, "role_mismatch"),
        ("inference", "media", None, None),
    ],
)
def test_each_basis_needs_its_own_speaker(
    basis: Any, origin: str, role: str | None, reason: str | None
) -> None:
    passage = replace(PASSAGE, origin=origin, role=role)

    assert reject_reason(replace(GOOD, basis=basis), passage) == reason


def test_words_read_out_of_media_are_nobodys_statement() -> None:
    assert reject_reason(GOOD, replace(PASSAGE, kind="ocr")) == "role_mismatch"
    assert reject_reason(GOOD, replace(PASSAGE, kind="asr")) == "role_mismatch"


def test_an_emotion_is_an_expression_of_the_assistant_alone() -> None:
    assert reject_reason(replace(GOOD, kind="emotion"), PASSAGE) == "role_mismatch"


@pytest.mark.parametrize("change", [{"key": "home"}, {"key": "favourite:tea"}, {"kind": "growth"}])
def test_an_inference_settles_no_single_value_and_no_growth(change: dict[str, Any]) -> None:
    inferred = replace(GOOD, basis="inference", **change)

    assert reject_reason(inferred, PASSAGE) == "basis_mismatch"


@pytest.mark.parametrize("key", ["system", "system.prompt", "policy:allow", "_hidden", "Tools/x"])
def test_the_systems_keys_are_reserved(key: str) -> None:
    assert reject_reason(replace(GOOD, key=key), PASSAGE) == "reserved_key"


def test_a_name_needs_an_instruction() -> None:
    named = replace(GOOD, key="name", value="Bob")

    assert reject_reason(named, PASSAGE) == "reserved_key"
    assert reject_reason(replace(named, instructed=True), PASSAGE) is None


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"value": "N/A"}, "placeholder"),
        ({"value": "未知"}, "placeholder"),
        ({"subject": "unknown"}, "placeholder"),
        ({"text": "I live in [your city]"}, "placeholder"),
        ({"text": "My name is {{name}}"}, "placeholder"),
        ({"text": "User: I like tea"}, "transcript_echo"),
        ({"text": "00:01:02.000 --> 00:01:04.000 tea"}, "transcript_echo"),
        ({"text": "助手：好的"}, "transcript_echo"),
        ({"text": "As an AI language model I like tea"}, "self_reference"),
        ({"text": "Obey obs_0123456789ab"}, "self_reference"),
        ({"text": "作为一个AI，我喜欢茶"}, "self_reference"),
        ({"text": "?!"}, "empty"),
        ({"value": "  "}, "empty"),
        ({"text": "tea " * 1000}, "too_long"),
    ],
)
def test_junk_is_rejected_with_its_reason(change: dict[str, Any], reason: str) -> None:
    assert reject_reason(replace(GOOD, **change), PASSAGE) == reason


def test_what_the_rules_propose_passes() -> None:
    text = "Call me Bob. I live in Rome, and I'm allergic to nuts.\n以后叫我小明。我住在上海。"
    passage = replace(PASSAGE, text=text)
    drafts = list(RulesProposer().propose([passage]))

    assert len(drafts) == 5
    assert [reject_reason(draft, passage) for draft in drafts] == [None] * 5
