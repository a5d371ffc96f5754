"""What can be read and seen in a picture, and what its tags say."""

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

from muniment.adapters.media.boxes import (
    Corners,
    box_fields,
    collapse_han_spaces,
    corners_of,
    is_noise,
    quad_of,
    words_key,
)
from muniment.adapters.media.exif import Tags, place_claim, read_tags, time_claims
from muniment.adapters.media.images import Picture, Upright, open_picture
from muniment.adapters.media.key_frames import fit
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.media.reading_order import reading_order
from muniment.adapters.media.video import jpeg_of
from muniment.adapters.ports import (
    Draft,
    Finding,
    Label,
    OcrLine,
    Outcome,
    PlaceClaim,
    Source,
    TimeClaim,
    Tools,
)
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

    from muniment.store.records import BboxLocator, Producer

OCR_LONG_SIDE = 4000
STRIP_RATIO = 3
DESCRIBED_LONG_SIDE = 1280
_WHOLE: Corners = (0.0, 0.0, 1.0, 1.0)


class PictureReader:
    """Reads pictures (kinds ``ocr``, ``visual``, ``metadata``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield claims of time and place, the tags' words, then what each frame says and shows.

        Ends ``partial`` when the picture breaks off (``truncated``), a frame can't be read
        (``frames_unread``) or pages are left out (``page_limit``); ``empty``/``no_text`` when
        there is nothing at all.
        """
        with open_picture(source, tools.limits) as picture:
            tags = read_tags(picture.opened)
            claims: list[TimeClaim | PlaceClaim] = list(time_claims(tags))
            if place := place_claim(tags):
                claims.append(place)
            yield from claims
            seen = _Seen(tools, picture.animated)
            yield from seen.frames(picture, _about(picture, tags, claims))
            if ending := seen.ending(picture):
                yield ending


class _Seen:
    """Reads frame after frame, leaving out what the one before already showed."""

    def __init__(self, tools: Tools, animated: bool) -> None:
        self._tools = tools
        self._animated = animated
        self._before: set[str] = set()
        self._occurrences = Occurrences()
        self._drafts = 0
        self._frames = 0
        self._damage = ""
        self._problem: InputError | None = None

    def frames(self, picture: Picture, about: str) -> Iterator[Draft]:
        frames = picture.frames()
        while (frame := self._next(frames)) is not None:
            if about and not self._frames:
                yield self._count(Draft("metadata", about, _locator(_WHOLE), confidence=1.0))
            self._frames += 1
            self._damage = self._damage or frame.damaged
            for draft in self._drafts_of(frame):
                yield self._count(draft)

    def ending(self, picture: Picture) -> Outcome | None:
        if self._damage:
            return Outcome("partial", "truncated", self._damage)
        if self._problem is not None:
            return Outcome("partial", self._problem.code, self._problem.message)
        if not picture.animated and picture.frame_count > picture.cap:
            return Outcome("partial", "page_limit", f"only the first {picture.cap} pages were read")
        wanted = min(picture.frame_count, picture.cap)
        if self._frames < wanted:
            return Outcome("partial", "frames_unread", f"{wanted - self._frames} frames are broken")
        return None if self._drafts else Outcome("empty", "no_text", "nothing is written in it")

    def _next(self, frames: Iterator[Upright]) -> Upright | None:
        try:
            return next(frames, None)
        except InputError as error:
            if not self._frames:
                raise
            self._problem = error
            return None

    def _count(self, draft: Draft) -> Draft:
        self._drafts += 1
        return self._occurrences.number(draft)

    def _drafts_of(self, frame: Upright) -> Iterator[Draft]:
        image = shrink(frame.image)
        engine = self._tools.ocr()
        lines = [
            line
            for line in ordered(engine.read(image), image.size)
            if not is_noise(words_key(collapse_han_spaces(line.text)), line.confidence)
        ]
        yield from self._text(lines, image.size, frame.page, engine.producer)
        yield from self._description(frame)
        yield from self._labels(image, lines, frame.page)

    def _text(
        self, lines: list[OcrLine], size: tuple[int, int], page: int | None, producer: "Producer"
    ) -> Iterator[Draft]:
        showing = set()
        for line in lines:
            text = collapse_han_spaces(line.text)
            key = words_key(text)
            showing.add(key)
            if self._animated and key in self._before:
                continue
            yield Draft(
                kind="ocr",
                text=text,
                locator=_locator(corners_of(line, size), quad_of(line, size), page),
                confidence=min(1.0, max(0.0, line.confidence)),
                producer=producer,
            )
        self._before = showing

    def _description(self, frame: Upright) -> Iterator[Draft]:
        describer = self._tools.describer()
        if describer is None or (self._animated and self._frames > 1):
            return
        small = frame.image.resize(fit(frame.image.size, DESCRIBED_LONG_SIDE))
        seen = describer.describe(jpeg_of(small))
        if seen.text.strip():
            yield Draft(
                kind="visual",
                text=seen.text.strip(),
                locator=_locator(_WHOLE, None, frame.page),
                confidence=seen.confidence,
                producer=describer.producer,
                attributes={"labels": list(seen.labels)},
            )

    def _labels(
        self, image: "Image.Image", lines: list[OcrLine], page: int | None
    ) -> Iterator[Draft]:
        labeller = self._tools.labeller()
        if labeller is None or (self._animated and self._frames > 1):
            return
        labels = labeller.label(image, lines)
        if labels:
            yield Draft(
                kind="visual",
                text=said_of(labels),
                locator=_locator(_WHOLE, None, page),
                confidence=min(label.confidence for label in labels),
                producer=labeller.producer,
                attributes={"labels": [label.english for label in labels], "said_by": "classifier"},
            )


