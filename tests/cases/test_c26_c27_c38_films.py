"""Covers, films without sound, films that were held sideways (C26, C27, C38)."""

from pathlib import Path

import pytest
from PIL import Image
from support.media import ffmpeg, findings, photo, source

from muniment.adapters.extract import Cited, extract
from muniment.adapters.ports import Derived, Limits, Outcome

TONE = ("-f", "lavfi", "-i", "aevalsrc=0.3*sin(2*PI*440*t):d=2:s=16000")
FILM = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=5:d=2")


@pytest.mark.parametrize("suffix", ["mp3", "m4a", "flac"])
def test_a_recording_with_a_cover_is_a_recording(tmp_path: Path, suffix: str) -> None:
    photo(1).save(tmp_path / "cover.png")
    path = ffmpeg(
        tmp_path / f"song.{suffix}", *TONE, "-i", str(tmp_path / "cover.png"), "-map", "0",
        "-map", "1", "-c:v", "copy", "-disposition:v:0", "attached_pic",
    )  # fmt: skip

    assert source(path, tmp_path / "scratch").family == "audio"
    covers = [found for found in findings("media_metadata", path) if isinstance(found, Derived)]
    assert [cover.relation for cover in covers] == ["cover"]
    (why,) = findings("frames", path)
    assert isinstance(why, Outcome)
    assert (why.status, why.code) == ("skipped", "no_video")


def test_a_film_without_sound_is_not_applicable_rather_than_failed(tmp_path: Path) -> None:
    (why,) = findings("speech", ffmpeg(tmp_path / "silent.mp4", *FILM))

    assert isinstance(why, Outcome)
    assert (why.status, why.code) == ("skipped", "no_audio")


def test_a_film_with_silent_sound_is_empty(tmp_path: Path) -> None:
    quiet = ("-f", "lavfi", "-i", "anullsrc=r=16000:d=2", "-shortest")

    (why,) = findings("speech", ffmpeg(tmp_path / "quiet.mp4", *FILM, *quiet))

    assert isinstance(why, Outcome)
    assert (why.status, why.code) == ("empty", "no_speech")


@pytest.mark.parametrize("turn", ["90", "-90", "180", "270"])
def test_a_film_that_was_held_sideways_is_seen_as_it_is_shown(tmp_path: Path, turn: str) -> None:
    plain = ffmpeg(tmp_path / "plain.mp4", *FILM)
    turned = ffmpeg(
        tmp_path / "turned.mp4", "-i", str(plain), "-c", "copy", "-metadata:s:v", f"rotate={turn}"
    )

    target = tmp_path / "frame.png"
    read = source(turned, tmp_path / "scratch")
    extract(read, Cited({"type": "frame", "at_ms": 1000}, ""), target, Limits())

    with Image.open(target) as frame:
        assert frame.size == ((48, 64) if turn != "180" else (64, 48))


def test_a_frame_past_the_end_is_said_not_to_be_there(tmp_path: Path) -> None:
    from muniment.store.errors import InputError

    read = source(ffmpeg(tmp_path / "short.mp4", *FILM), tmp_path / "scratch")

    with pytest.raises(InputError):
        extract(
            read, Cited({"type": "frame", "at_ms": 60_000}, ""), tmp_path / "none.png", Limits()
        )
    assert not (tmp_path / "none.png").exists()
