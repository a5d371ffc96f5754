"""Sort folded characters into the classes that words, names and grams are made of.

A text is translated, character by character, into a string of class letters of the same length;
patterns over that string then find the tokens in the text.
"""

import re
import unicodedata

# w letter, digit or mark of a script with spaces    k Hangul
# h Han that the dictionary knows                    g other scripts written without spaces
# s white space                                      y a symbol, one token by itself
# a apostrophe     i a sign used inside identifiers  o other punctuation
_IDENTIFIER_SIGNS = "-_.:/@#+&%$*=~^|\\<>`"

# Scripts without spaces between words: (first, last) code points.
_UNSPACED = (
    (0x0E01, 0x0E4E),  # Thai
    (0x0E81, 0x0ECD),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17D3),  # Khmer
    (0x3005, 0x3007),  # iteration mark, closing mark, ideographic zero
    (0x3021, 0x3035),  # numerals and repeat marks
    (0x303B, 0x303C),
    (0x3041, 0x30FA),  # kana
    (0x30FC, 0x312F),  # long vowel mark, Bopomofo
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x3FFFF),
)
# jieba cuts these and leaves every other character alone.
_FIRST_CUT, _LAST_CUT = 0x4E00, 0x9FD5
_HANGUL = ((0x1100, 0x11FF), (0xA960, 0xA97F), (0xAC00, 0xD7FF))

# A contraction or possessive stays one word: don't, Ann's. l'été is two.
WORD = re.compile(r"w+(?:aw{1,2}(?!w))?|k+")
ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]{1,2}(?![a-z0-9]))?")
GRAMS = re.compile(r"[hgk]+")
CUTS = re.compile(r"h+")
SYMBOL = re.compile(r"y")
# An identifier as written: words joined by signs, or a word with signs before or after.
NAME = re.compile(r"i*w+(?:[ia]+w+)*i*")
# Punctuation standing alone, between spaces is all that some texts and queries have.
MARKS = re.compile(r"[ioa]+")


class _Classes(dict[int, int]):
    """The class letter of a code point, worked out when it is first met."""

    def __missing__(self, point: int) -> int:
        value = self[point] = ord(_class_of(point))
        return value


def _class_of(point: int) -> str:
    if _FIRST_CUT <= point <= _LAST_CUT:
        return "h"
    if any(first <= point <= last for first, last in _HANGUL):
        return "k"
    if any(first <= point <= last for first, last in _UNSPACED):
        return "g"
    char = chr(point)
    if char == "'":
        return "a"
    if char in _IDENTIFIER_SIGNS:
        return "i"
    return _class_by_category(char)


def _class_by_category(char: str) -> str:
    category = unicodedata.category(char)
    if category[0] in "LNM":
        return "w"
    if category[0] == "Z" or char.isspace():
        return "s"
    if category[0] == "P" or char.isascii():
        return "o"
    return "y"


_CLASSES = _Classes()


def classes(folded: str) -> str:
    """Return the class letters of a folded text, one a character."""
    return folded.translate(_CLASSES)
