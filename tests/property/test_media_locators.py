"""Boxes, frames and clips: what a locator names comes out again, where and when it was."""

import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from support.media import BlindTools, ffmpeg, findings, source

from muniment.adapters.extract import Cited, extract
from muniment.adapters.media.ffmpeg import probe
from muniment.adapters.ports import Draft, Limits, OcrLine
from muniment.store.records import BboxLocator, FrameLocator, TimeLocator

WIDTH, HEIGHT = 251, 157
RATE = 10
# Compression moves a level by less than half the step from frame to frame.
STEP = 8
SHARE = st.floats(0, 1, allow_nan=False)


def gradient() -> Image.Image:
    """Return a picture in which each pixel's colour tells where it is."""
    across = np.tile(np.arange(WIDTH, dtype=np.uint8), (HEIGHT, 1))
    down = np.tile(np.arange(HEIGHT, dtype=np.uint8)[:, None], (1, WIDTH))
    return Image.fromarray(np.dstack([across, down, np.zeros_like(across)]))


@pytest.fixture(scope="module")
def picture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("box") / "gradient.png"
    gradient().save(path)
    return path


@given(SHARE, SHARE, SHARE, SHARE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_a_box_comes_out_as_the_pixels_that_it_covers(
    picture: Path, x: float, y: float, w: float, h: float
) -> None:
    where = BboxLocator(x=x, y=y, w=min(w, 1 - x), h=min(h, 1 - y)).model_dump()
    target = picture.with_name("crop.png")

    extract(source(picture, picture.parent / "s"), Cited(where, ""), target, Limits())

    with Image.open(target) as crop:
        pixels = np.asarray(crop)
    left, top = int(pixels[0, 0, 0]), int(pixels[0, 0, 1])
    right, bottom = int(pixels[-1, -1, 0]) + 1, int(pixels[-1, -1, 1]) + 1
    # Whole pixels outwards, and one at least.
    assert abs(left - where["x"] * WIDTH) <= 1
    assert abs(top - where["y"] * HEIGHT) <= 1
    assert abs(right - (where["x"] + where["w"]) * WIDTH) <= 1 or right == left + 1
    assert abs(bottom - (where["y"] + where["h"]) * HEIGHT) <= 1 or bottom == top + 1


@given(
    st.integers(0, WIDTH - 20), st.integers(0, HEIGHT - 12),
    st.integers(12, 80), st.integers(8, 40),
)  # fmt: skip
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_a_line_that_was_read_is_cut_out_where_it_was_seen(
    picture: Path, left: int, top: int, width: int, height: int
) -> None:
    right, bottom = min(WIDTH, left + width), min(HEIGHT, top + height)
    quad = ((left, top), (right, top), (right, bottom), (left, bottom))
    tools = BlindTools(lines=[OcrLine("words", 0.9, tuple((float(a), float(b)) for a, b in quad))])

    (line,) = [one for one in findings("picture", picture, tools) if isinstance(one, Draft)]
    target = picture.with_name("line.png")
    cited = Cited(line.locator.model_dump(), line.text)
    extract(source(picture, picture.parent / "s"), cited, target, Limits())

    with Image.open(target) as crop:
        pixels = np.asarray(crop)
    found = (pixels[0, 0, 0], pixels[0, 0, 1], pixels[-1, -1, 0] + 1, pixels[-1, -1, 1] + 1)
    assert np.abs(np.array(found, int) - (left, top, right, bottom)).max() <= 1


@pytest.fixture(scope="module", params=["plain", "late start", "uneven"])
def film(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return 20 frames, each as bright as its number says, at times of three kinds."""
    target = tmp_path_factory.mktemp("film") / "film.mkv"
    times = {
        "plain": "null",
        "late start": "setpts=PTS+3/TB",
        "uneven": "setpts='(N*N/40+N)/10/TB'",
    }
    return ffmpeg(
        target, "-f", "lavfi", "-i", f"color=black:s=64x48:r={RATE}:d=2", "-vf",
        f"geq=lum='16+N*{STEP}':cb=128:cr=128,{times[request.param]}", "-vsync", "vfr",
        "-c:v", "libx264", "-qp", "0", "-g", "5", "-bf", "2",
    )  # fmt: skip


def brightness(path: Path) -> float:
    with Image.open(path) as frame:
        return float(np.asarray(frame.convert("L")).mean())


def test_a_frame_comes_out_at_the_time_that_it_was_seen(film: Path, tmp_path: Path) -> None:
    from muniment.adapters.media.key_frames import key_frames

    read = source(film, tmp_path / "s")
    with key_frames(read, probe(read, Limits()), Limits()) as stream:
        seen = [
            (frame.at_ms, float(np.asarray(frame.image.convert("L")).mean())) for frame in stream
        ]
    assert seen

    for at_ms, level in seen:
        target = tmp_path / f"{at_ms}.png"
        extract(read, Cited(FrameLocator(at_ms=at_ms).model_dump(), ""), target, Limits())
        assert abs(brightness(target) - level) < STEP / 2


@pytest.mark.parametrize(("start", "end"), [(0, 500), (700, 1500), (1234, 1567), (1900, 2000)])
def test_a_clip_of_sound_is_the_sound_of_its_times(tmp_path: Path, start: int, end: int) -> None:
    # A tone that rises all the time: its pitch tells the time.
    path = ffmpeg(
        tmp_path / "rise.wav", "-f", "lavfi", "-i",
        "aevalsrc='0.5*sin(2*PI*(300*t+500*t*t))':d=2:s=16000",
    )  # fmt: skip
    target = tmp_path / "clip.wav"

    where = TimeLocator(start_ms=start, end_ms=end).model_dump()
    assert extract(source(path, tmp_path / "s"), Cited(where, ""), target, Limits()) == "audio/wav"

    with wave.open(str(target)) as cut, wave.open(str(path)) as whole:
        assert abs(cut.getnframes() / cut.getframerate() * 1000 - (end - start)) <= 2
        samples = np.frombuffer(cut.readframes(cut.getnframes()), "<i2").astype(float)
        everything = np.frombuffer(whole.readframes(whole.getnframes()), "<i2").astype(float)
    first = start * 16
    expected = everything[first : first + len(samples)]
    length = min(len(expected), len(samples))
    assert np.abs(samples[:length] - expected[:length]).max() <= 64


def test_a_clip_of_a_film_has_sound_and_pictures_of_its_times(tmp_path: Path) -> None:
    path = ffmpeg(
        tmp_path / "film.mp4", "-f", "lavfi", "-i", "testsrc=s=64x48:r=10:d=4", "-f", "lavfi",
        "-i", "aevalsrc=0.3*sin(2*PI*440*t):d=4:s=16000",
    )  # fmt: skip
    target = tmp_path / "clip.mp4"

    where = TimeLocator(start_ms=1000, end_ms=2500).model_dump()
    assert extract(source(path, tmp_path / "s"), Cited(where, ""), target, Limits()) == "video/mp4"

    found = probe(source(target, tmp_path / "s2"), Limits())
    assert found.video is not None
    assert found.audio is not None
    assert abs((found.duration_ms or 0) - 1500) <= 150
