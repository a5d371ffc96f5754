"""Make what a person looks at and listens to: small pictures, and clips that any browser plays."""

import io
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.adapters.extract import picture_at
from muniment.adapters.media import ffmpeg
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError

if TYPE_CHECKING:
    from PIL import Image

_QUALITY = 84
_CLIP_WIDTH = 640
_WAVE_SIZE = (800, 96)
_WAVE_COLOUR = (120, 120, 132)
# A first frame is often black; a little later there is something to see.
_FIRST_LOOK_MS = 1_000


class Small(NamedTuple):
    """An encoded picture and its size in pixels."""

    data: bytes
    media_type: str
    width: int
    height: int


def small_picture(
    source: Source, locator: Mapping[str, Any], limits: Limits, longest: int
) -> Small:
    """Return the whole picture, page or frame around a locator, no side over ``longest``.

    Raises ``InputError`` ``not_extractable`` where there is none to look at.
    """
    return _encoded(picture_at(source, locator, limits), longest)


def cover(source: Source, limits: Limits, longest: int) -> Small:
    """Return what an asset is known by at a glance: its picture, first page, or an early frame.

    Raises ``InputError`` for what has no picture.
    """
    if source.media_type == "application/pdf":
        return small_picture(source, {"type": "page", "page": 1}, limits, longest)
    if source.media_type.startswith("image/"):
        return small_picture(source, {"type": "bbox"}, limits, longest)
    found = ffmpeg.probe(source, limits)
    at = min(_FIRST_LOOK_MS, (found.duration_ms or 0) // 2)
    return small_picture(source, {"type": "frame", "at_ms": at}, limits, longest)


def waveform(source: Source, limits: Limits) -> Small:
    """Draw the loudness of a recording over its whole length.

    Raises ``InputError`` ``not_extractable`` for what has no sound.
    """
    import numpy as np
    from PIL import Image, ImageDraw

    found = ffmpeg.probe(source, limits)
    if found.audio is None:
        raise InputError("it has no sound", code="not_extractable")
    seconds = [
        float(np.abs(part).max(initial=0.0))
        for window in ffmpeg.stream_pcm(source, found, limits)
        for part in np.array_split(window, max(1, len(window) // (ffmpeg.SAMPLE_RATE // 10)))
    ]
    width, height = _WAVE_SIZE
    image = Image.new("RGBA", _WAVE_SIZE, (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)
    loudest = max(seconds, default=0.0) or 1.0
    for x in range(0, width, 4):
        first, last = (len(seconds) * at // width for at in (x, x + 4))
        level = max(seconds[first : max(last, first + 1)], default=0.0) / loudest
        reach = max(1, math.floor(level * (height / 2 - 2)))
        draw.rectangle((x, height // 2 - reach, x + 2, height // 2 + reach), fill=_WAVE_COLOUR)
    buffer = io.BytesIO()
    image.save(buffer, format="PNG")
    return Small(buffer.getvalue(), "image/png", width, height)


def playable_clip(source: Source, start_ms: int, end_ms: int, limits: Limits, target: Path) -> str:
    """Write a span as an MP4 that browsers play, pictures small; return its media type.

    Raises ``InputError`` for what has neither sound nor picture, or can't be decoded.
    """
    found = ffmpeg.probe(source, limits)
    if found.video is None and found.audio is None:
        raise InputError("it has neither sound nor picture", code="not_extractable")
    span = {"ss": f"{start_ms / 1000:.3f}", "t": f"{max(1, end_ms - start_ms) / 1000:.3f}"}
    output: dict[str, Any] = {
        "streams": [stream.index for stream in (found.video, found.audio) if stream],
        "format": "mp4",
        "movflags": "+faststart",
        "map_metadata": -1,
    }
    if found.audio:
        output |= {"c:a": "aac", "b:a": "64k", "ac": 1}
    if found.video:
        output |= {"pix_fmt": "yuv420p", "vf": f"scale=min({_CLIP_WIDTH}\\,iw):-2"}
    ffmpeg.extract(source, found, limits, output, target, before_input=span)
    return "video/mp4" if found.video else "audio/mp4"


def _encoded(image: "Image.Image", longest: int) -> Small:
    """Encode anew, so that nothing of the file but its pixels is passed on."""
    picture = image.convert("RGB")
    picture.thumbnail((longest, longest))
    buffer = io.BytesIO()
    picture.save(buffer, format="JPEG", quality=_QUALITY, subsampling=0, optimize=True)
    return Small(buffer.getvalue(), "image/jpeg", *picture.size)
