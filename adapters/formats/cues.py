"""Subtitle cues out of SRT, WebVTT, ASS and SSA text.

SRT and WebVTT are walked here, block by block, because a broken cue must be noticed and a comment
must not become speech; ASS is parsed by pysubs2.
"""

import html
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from muniment.adapters.formats.passages import lines
from muniment.store.errors import InputError

_TIME = r"(?:(\d+):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_SKIPPED_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)|WEBVTT(?:\s|$)")
_BLOCK_LINES = 200


class Cue(NamedTuple):
    """What is shown from one time to another, in milliseconds."""

    start_ms: int
    end_ms: int
    text: str
    speaker: str | None = None


class BrokenCue(NamedTuple):
    """A cue without usable times; lines count from 1."""

    line: int


Parsed: TypeAlias = Iterator[Cue | BrokenCue]


def timed_cues(blocks: Iterable[str]) -> Parsed:
    """Yield the cues of SRT or WebVTT text, and where a cue is broken."""
    for number, block in _cue_blocks(blocks):
        timing = next((i for i, line in enumerate(block) if _TIMING.match(line)), None)
        if timing is not None:
            yield from _cue(block[timing], block[timing + 1 :], number + timing)
        elif _broken(block):
            yield BrokenCue(number)


def script_cues(text: str) -> Parsed:
    """Yield the dialogue of ASS or SSA text in order of time."""
    import pysubs2

    try:
        form = "ssa" if "[v4 styles]" in text.lower() else "ass"
        script = pysubs2.SSAFile.from_string(text, format_=form)
    except (pysubs2.Pysubs2Error, ValueError, IndexError) as fault:
        raise InputError("the subtitle script can't be parsed", code="broken_subtitles") from fault
    script.sort()
    for event in script:
        if event.is_comment or event.is_drawing:
            continue
        shown = event.plaintext.strip()
        if event.end < event.start or event.start < 0:
            yield BrokenCue(0)
        elif shown:
            yield Cue(event.start, event.end, shown, event.name.strip() or None)


def _cue_blocks(blocks: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield runs of lines between blank ones; a timing line inside a run starts a new one."""
    held: list[str] = []
    first = 1
    for line in lines(blocks):
        text = line.text.strip("\ufeff\r\n")
        timed = _TIMING.match(text) is not None
        again = timed and any(_TIMING.match(before) for before in held)
        if held and (not text.strip() or again or len(held) >= _BLOCK_LINES):
            carried = [held.pop()] if again and held[-1].strip().isdigit() else []
            yield first, held
            held, first = carried, line.number - len(carried)
        if text.strip():
            first = first if held else line.number
            held.append(text)
    if held:
        yield first, held


def _broken(block: list[str]) -> bool:
    """Whether lines without times were meant as a cue: numbered, or with an arrow."""
    numbered = block[0].strip().isdigit() and len(block) > 1
    return numbered or (not _SKIPPED_BLOCK.match(block[0]) and any("-->" in line for line in block))


def _cue(timing: str, shown: list[str], number: int) -> Parsed:
    found = _TIMING.match(timing)
    if found is None:
        return
    start, end = _milliseconds(*found.groups()[:4]), _milliseconds(*found.groups()[4:])
    raw = "\n".join(shown)
    voice = _VOICE.search(raw)
    text = "\n".join(line.strip() for line in html.unescape(_TAG.sub("", raw)).split("\n")).strip()
    if end < start:
        yield BrokenCue(number)
    elif text:
        yield Cue(start, end, text, html.unescape(voice[1]).strip() if voice else None)


def _milliseconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> int:
    whole = (int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)
    return whole * 1000 + int(fraction.ljust(3, "0"))
