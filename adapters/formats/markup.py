"""The visible runs of text in HTML and XML, as they stand in the source."""

import re
from collections.abc import Iterator

# Comments, declarations, whole elements that are never shown, and tags.
_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[|\]\]>"
    r"|<(script|style|template|noscript|svg|math)\b[^>]*(?:/>|>.*?(?:</\1\s*>|\Z))"
    r"|<[!?/]?[a-zA-Z](?:[^<>\"']|\"[^\"]*\"|'[^']*')*+>?",
    re.IGNORECASE | re.DOTALL,
)
# Plain emphasis stays inside its sentence.
_INLINE = re.compile(
    r"</?(?:b|i|em|strong|u|s|sub|sup|code|mark|small|q|cite|abbr|kbd|var|del|ins)>", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W_]")


def visible_runs(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each run that a reader of the page sees."""
    start = 0
    for match in _MARKUP.finditer(text):
        if _INLINE.fullmatch(match[0]):
            continue
        yield from _run(text, start, match.start())
        start = match.end()
    yield from _run(text, start, len(text))


def _run(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if _LETTER.search(_INLINE.sub("", text[start:end])):
        yield start, end
