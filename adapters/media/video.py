"""What can be read and seen in a film: text on its key frames, and their description."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from typing import TYPE_CHECKING

from muniment.adapters.media.boxes import (
    Corners,
    box_of,
    collapse_han_spaces,
    corners_of,
    is_noise,
    overlap_share,
    words_key,
)
from muniment.adapters.media.ffmpeg import probe
from muniment.adapters.media.key_frames import KeyFrame, KeyFrameStream, key_frames
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.media.reading_order import reading_order
from muniment.adapters.ports import Derived, Draft, Finding, Outcome, Source, Tools
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

    from muniment.store.records import FrameLocator

JPEG_QUALITY = 85
THUMBNAIL = (64, 36)
SAME_LEVELS = 8
BLANK_LEVELS = 10
SAME_PLACE = 0.5
SAME_WORDS = 0.85


class FramesReader:
    """Reads the key frames of a film (kinds ``ocr`` and ``visual``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield text with the time and place of its first showing, and the frames that carry it.

        A file without moving pictures ends ``skipped``/``no_video``, a film without text
        ``empty``/``no_text``, one that breaks off ``partial``/``damaged``.
        """
        found = probe(source, tools.limits)
        if found.video is None:
            yield Outcome("skipped", "no_video", "there is no moving picture in it")
            return
        viewer = _Viewer(tools)
        with key_frames(source, found, tools.limits) as stream:
            for frame in stream:
                yield from viewer.see(frame)
            yield from viewer.close(set())
            ending = _ending(stream, viewer)
        if ending is not None:
            yield ending


def _ending(stream: KeyFrameStream, viewer: "_Viewer") -> Outcome | None:
    damage = stream.damage()
    if not viewer.frames and damage:
        raise InputError(damage, code="unreadable")
    if damage:
        return Outcome("partial", "damaged", damage)
    if stream.capped:
        return Outcome("partial", "frame_limit", "only the first key frames were read")
    return None if viewer.found else Outcome("empty", "no_text", "nothing is written in it")


@dataclass(slots=True)
class _Shown:
    """A line of text that is on the screen."""

    text: str
    key: str
    corners: Corners
    confidence: float
    at_ms: int
    index: int
    until_ms: int


class _Viewer:
    """Looks at frames in order, remembering what was shown in the last one."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools
        self._showing: list[_Shown] = []
        self._last: Image.Image | None = None
        self._occurrences = Occurrences()
        self.frames = 0
        self.found = False

    def see(self, frame: KeyFrame) -> Iterator[Finding]:
        self.frames += 1
        small = _thumbnail(frame.image)
        if self._last is not None and _difference(small, self._last) <= SAME_LEVELS:
            for shown in self._showing:
                shown.until_ms = frame.at_ms
            return
        self._last = small
        low, high = small.getextrema()
        if high - low < BLANK_LEVELS:  # type: ignore[operator]  # one band gives two numbers
            yield from self.close(set())
            return
        fresh, kept = self._compare(self._lines(frame), frame.at_ms)
        yield from self.close(kept)
        self._showing += fresh
        described = list(self._described(frame))
        yield from described
        if fresh or described:
            self.found = True
            yield _key_frame(frame)

    def close(self, kept: set[int]) -> Iterator[Finding]:
        """Yield the lines that are gone; ``kept`` are the identities of those that are not."""
        for shown in self._showing:
            if id(shown) not in kept:
                yield self._occurrences.number(self._draft(shown))
        self._showing = [shown for shown in self._showing if id(shown) in kept]

    def _lines(self, frame: KeyFrame) -> list[_Shown]:
        size = frame.image.size
        lines = self._tools.ocr().read(frame.image)
        boxes = [corners_of(line, size) for line in lines]
        shown = []
        for number in reading_order(boxes):
            text = collapse_han_spaces(lines[number].text)
            key = words_key(text)
            sure = min(1.0, max(0.0, lines[number].confidence))
            if not is_noise(key, sure):
                at = frame.at_ms
                shown.append(_Shown(text, key, boxes[number], sure, at, frame.index, at))
        return shown

    def _compare(self, lines: list[_Shown], at_ms: int) -> tuple[list[_Shown], set[int]]:
        """Return the lines that are new, and the identities of those still showing."""
        kept: set[int] = set()
        fresh = []
        for line in lines:
            old = next(
                (one for one in self._showing if id(one) not in kept and _same(one, line)), None
            )
            if old is None:
                fresh.append(line)
            else:
                old.until_ms = at_ms
                kept.add(id(old))
        return fresh, kept

    def _draft(self, shown: _Shown) -> Draft:
        from muniment.store.records import FrameLocator

        return Draft(
            kind="ocr",
            text=shown.text,
            locator=FrameLocator(at_ms=shown.at_ms, bbox=box_of(shown.corners), index=shown.index),
            confidence=shown.confidence,
            producer=self._tools.ocr().producer,
            attributes={"until_ms": shown.until_ms},
        )

    def _described(self, frame: KeyFrame) -> Iterator[Draft]:
        describer = self._tools.describer()
        if describer is None:
            return
        seen = describer.describe(jpeg_of(frame.image))
        if seen.text.strip():
            yield Draft(
                kind="visual",
                text=seen.text.strip(),
                locator=_whole(frame),
                confidence=seen.confidence,
                producer=describer.producer,
                attributes={"labels": list(seen.labels)},
            )


def jpeg_of(image: "Image.Image") -> bytes:
    """Write a picture as JPEG."""
    written = BytesIO()
    image.save(written, "JPEG", quality=JPEG_QUALITY)
    return written.getvalue()


def _key_frame(frame: KeyFrame) -> Derived:
    return Derived(
        "key_frame",
        locator=_whole(frame),
        name=f"frame-{frame.at_ms:09d}.jpg",
        data=jpeg_of(frame.image),
    )


def _whole(frame: KeyFrame) -> "FrameLocator":
    from muniment.store.records import FrameLocator

    return FrameLocator(at_ms=frame.at_ms, index=frame.index)


def _thumbnail(image: "Image.Image") -> "Image.Image":
    from PIL.Image import Resampling

    return image.convert("L").resize(THUMBNAIL, Resampling.BOX)


def _difference(one: "Image.Image", other: "Image.Image") -> int:
    from PIL import ImageChops

    _, high = ImageChops.difference(one, other).getextrema()
    return int(high)  # type: ignore[arg-type]  # one band gives two numbers


def _same(one: _Shown, other: _Shown) -> bool:
    if one.key == other.key:
        return True
    if overlap_share(one.corners, other.corners) < SAME_PLACE:
        return False
    # A letter misread is the same line, another number is another fact.
    digits = [re.findall(r"\d", line.key) for line in (one, other)]
    return (
        digits[0] == digits[1] and SequenceMatcher(None, one.key, other.key).ratio() >= SAME_WORDS
    )
