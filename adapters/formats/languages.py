"""Guess a language from the script and a few function words, without a model."""

import re

_KANA = re.compile(r"[\u3041-\u30ff]")
_HAN = re.compile(r"[\u3400-\u9fff\U00020000-\U0003ffff]")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")
_WORD = re.compile(r"[a-z']+")
_ENGLISH = frozenset(
    (
        *("the", "and", "but", "of", "to", "in", "at", "for", "with", "is", "are", "was", "were"),
        *("be", "been", "it", "this", "that", "these", "i", "you", "she", "we", "they", "my"),
        *("your", "his", "our", "their", "not", "does", "did", "have", "has", "had", "will"),
        *("would", "can", "could", "from", "by", "if", "what", "when", "where", "how", "who"),
        *("there", "i'm", "i'll", "it's", "that's", "don't", "can't", "hello", "please", "thanks"),
    )
)
_SAMPLE = 600
_ENGLISH_SHARE = 0.15
_ACCENTED_SHARE = 0.25
_HAN_SHARE = 0.1


def script_language(text: str) -> str | None:
    """Return ``zh``, ``ja``, ``ko`` or ``en`` where script or function words tell, else null."""
    sample = text[:_SAMPLE]
    if not sample.isascii():
        han = len(_HAN.findall(sample))
        if _HANGUL.search(sample) and len(_HANGUL.findall(sample)) > han:
            return "ko"
        kana = len(_KANA.findall(sample)) if _KANA.search(sample) else 0
        if kana * 8 >= han + kana > 0:
            return "ja" if kana >= _HAN_SHARE * len(sample) else None
        if han >= _HAN_SHARE * len(sample):
            return "zh"
    words = _WORD.findall(sample.lower())
    known = sum(word in _ENGLISH for word in words)
    share = _ENGLISH_SHARE if sample.isascii() else _ACCENTED_SHARE
    return "en" if known and known >= share * len(words) else None
