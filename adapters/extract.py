"""Resolve a locator to what it names: the words, the crop, the page, the frame, the clip."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.adapters.formats import resolve
from muniment.adapters.formats.decoded import quote
from muniment.adapters.formats.sniff import HEAD_BYTES, TAIL_BYTES, sniff
from muniment.adapters.media import ffmpeg
from muniment.adapters.media.images import open_picture
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

# A frame's time is rounded to the millisecond, so it is looked for from just before.
FRAME_LEAD_MS = 1


class Cited(NamedTuple):
    """A place in an asset: the locator's fields, and what the observation adds to it.

    ``span`` are code points of the decoded text where the reader knew them, ``text`` the words as
    they were recorded. ``as_text`` asks for the words of a page, and not for its picture.
    """

    locator: Mapping[str, Any]
    text: str
    span: tuple[int, int] | None = None
    as_text: bool = False


def extract(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    """Write what a locator names to ``target``; return the media type of what was written.

    Raises ``InputError`` ``not_extractable`` for a place that has no bytes of its own.
    """
    kind = cited.locator["type"]
    if kind not in _EXTRACTORS:
        raise InputError(f"a {kind} locator can't be extracted", code="not_extractable")
    return _EXTRACTORS[kind](source, cited, target, limits)


def _characters(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    start, end = cited.locator["start"], cited.locator["end"]
    if source.family == "rtf":
        return _write_text(resolve.plain_words(source, start, end, limits), target)
    return _write_text(quote(source, start, end, limits.max_text_bytes), target)


def _message(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    if cited.span is not None and source.family == "chat":
        return _write_text(quote(source, *cited.span, limits.max_text_bytes), target)
    if resolve.is_reread(source.family):
        return _reread(source, cited, target, limits)
    return _write_text(cited.text, target)


def _reread(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    return _write_text(resolve.words_at(source, cited.locator, cited.text, limits), target)


def _cells(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    where = cited.locator
    return _write_text(resolve.cells_at(source, where["sheet"], where["range"], limits), target)


def _member(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    path, inner = cited.locator["path"], cited.locator.get("inner")
    if inner is not None and inner["type"] == "char":
        span = inner["start"], inner["end"]
        return _write_text(resolve.part_words(source, path, *span, limits), target)
    if inner is not None and resolve.is_reread(source.family):
        return _reread(source, cited, target, limits)
    if inner is not None:
        raise InputError("a place in a member can't be extracted", code="not_extractable")
    data = resolve.member_at(source, path, limits)
    target.write_bytes(data)
    head, tail = data[:HEAD_BYTES], data[-TAIL_BYTES:]
    return sniff(head, tail, len(data), path.rpartition("/")[2]).media_type


def _write_text(words: str, target: Path) -> str:
    target.write_bytes(words.encode("utf-8", "surrogatepass"))
    return "text/plain"


def picture_at(source: Source, locator: Mapping[str, Any], limits: Limits) -> "Image.Image":
    """Return the whole picture, page or frame that a locator's box lies in, upright.

    Raises ``InputError`` ``not_extractable`` where there is none to look at.
    """
    kind = locator["type"]
    if kind not in _PICTURES or (kind == "page" and resolve.is_reread(source.family)):
        raise InputError(f"a {kind} locator has no picture", code="not_extractable")
    return _PICTURES[kind](source, locator, limits)


def _box(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    _refuse_text(cited)
    return _save(_crop(picture_at(source, cited.locator, limits), cited.locator), target)


def _page(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    if resolve.is_reread(source.family):
        return _reread(source, cited, target, limits)
    if cited.as_text:
        from muniment.adapters.media.pdf import page_words

        return _write_text(page_words(source, cited.locator, cited.text), target)
    return _part(source, cited, target, limits)


def _refuse_text(cited: Cited) -> None:
    if cited.as_text:
        raise InputError(
            "what is seen there is no text of the file",
            code="not_extractable",
            hint="a file name that ends in .png gets the picture",
        )


def _part(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    _refuse_text(cited)
    picture = picture_at(source, cited.locator, limits)
    return _save(_crop(picture, cited.locator.get("bbox")), target)


def _image_frame(source: Source, locator: Mapping[str, Any], limits: Limits) -> "Image.Image":
    wanted = locator.get("page")
    with open_picture(source, limits) as picture:
        for frame in picture.frames():
            if wanted in {None, frame.page}:
                return frame.image
    raise InputError("the picture has no such frame", code="not_extractable")


def _page_image(source: Source, locator: Mapping[str, Any], limits: Limits) -> "Image.Image":
    from muniment.adapters.media.pdf import page_picture

    return page_picture(source, locator["page"], limits)


def _film_frame(source: Source, locator: Mapping[str, Any], limits: Limits) -> "Image.Image":
    from PIL import Image

    found = ffmpeg.probe(source, limits)
    if found.video is None:
        raise InputError("it has no picture", code="not_extractable")
    start = max(0, locator["at_ms"] - FRAME_LEAD_MS) / 1000
    whole = source.scratch / "frame.png"
    output = {"map": f"0:{found.video.index}", "frames:v": 1, "format": "image2", "c:v": "png",
              "update": 1}  # fmt: skip
    with _removed(whole):
        ffmpeg.extract(source, found, limits, output, whole, before_input={"ss": f"{start:.3f}"})
        with Image.open(whole) as picture:
            picture.load()
            return picture


def _clip(source: Source, cited: Cited, target: Path, limits: Limits) -> str:
    if cited.as_text or resolve.is_reread(source.family):
        return _reread(source, cited, target, limits)
    found = ffmpeg.probe(source, limits)
    start, end = cited.locator["start_ms"], cited.locator["end_ms"]
    span = {"ss": f"{start / 1000:.3f}", "t": f"{max(1, end - start) / 1000:.3f}"}
    if found.video is None and found.audio is None:
        raise InputError("it has neither sound nor picture", code="not_extractable")
    output: dict[str, Any] = {"streams": [s.index for s in (found.video, found.audio) if s]}
    kind = "video/mp4" if found.video else "audio/wav"
    output |= {"format": "mp4", "pix_fmt": "yuv420p"} if found.video else {"format": "wav"}
    made = source.scratch / "clip"
    with _removed(made):
        ffmpeg.extract(source, found, limits, output, made, before_input=span)
        with made.open("rb") as stream, target.open("wb") as out:
            while chunk := stream.read(1 << 20):
                out.write(chunk)
    return kind


def _crop(picture: "Image.Image", box: Mapping[str, Any] | None) -> "Image.Image":
    """Cut a box of 0..1 out of a picture, to the pixel outwards."""
    if box is None:
        return picture
    width, height = picture.size
    # A box of no size, at the edge too, is the pixel that it lies on.
    left = min(int(box["x"] * width), width - 1)
    top = min(int(box["y"] * height), height - 1)
    right = max(left + 1, -int(-(box["x"] + box["w"]) * width // 1))
    bottom = max(top + 1, -int(-(box["y"] + box["h"]) * height // 1))
    return picture.crop((left, top, min(width, right), min(height, bottom)))


def _save(picture: "Image.Image", target: Path) -> str:
    picture.convert("RGB").save(target, format="PNG")
    return "image/png"


@contextlib.contextmanager
def _removed(path: Path) -> Any:
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


_EXTRACTORS: dict[str, Callable[[Source, Cited, Path, Limits], str]] = {
    "char": _characters,
    "cell": _cells,
    "member": _member,
    "message": _message,
    "bbox": _box,
    "page": _page,
    "frame": _part,
    "time": _clip,
}
_PICTURES: dict[str, Callable[[Source, Mapping[str, Any], Limits], "Image.Image"]] = {
    "bbox": _image_frame,
    "page": _page_image,
    "frame": _film_frame,
}
