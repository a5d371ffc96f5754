"""Where sentences end: English and Chinese first, other scripts by their full stops.

Spans are offsets into the text as it is; nothing is rewritten.
"""

import re
from collections.abc import Iterator

_CLOSERS = r"\"'”’»)\]}」』）】》〉"
_END = re.compile(
    rf"[。！？!?；｡।؟۔…]++[{_CLOSERS}]*+"
    rf"|(?<!\.)\.++[{_CLOSERS}]*+(?=\s|$)"
    r"|(?:\r\n|\r|\n)[ \t]*+(?:\r\n|\r|\n)"
)
_ALWAYS = re.compile(r"[。！？；｡।؟۔]|……|^[\r\n]")
_ABBREVIATIONS = re.compile(
    r"(?i:mrs?|ms|dr|prof|sr|jr|st|mt|vs|etc|figs?|eq|vol|pp|eds?|al|ca|cf|approx|dept|inc|ltd"
    r"|corp|sgt|capt|hon|gov|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|ph\.d|z\.b|bzw)"
    r"|Co|Gen|Col|Lt|Rev|Sen|Rep|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|[A-Z]"
)
_NUMBERED = re.compile(r"(?i:nos?|pp?|ch|art|sec)")
_LAST_WORD = re.compile(r"(?:[^\W_](?:[\w.]*\w)?)$")
_LOOK_BACK = 24


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each sentence, without the white space around it."""
    start = 0
    for match in _END.finditer(text):
        if _ends_here(text, match):
            yield from trimmed(text, start, match.end())
            start = match.end()
    yield from trimmed(text, start, len(text))


def trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the span without white space at its ends, unless nothing is left."""
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    if lead < len(piece):
        yield start + lead, start + len(piece.rstrip())


def _ends_here(text: str, match: re.Match[str]) -> bool:
    if _ALWAYS.search(match[0]):
        return True
    following = text[match.end() : match.end() + _LOOK_BACK]
    if following[:1].isalnum() and following[0].isascii():
        return False  # inside an address, a query or a name such as "Yahoo!7"
    after = following.lstrip()[:1]
    if match[0][0] == "…":
        return not after.islower()
    if match[0][0] != ".":
        return True
    return not after.islower() and not _abbreviated(text, match.start(), after)


def _abbreviated(text: str, dot: int, after: str) -> bool:
    """Whether the full stop belongs to an abbreviation, an initial or a list number."""
    before = text[max(0, dot - _LOOK_BACK) : dot]
    word = _LAST_WORD.search(before)
    if word is None:
        return False
    if word[0].isdigit():
        return not before[: word.start()].rpartition("\n")[2].strip()
    if after.isdigit() and _NUMBERED.fullmatch(word[0]):
        return True
    return _ABBREVIATIONS.fullmatch(word[0]) is not None
