"""The language of a text: by its script where that decides, by py3langid where it does not."""

import unicodedata
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muniment.adapters.models import weights

if TYPE_CHECKING:
    from muniment.adapters.models.settings import Setup
    from muniment.store.records import Producer

PACKAGE = ("py3langid", "py3langid")
FILE = "data/model.npz.xz"
# No digest is published for this file: this is what the pinned wheel holds.
SHA256 = "f4f4a2c3465ca1f081541037f9cac23021d68151c2f709c55ae5eedfca522963"

UNDETERMINED = "und"
_READ_CHARACTERS = 20_000
# A Chinese character says about as much as three Latin letters.
_HAN_WEIGHT = 3
_KANA_SHARE = 0.1
_SCRIPTS: Mapping[str, frozenset[str]] = {
    "HAN": frozenset({"zh", "yue", "ja"}),
    "KANA": frozenset({"ja"}),
    "HANGUL": frozenset({"ko"}),
    "CYRILLIC": frozenset({"ru", "uk", "be", "bg", "sr", "mk", "kk", "ky", "mn"}),
    "ARABIC": frozenset({"ar", "fa", "ur", "ps", "ug"}),
    "GREEK": frozenset({"el"}),
    "HEBREW": frozenset({"he"}),
    "THAI": frozenset({"th"}),
    "DEVANAGARI": frozenset({"hi", "mr", "ne"}),
    "BENGALI": frozenset({"bn", "as"}),
    "TAMIL": frozenset({"ta"}),
    "TELUGU": frozenset({"te"}),
}
_NOT_LATIN = frozenset().union(*_SCRIPTS.values()) - {"sr"}


class TextLanguage:
    """Name the language of a text among the person's own."""

    def __init__(self, producer: "Producer", setup: "Setup") -> None:
        self.producer = producer
        self._languages = setup.languages

    def identify(self, text: str) -> tuple[str, float]:
        """Return (ISO 639-1 code, confidence); ``und`` and 0.0 where nothing fits."""
        script, share = dominant_script(text[:_READ_CHARACTERS])
        fitting = tuple(code for code in self._languages if _writes(code, script))
        if not fitting:
            return UNDETERMINED, 0.0
        if len(fitting) == 1:
            return fitting[0], share
        code, probability = _identifier(fitting).classify(text[:_READ_CHARACTERS])
        return str(code), min(1.0, float(probability))


def dominant_script(text: str) -> tuple[str, float]:
    """Return the script that carries most of the text and its share of 0..1.

    Kana among Chinese characters make the whole Japanese.
    """
    counts = Counter(_script(character) for character in text if character.isalpha())
    if not counts:
        return "", 0.0
    counts["HAN"] *= _HAN_WEIGHT
    if counts["KANA"] > _KANA_SHARE * counts["HAN"]:
        counts["KANA"] += counts.pop("HAN")
    script, weight = counts.most_common(1)[0]
    return script, weight / counts.total()


@lru_cache(maxsize=4096)
def _script(character: str) -> str:
    name = unicodedata.name(character, "").replace("FULLWIDTH ", "").replace("HALFWIDTH ", "")
    first = name.split(" ", 1)[0]
    if first == "CJK":
        return "HAN"
    return "KANA" if first.startswith(("HIRAGANA", "KATAKANA")) else first


def _writes(code: str, script: str) -> bool:
    if script == "LATIN":
        return code not in _NOT_LATIN
    return code in _SCRIPTS.get(script, ())


@lru_cache(maxsize=8)
def _identifier(languages: tuple[str, ...]) -> Any:
    module, distribution = PACKAGE
    file = weights.package_folder(module, distribution) / FILE
    weights.verified(file, SHA256, distribution)
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    known = set(identifier.labels)
    identifier.set_languages([code for code in languages if code in known] or None)
    return identifier
