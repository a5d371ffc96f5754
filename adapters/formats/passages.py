"""Cut text into passages of about 400 tokens, in one pass over blocks of any size.

A passage is a paragraph, or a few that belong together, or a part of a long one that ends with a
sentence. ``whole[start:end] == text`` holds for each. Memory stays bounded whatever the input.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from muniment.adapters.formats.sentences import sentences, trimmed

# A token is about four Latin letters or one Han character.
PASSAGE_UNITS = 1600
_DENSE_UNITS = 4
LINE_LIMIT = 16 * 1024
_BUFFER_LIMIT = 8 * 1024
_TITLE_CHARACTERS = 80
_TITLES_UNITS = 160
_HARD_CHARACTERS = PASSAGE_UNITS // _DENSE_UNITS

_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")
_DENSE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_VISIBLE = re.compile(r"[^\s\x00-\x1f\x7f\xad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_LIST_ITEM = re.compile(r"[ \t]*+(?:[-*+•·◦]|\(?\d{1,3}[.)、]|[a-zA-Z][.)])[ \t]")
_HEADING = re.compile(r"#{1,6}[ \t]+\S")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_SENTENCE_END = re.compile(r"[.。！？!?；…][\"'”’)）」』]*$")
_SOFT = re.compile(r"[,，、:：;]\s*|\s+")

Span: TypeAlias = tuple[int, int]


class Passage(NamedTuple):
    """A passage of a longer text: ``whole[start:end] == text``; lines count from 1."""

    start: int
    end: int
    text: str
    line_start: int
    line_end: int


class Line(NamedTuple):
    """Text from ``start`` on: a line with its ending, or a paragraph of such lines.

    ``continued`` says that it goes on with the one before, which was too long to hold.
    """

    start: int
    text: str
    number: int
    continued: bool = False


def chunks(text: str) -> Iterator[Span]:
    """Yield the (start, end) of each passage of a text."""
    for passage in passages([text]):
        yield passage.start, passage.end


def passages(
    blocks: Iterable[str], *, prose: bool = True, markdown: bool = False
) -> Iterator[Passage]:
    """Yield the passages of text that arrives in blocks.

    A heading or a lead-in stays with what follows it, a list with its other items. ``prose``
    false cuts long stretches at line ends before sentence ends (tables, code, logs).
    """
    waiting, previous = Line(0, "", 1), ""
    for paragraph in _paragraphs(lines(blocks), markdown):
        if waiting.text and not (paragraph.continued or _belongs(waiting, previous, paragraph)):
            yield from _cut(waiting, prose)
            waiting = Line(0, "", 1)
        first = waiting if waiting.text else paragraph
        waiting = Line(first.start, waiting.text + paragraph.text, first.number)
        previous = paragraph.text
        if len(waiting.text) > _BUFFER_LIMIT:
            *done, last = [None, *_cut(waiting, prose)]
            yield from filter(None, done)
            waiting = Line(0, "", 1)
            if last is not None:
                yield last
    yield from _cut(waiting, prose)


def shifted(passage: Passage, characters: int, line_breaks: int) -> Passage:
    """Move a passage of a part of a text to where that part stands."""
    return Passage(
        passage.start + characters,
        passage.end + characters,
        passage.text,
        passage.line_start + line_breaks,
        passage.line_end + line_breaks,
    )


def lines(blocks: Iterable[str]) -> Iterator[Line]:
    r"""Yield lines with their endings (``\n``, ``\r\n`` or ``\r``), long ones in pieces."""
    line = Line(0, "", 1)
    for block in blocks:
        pieces: list[str] = _LINE.findall(line.text + block)
        # The last one may go on in the next block: its text, or a "\n" after its "\r".
        whole = pieces and pieces[-1].endswith("\n")
        rest = "" if whole or not pieces else pieces.pop()
        start, number, continued = line.start, line.number, line.continued
        for piece in pieces:
            if len(piece) <= LINE_LIMIT:
                yield Line(start, piece, number, continued)
            else:
                yield from _pieces(Line(start, piece, number, continued))
            start, number, continued = start + len(piece), number + 1, False
        line = Line(start, "", number, continued)
        *cut, line = _pieces(line._replace(text=rest))
        yield from cut
    if line.text:
        yield line


def units(text: str) -> int:
    """Estimate the size of text: one a character, four a Han, Kana or Hangul one."""
    return len(text) if text.isascii() else len(text) + 3 * len(_DENSE.findall(text))


def _fits(text: str) -> bool:
    return len(text) <= _HARD_CHARACTERS or units(text) <= PASSAGE_UNITS


def visible(text: str) -> bool:
    """Tell whether anything of the text can be seen."""
    return _VISIBLE.search(text) is not None


def opens_or_closes_fence(line: str) -> bool:
    """Tell whether a line opens or closes a Markdown code block."""
    return _FENCE.match(line) is not None


def heading(line: str) -> tuple[int, str] | None:
    """Return the level and title of a Markdown heading line."""
    if not _HEADING.match(line):
        return None
    marks, _, title = line.strip().partition(" ")
    return len(marks.rstrip("\t")), title.strip().rstrip("#").rstrip()


def _pieces(line: Line) -> Iterator[Line]:
    text = line.text
    start = line.start
    continued = line.continued
    while len(text) > LINE_LIMIT:
        yield Line(start, text[:LINE_LIMIT], line.number, continued)
        start, text, continued = start + LINE_LIMIT, text[LINE_LIMIT:], True
    yield Line(start, text, line.number, continued)


def _paragraphs(source: Iterable[Line], markdown: bool) -> Iterator[Line]:
    """Join lines up to and with the blank ones after them; a Markdown heading starts anew."""
    held: list[str] = []
    first, size, blank, fenced = Line(0, "", 1), 0, False, False
    for line in source:
        is_blank = line.text.isspace() and not line.continued
        anew = blank and not is_blank
        if markdown and not line.continued:
            fenced ^= _FENCE.match(line.text) is not None
            anew = anew or (not fenced and _HEADING.match(line.text) is not None)
        if held and (anew or size > _BUFFER_LIMIT):
            yield first._replace(text="".join(held))
            held, size = [], 0
            first = line if anew else line._replace(continued=True)
        elif not held:
            first = line
        held.append(line.text)
        size += len(line.text)
        blank = is_blank
    if held:
        yield first._replace(text="".join(held))


def _belongs(waiting: Line, previous: str, paragraph: Line) -> bool:
    lead = previous.strip()
    if not lead:
        return True
    single = "\n" not in lead and "\r" not in lead
    if single and (_HEADING.match(lead) or lead[-1] in ":："):
        return True
    if _LIST_ITEM.match(previous):
        fits = units(waiting.text) + units(paragraph.text) <= PASSAGE_UNITS
        return fits and _LIST_ITEM.match(paragraph.text) is not None
    title = single and len(lead) <= _TITLE_CHARACTERS and not _SENTENCE_END.search(lead)
    return title and units(waiting.text) <= _TITLES_UNITS


def _cut(stretch: Line, prose: bool) -> Iterator[Passage]:
    """Yield the passages of a stretch of whole paragraphs."""
    text, at, line = stretch.text, 0, stretch.number
    for start, end in _packed(text, prose):
        if visible(text[start:end]):
            line += line_breaks(text[at:start])
            last = line + line_breaks(text[start:end])
            base = stretch.start
            yield Passage(base + start, base + end, text[start:end], line, last)
            at, line = end, last


def _packed(text: str, prose: bool) -> Iterator[Span]:
    """Join the largest pieces that fit until a passage is full."""
    if _fits(text):
        yield from trimmed(text, 0, len(text))
        return
    rules = (_by_sentence, _by_line, _by_clause) if prose else (_by_line, _by_sentence, _by_clause)
    start, end, size = 0, 0, 0
    for piece_start, piece_end in _fitting(text, 0, len(text), rules):
        grown = size + units(text[end:piece_end])
        if size and grown > PASSAGE_UNITS:
            yield start, end
            size = 0
        if not size:
            start, grown = piece_start, units(text[piece_start:piece_end])
        end, size = piece_end, grown
    if size:
        yield start, end


Rule: TypeAlias = Callable[[str], Iterator[Span]]


def _fitting(text: str, start: int, end: int, rules: Sequence[Rule]) -> Iterator[Span]:
    """Yield pieces that each fit a passage, cut by the first rule that makes them small enough."""
    if _fits(text[start:end]):
        yield from trimmed(text, start, end)
    elif not rules:
        for at in range(start, end, _HARD_CHARACTERS):
            yield from trimmed(text, at, min(end, at + _HARD_CHARACTERS))
    else:
        for inner_start, inner_end in rules[0](text[start:end]):
            yield from _fitting(text, start + inner_start, start + inner_end, rules[1:])


def _by_sentence(text: str) -> Iterator[Span]:
    yield from sentences(text)


def _by_line(text: str) -> Iterator[Span]:
    for match in _LINE.finditer(text):
        yield match.span()


def _by_clause(text: str) -> Iterator[Span]:
    start = 0
    for match in _SOFT.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def line_breaks(text: str) -> int:
    r"""Count line endings: ``\n``, ``\r\n`` or ``\r``."""
    return text.count("\n") + text.count("\r") - text.count("\r\n")
