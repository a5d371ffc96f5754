"""The guards that every proposal passes, whoever made it (CONTRACT 4.1)."""

import re
from collections.abc import Callable

from muniment.pipeline import keys
from muniment.pipeline.proposers.base import MEDIA_KINDS, CandidateDraft, Passage, is_guess

LONGEST_TEXT = 2_000
LONGEST_VALUE = 300

_PLACEHOLDER = re.compile(
    r"^(?:n/?a|none|null|nil|unknown|unspecified|undefined|not (?:specified|provided|"
    r"known|available)|"
    r"tbd|tba|xxx+|\?+|\.\.\.|…|-+|string|value|text|example|placeholder|lorem ipsum.*|"
    r"foo|foobar|"
    r"user ?name|your[ _]name|name|city|无|没有|未知|不详|未提供|某某|某人|待定|空|示例)$",
    re.IGNORECASE,
)
_TEMPLATE = re.compile(
    r"\{\{?\s*\w+\s*\}?\}|<\s*[a-z][\w -]{0,30}>|\[\s*(?:your|name|city|date|insert|"
    r"placeholder|xxx)\b[^\]]*\]|"
    r"_{3,}|\$\{\w+\}|某某",
    re.IGNORECASE,
)
_ECHO = re.compile(
    r"^\s*(?:\[?\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?\]?\s*(?:-->|[-–:]\s)|"
    r"(?:user|human|assistant|ai|system|speaker ?\d*|用户|助手|系统|说话人 ?\d*)\s*[:：])|-->|"
    r"<\|(?:im_start|im_end|endoftext)\|>|\[/?INST\]",
    re.IGNORECASE | re.MULTILINE,
)
_SELF = re.compile(
    r"\b(?:as an ai\b|i am an ai|i'm an ai|(?:ai )?language model|the assistant (?:is|"
    r"was|can|will|should)|"
    r"this memory|memory ?pack|the (?:memory|candidate) (?:store|system|record)|"
    r"(?:candidate|observation|record):\w+|(?:obs|cand|rec|ep)_[0-9a-f]{8,})|"
    r"作为(?:一个)?(?:AI|人工智能|语言模型)|(?:我是|这是)(?:一个)?(?:AI助手|人工智能|语言模型)|记忆系统",
    re.IGNORECASE,
)

Guard = Callable[[CandidateDraft, Passage], str | None]


def reject_reason(candidate: CandidateDraft, passage: Passage) -> str | None:
    """Return why a candidate can't stand, or null.

    ``passage`` is the observation that it quotes. Reasons: ``quote_mismatch, role_mismatch,
    basis_mismatch, reserved_key, placeholder, transcript_echo, self_reference, empty, too_long,
    suspicious, guess``.
    """
    for guard in _GUARDS:
        reason = guard(candidate, passage)
        if reason is not None:
            return reason
    return None


def _quote(candidate: CandidateDraft, passage: Passage) -> str | None:
    """Check that the quote is the exact words at its offsets, and some."""
    quote = candidate.evidence
    same = passage.observation == quote.observation
    exact = 0 <= quote.start < quote.end and passage.text[quote.start : quote.end] == quote.quote
    return None if same and exact and quote.quote.strip() else "quote_mismatch"


def _heard(_: CandidateDraft, passage: Passage) -> str | None:
    """Take no claim from speech that a recogniser may have made up."""
    return "suspicious" if passage.attributes.get("suspicious") else None


def _guessed(_: CandidateDraft, passage: Passage) -> str | None:
    """Take no claim from a classifier's guess at what a photo shows."""
    return "guess" if is_guess(passage) else None


def _role(candidate: CandidateDraft, passage: Passage) -> str | None:
    """Check that the words are of the basis's kind of speaker; an emotion is the assistant's."""
    if candidate.kind == "emotion" and candidate.basis != "assistant_expression":
        return "role_mismatch"
    needed = {
        "user_statement": _is_owners(passage),
        "assistant_expression": passage.origin == "agent" and passage.role in (None, "assistant"),
        "third_party": passage.origin == "third_party",
        "media": passage.kind in MEDIA_KINDS or passage.origin in ("media", "external", "tool"),
    }
    return None if needed.get(candidate.basis, True) else "role_mismatch"


def _is_owners(passage: Passage) -> bool:
    spoken = passage.origin == "user" and passage.role in (None, "user")
    return spoken and passage.kind not in MEDIA_KINDS


def _basis(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that an inference neither settles a fact of one value nor tells of growth."""
    settles = keys.is_single_valued(candidate.key) or candidate.kind == "growth"
    return "basis_mismatch" if candidate.basis == "inference" and settles else None


def _key(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that the key is not the system's, and that a name comes from an instruction."""
    if keys.is_reserved(candidate.key):
        return "reserved_key"
    unasked = candidate.key in keys.NAMING and not candidate.instructed
    return "reserved_key" if unasked and candidate.basis == "user_statement" else None


def _substance(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that the claim says something, briefly."""
    if not any(character.isalnum() for character in candidate.text):
        return "empty"
    if candidate.value is not None and not candidate.value.strip():
        return "empty"
    if len(candidate.text) > LONGEST_TEXT or len(candidate.value or "") > LONGEST_VALUE:
        return "too_long"
    return None


def _placeholder(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that no blank of a form stands for a value."""
    for text in (candidate.value, candidate.subject):
        if text is not None and _PLACEHOLDER.match(text.strip()):
            return "placeholder"
    whole = _PLACEHOLDER.match(candidate.text.strip()) or _TEMPLATE.search(candidate.text)
    return "placeholder" if whole else None


def _echo(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that the claim is no line of a transcript or prompt, label and all."""
    return "transcript_echo" if _ECHO.search(candidate.text) else None


def _self(candidate: CandidateDraft, _: Passage) -> str | None:
    """Check that the claim is not about the assistant or the memory itself."""
    return "self_reference" if _SELF.search(candidate.text) else None


_GUARDS: tuple[Guard, ...] = (
    _quote,
    _heard,
    _guessed,
    _role,
    _basis,
    _key,
    _substance,
    _placeholder,
    _echo,
    _self,
)
