"""Fingerprints of what a picture, a recording or a film shows, whatever file it is kept in.

Each is ``measure:digits``: the shape (width over height, in percent) or the length (tenths of a
second), and bits that a change of format, size or quality flips few of. Content that is plain has
none, since all that is plain looks alike.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.adapters.media.ffmpeg import (
    SAMPLE_RATE,
    PcmStream,
    compile_command,
    pcm_stream,
    probe,
    run_limits,
)
from muniment.adapters.media.images import open_picture
from muniment.adapters.media.probe import Probe
from muniment.adapters.ports import Finding, Outcome, Print, Source, Tools
from muniment.adapters.process import run
from muniment.store.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from PIL import Image

SIDE = 16
FRAME_SIDE = 8
FRAMES = 8
LEAST_FRAMES = 4
SEEN_SIDE = 64
# Levels of 255 that count as a difference, and the share of places that must show one.
_STEP = 2
_LEAST_LIVELY = 0.35
BANDS = 16
SEGMENTS = 32
_FRAME_SAMPLES = 2048
_LOWEST_HZ, _HIGHEST_HZ = 150.0, 3600.0
_BLOCK = 30 * SAMPLE_RATE // _FRAME_SAMPLES * _FRAME_SAMPLES
_SILENCE = 1e-6
_LEAST_CHANGE = 0.02


class PrintReader:
    """Fingerprints pictures, recordings and films; it covers no kind of observation."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield the prints; what can't be decoded or is plain ends ``skipped``."""
        found: list[Print] = []
        try:
            found += _pictures(source, tools) if source.family == "image" else _media(source, tools)
        except InputError as error:
            # The readers of its content say what is wrong with it.
            yield Outcome("skipped", "no_print", error.message)
            return
        yield from found
        if found:
            yield Outcome("ok", "printed")
        else:
            yield Outcome("skipped", "plain", "it is too plain or too short to be told apart")


def _pictures(source: Source, tools: Tools) -> Iterator[Print]:
    with open_picture(source, tools.limits) as picture:
        if picture.frame_count > 1:
            return
        for frame in picture.frames():
            width, height = frame.image.size
            digits = picture_digits(frame.image, SIDE)
            if digits:
                yield Print("picture", f"{round(100 * width / height)}:{digits}")


def picture_digits(image: "Image.Image", side: int) -> str:
    """Return whether each of ``side`` squared places is darker than its right neighbour.

    Nothing for a picture that is plain over most of it.
    """
    import numpy as np
    from PIL import Image

    small = image.convert("L").resize((side + 1, side), Image.Resampling.BOX)
    steps = np.diff(np.asarray(small, dtype=np.int16), axis=1)
    if (np.abs(steps) >= _STEP).mean() < _LEAST_LIVELY:
        return ""
    return _hexadecimal(steps > 0)


def _media(source: Source, tools: Tools) -> Iterator[Print]:
    found = probe(source, tools.limits)
    length = round((found.duration_ms or 0) / 100)
    if found.video is not None and source.family == "video":
        digits = _frame_digits(source, found, tools)
        if digits:
            yield Print("frames", f"{length}:{digits}")
    if found.audio is not None:
        with pcm_stream(source, found, tools.limits) as sound:
            digits = sound_digits(sound)
        if digits:
            yield Print("sound", f"{length}:{digits}")


def _frame_digits(source: Source, found: Probe, tools: Tools) -> str:
    assert found.video is not None
    duration = found.duration_ms or 0
    shown = []
    for number in range(FRAMES):
        at = f"{duration * (2 * number + 1) / (2 * FRAMES) / 1000:.3f}"
        output = {
            "map": f"0:{found.video.index}", "frames:v": 1, "pix_fmt": "gray",
            "vf": f"scale={SEEN_SIDE}:{SEEN_SIDE}:flags=area", "format": "rawvideo",
        }  # fmt: skip
        argv = compile_command(source, found, {"ss": at}, output)
        shown.append(_seen(run(argv, run_limits(tools.limits))))
    lively = sum(any(digit != "0" for digit in digits) for digits in shown)
    return "".join(shown) if lively >= LEAST_FRAMES else ""


def _seen(pixels: bytes) -> str:
    from PIL import Image

    nothing = "0" * (FRAME_SIDE * FRAME_SIDE // 4)
    if len(pixels) != SEEN_SIDE * SEEN_SIDE:
        return nothing
    image = Image.frombytes("L", (SEEN_SIDE, SEEN_SIDE), pixels)
    return picture_digits(image, FRAME_SIDE) or nothing


def sound_digits(sound: PcmStream) -> str:
    """Return how loudness moves over pitch and time, from one of 33 equal spans to the next.

    Nothing for silence and for what is shorter than four seconds.
    """
    import numpy as np

    levels = list(_levels(sound))
    if sum(map(len, levels)) <= SEGMENTS:
        return ""
    spans = np.array_split(np.concatenate(levels), SEGMENTS + 1)
    energy = np.stack([span.mean(axis=0) for span in spans])
    if energy.max() < _SILENCE:
        return ""
    slopes = np.diff(np.diff(np.log(energy + _SILENCE), axis=1), axis=0)
    if (np.abs(slopes) < _LEAST_CHANGE).mean() > 1 - _LEAST_LIVELY:
        return ""
    return _hexadecimal(slopes > 0)


def _levels(sound: PcmStream) -> "Iterator[np.ndarray]":
    """Yield the energy of each frame in each band, a block of frames at a time."""
    import numpy as np

    edges = np.geomspace(_LOWEST_HZ, _HIGHEST_HZ, BANDS + 2)
    places = np.unique(np.round(edges * _FRAME_SAMPLES / SAMPLE_RATE).astype(int))
    window = np.hanning(_FRAME_SAMPLES).astype(np.float32)
    while len(block := sound.read(_BLOCK)) >= _FRAME_SAMPLES:
        frames = block[: len(block) // _FRAME_SAMPLES * _FRAME_SAMPLES].reshape(-1, _FRAME_SAMPLES)
        power = np.square(np.abs(np.fft.rfft(frames * window, axis=1))) / _FRAME_SAMPLES
        yield np.add.reduceat(power, places, axis=1)[:, :-1]


def _hexadecimal(bits: "np.ndarray") -> str:
    import numpy as np

    return np.packbits(bits.ravel()).tobytes().hex()