def said_of(labels: list[Label]) -> str:
    """Say in both languages what a photo seems to show, as a guess and not as a fact."""
    english = ", ".join(label.english for label in labels)
    chinese = "、".join(label.chinese for label in labels)
    return f"Photo, seems to show: {english}. 照片，看起来像：{chinese}。"


def shrink(image: "Image.Image") -> "Image.Image":
    """Return the picture no larger than text recognition can use; long strips keep their width."""
    width, height = image.size
    long, short = max(width, height), min(width, height)
    limit = OCR_LONG_SIDE if long <= STRIP_RATIO * short else max(OCR_LONG_SIDE, short * 40)
    share = min(1.0, limit / long)
    if share == 1.0:
        return image
    return image.resize((max(1, round(width * share)), max(1, round(height * share))))


def ordered(lines: list[OcrLine], size: tuple[int, int]) -> list[OcrLine]:
    """Put lines in reading order by columns; text that stands on its side keeps its own."""
    if sum(_starts_top_left(line) for line in lines) * 2 < len(lines):
        return lines
    slope = median(_slope(line) for line in lines) if lines else 0.0
    straight = [_straightened(line, slope, size) for line in lines]
    return [lines[index] for index in reading_order(straight)]


def _slope(line: OcrLine) -> float:
    """Return how many pixels a line falls for each one to the right."""
    across, down = line.quad[1][0] - line.quad[0][0], line.quad[1][1] - line.quad[0][1]
    return down / across if across > abs(down) else 0.0


def _straightened(line: OcrLine, slope: float, size: tuple[int, int]) -> Corners:
    """Return the box of a line after shearing an askew page, so that columns stand upright."""
    across = [(x + slope * y) / size[0] for x, y in line.quad]
    down = [(y - slope * x) / size[1] for x, y in line.quad]
    return min(across), min(down), max(across), max(down)


def _starts_top_left(line: OcrLine) -> bool:
    left = sum(x for x, _ in line.quad) / len(line.quad)
    top = sum(y for _, y in line.quad) / len(line.quad)
    return line.quad[0][0] <= left and line.quad[0][1] <= top


def _about(picture: Picture, tags: Tags, claims: list[TimeClaim | PlaceClaim]) -> str:
    """Say what is known of the picture besides its pixels, or nothing when that is its size."""
    lines = list(tags.captions)
    for claim in claims[:1]:
        if isinstance(claim, TimeClaim):
            moment = claim.moment
            lines.append(f"Taken: {(moment.local or moment.utc or '')[:19]}{moment.offset or ''}")
    if tags.camera:
        lines.append(f"Camera: {tags.camera}")
    if tags.lens:
        lines.append(f"Lens: {tags.lens}")
    for claim in claims:
        if isinstance(claim, PlaceClaim):
            lines.append(f"Place: {claim.latitude:.4f}, {claim.longitude:.4f}")
    if not lines:
        return ""
    width, height = picture.opened.size
    kind = "Preview" if picture.preview else "Picture"
    return "\n".join([*lines, f"{kind}: {width}×{height} pixels"])


def _locator(
    corners: Corners,
    quad: tuple[tuple[float, float], ...] | None = None,
    page: int | None = None,
) -> "BboxLocator":
    from muniment.store.records import BboxLocator

    x, y, w, h = box_fields(corners)
    return BboxLocator(x=x, y=y, w=w, h=h, quad=quad, page=page)
