"""Fold text to the one form that is indexed and searched.

Width and compatibility forms (NFKC), case, accents of Latin, Greek and Cyrillic, traditional Han to
simplified by single characters. What can't be stored or seen is replaced or dropped: lone
surrogates, control characters, zero-width characters.
"""

import re
import unicodedata
from collections.abc import Callable

_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
_REPLACEMENT = 0xFFFD
# The first visible stand-in of a control character: U+2400 SYMBOL FOR NULL and those after it.
_PICTURES = 0x2400
# Letters that no decomposition takes apart, and the one Cyrillic pair that readers treat as equal.
_LETTERS = {
    "ø": "o",
    "ł": "l",
    "đ": "d",
    "ð": "d",
    "þ": "th",
    "æ": "ae",
    "œ": "oe",
    "ı": "i",
    "ħ": "h",
    "ё": "е",
    "’": "'",
    "‘": "'",
    "ʼ": "'",
}
# Letters of their own in the languages that use them: a reader of й does not expect и.
_KEPT = frozenset("йїўѓќѝ")

# Combining accents; Hebrew and Arabic points, which are optional in writing.
_MARKS = (("\u0300", "\u036f"), ("\u0591", "\u05c7"), ("\u0640", "\u0640"), ("\u064b", "\u065f"))


def fold(text: str) -> str:
    """Return the folded form; any text is accepted and none raises."""
    if text.isascii():
        text = text.lower()
        if text.isprintable() or not _CONTROLS.search(text):
            return text
        return text.translate(_FOLDS)
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_FOLDS)
    return unicodedata.normalize("NFKC", folded)


def ascii_splitter(is_part: Callable[[str], object]) -> Callable[[str], list[str]]:
    """Return what splits ASCII text at every character that is no part of a word.

    >>> ascii_splitter(str.isalnum)("we met, by-and-by")
    ['we', 'met', 'by', 'and', 'by']
    """
    table = bytes(code if is_part(chr(code)) else 0x20 for code in range(0x80)).ljust(0x100)
    return lambda text: text.encode("ascii").translate(table).decode("ascii").split()


class _Folds(dict[int, int | str | None]):
    """What becomes of a code point, worked out when it is first met."""

    def __init__(self) -> None:
        self._han: dict[int, int] | None = None
        for letter, plain in _LETTERS.items():
            self[ord(letter)] = plain

    def __missing__(self, point: int) -> int | str | None:
        value = self[point] = self._fold(point)
        return value

    def _fold(self, point: int) -> int | str | None:
        if point < 0x80:
            return _control(point)
        if is_han(point):
            if self._han is None:
                self._han = _simplified()
            return self._han.get(point, point)
        if 0xD800 <= point <= 0xDFFF:
            return _REPLACEMENT
        if point < 0x2000 or 0x2C60 <= point < 0x2E00 or 0xA640 <= point < 0xAB70:
            return _unaccented(chr(point))
        return _invisible(point)


def is_han(point: int) -> bool:
    """Say whether a code point is a Han character."""
    return 0x4E00 <= point <= 0x9FFF or 0x3400 <= point <= 0x4DBF or 0x20000 <= point <= 0x3FFFF


def _control(point: int) -> int:
    if point == 0x7F:
        return 0x2421
    return _PICTURES + point if _CONTROLS.match(chr(point)) else point


def _invisible(point: int) -> int | None:
    if point == 0x200B:  # a break between words in scripts written without spaces
        return 0x20
    if 0xFE00 <= point <= 0xFE0F or 0xE0100 <= point <= 0xE01EF:  # variation selectors
        return None
    return None if unicodedata.category(chr(point)) == "Cf" else point


def _unaccented(char: str) -> str | int | None:
    if char in _KEPT:
        return char
    if any(first <= char <= last for first, last in _MARKS):
        return None
    category = unicodedata.category(char)
    if category == "Cf":
        return None
    if category == "Cc":  # C1 controls; next line counts as white space
        return 0x20 if char == "\x85" else _REPLACEMENT
    base = unicodedata.normalize("NFKD", char)[0]
    return _LETTERS.get(base, base) if _loses_accents(base) else char


def _loses_accents(base: str) -> bool:
    point = ord(base)
    return base.isalpha() and (point < 0x250 or 0x370 <= point < 0x530)


def _simplified() -> dict[int, int]:
    """Read the table of traditional characters and their simplified forms."""
    from importlib.util import find_spec
    from pathlib import Path

    spec = find_spec("opencc")
    if spec is None or spec.origin is None:
        return {}
    table = Path(spec.origin).with_name("dictionary") / "TSCharacters.txt"
    pairs: dict[int, int] = {}
    for line in table.read_text("utf-8").splitlines():
        traditional, _, forms = line.partition("\t")
        simplified = forms.split(" ", 1)[0]
        if len(traditional) == len(simplified) == 1:
            pairs[ord(traditional)] = ord(simplified)
    return pairs


_FOLDS = _Folds()
