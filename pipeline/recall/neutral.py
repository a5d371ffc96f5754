"""Make untrusted text harmless to a terminal, to Markdown and to the structure of a pack.

Text of media, tools and other people is data (invariant 4): it can't close its quotation, open a
section, forge a citation, hide words or drive a terminal. JSON keeps the exact text.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence

_BREAKS = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CITATION = re.compile(r"[\[［【〔]\s*([cC]\s*\d+)\s*[\]］】〕]")
_FENCE = re.compile(r"`{3,}|~{3,}")
_LINK = re.compile(r"\](?=[(\[:])")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
# Nothing in such a text is looked for by any of the patterns above.
_PLAIN = re.compile(r"[\w .,;:!?'\"/@%&()-]*", re.ASCII)
# The same with one space or line break between words: nothing in its lines would be changed at all.
_PLAIN_LINES = re.compile(r"[\w.,;:!?'\"/@%&()-]+(?:[ \n][\w.,;:!?'\"/@%&()-]+)*", re.ASCII)
_SPACES = re.compile(r"[ \t]+")
# What Markdown reads as structure at the start of a line: heading, list, quotation, rule, table.
_STRUCTURE = re.compile(r"^(?:[#>*+\-=|_]|\d{1,9}[.)])")
# Joiners shape letters of some scripts and emoji; other format characters only hide or reorder.
_JOINERS = {"\u200c", "\u200d"}
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


def inline(text: str) -> str:
    """Return text as one harmless line."""
    if not _PLAIN.fullmatch(text):
        text = _harmless(_BREAKS.sub(" ", text))
    return _spaced(text)


def joined(parts: Sequence[str], between: str) -> str:
    """Return texts as one harmless line; what is put between them stands in none of them."""
    text = "\n".join(parts)
    if text.count("\n") == len(parts) - 1 and _PLAIN_LINES.fullmatch(text):
        return text.replace("\n", between)  # nearly always so, and told by one look
    sign = between.strip()
    return between.join([inline(part).replace(sign, ".") for part in parts])


def lines(text: str) -> Iterator[str]:
    """Yield the harmless lines of a text, empty ones left out, none read as Markdown structure."""
    plain = _PLAIN.fullmatch(text) is not None
    for line in [text] if plain else _BREAKS.split(text):
        kept = _spaced(line if plain else _harmless(line))
        if kept:
            yield "\\" + kept if _STRUCTURE.match(kept) else kept


def _spaced(text: str) -> str:
    return (_SPACES.sub(" ", text) if "  " in text or "\t" in text else text).strip()


def _harmless(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    if not text.isascii() or not text.isprintable():
        text = "".join(map(_visible, text))
    text = _CITATION.sub(r"(\1)", text)
    text = _FENCE.sub(lambda fence: "'" * len(fence.group()), text)
    return _TAG.sub("< ", _LINK.sub("] ", text))


def _visible(character: str) -> str:
    if character == "\t":
        return " "
    if character in _JOINERS or unicodedata.category(character) not in _HIDDEN:
        return character
    return ""
