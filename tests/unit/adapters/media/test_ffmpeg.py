"""Probing and streaming: the facts about ffmpeg that once surprised somebody."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from muniment.adapters.media import ffmpeg as media
from muniment.adapters.media.ffmpeg import compile_command, extract, pcm_stream, probe, stream_pcm
from muniment.adapters.media.probe import parse_iso6709, parse_probe
from muniment.adapters.ports import Limits, Source
from muniment.adapters.process import run
from muniment.store.errors import InputError

LIMITS = Limits()
Made = Callable[..., Path]
SourceOf = Callable[..., Source]


@pytest.fixture(scope="session")
def clip(made: Made) -> Path:
    return made(
        "mp4",
        *("-f", "lavfi", "-i", "testsrc=s=320x180:r=10:d=2"),
        *("-f", "lavfi", "-i", "sine=d=2", "-metadata", "title=A walk"),
        *("-metadata", "creation_time=2024-05-06T07:08:09Z", "-pix_fmt", "yuv420p"),
    )


def test_a_clip_is_seen_with_its_streams_and_tags(clip: Path, source_of: SourceOf) -> None:
    found = probe(source_of(clip), LIMITS)

    assert found.video is not None
    assert found.audio is not None
    assert found.video.display_size == (320, 180)
    assert found.tags["title"] == "A walk"
    assert found.duration_ms is not None
    assert abs(found.duration_ms - 2000) < 100


@pytest.mark.parametrize("text", ["#EXTM3U\n", "ffconcat version 1.0\n"])
def test_a_playlist_that_names_another_file_is_refused_unopened(
    text: str, clip: Path, source_of: SourceOf
) -> None:
    playlist = f"{text}#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://{clip}\n#EXT-X-ENDLIST\n"

    with pytest.raises(InputError) as caught:
        probe(source_of(playlist.encode()), LIMITS)

    assert caught.value.code == "unsupported_format"


def test_the_whitelist_stops_a_playlist_that_wears_a_false_head(
    clip: Path, source_of: SourceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(media, "demuxer_for", lambda head: "mov")
    playlist = f"#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nfile://{clip}\n#EXT-X-ENDLIST\n"

    with pytest.raises(InputError) as caught:
        probe(source_of(playlist.encode()), LIMITS)

    assert caught.value.code == "unreadable"


def test_every_command_is_guarded_and_names_the_hash_alone(clip: Path, source_of: SourceOf) -> None:
    source = source_of(clip, name="-x%03d a:b.mp4")
    argv = compile_command(source, probe(source, LIMITS), {}, {"format": "null"})

    assert "-nostdin" in argv
    assert argv[argv.index("-protocol_whitelist") + 1] == "file"
    assert argv[argv.index("-format_whitelist") + 1] == "mov,mp4,m4a,3gp,3g2,mj2"
    assert Path(argv[argv.index("-i") + 1]).name == source.asset.removeprefix("sha256:")
    assert not any("%03d" in word for word in argv)


@pytest.mark.parametrize("turn", ["90", "270", "-90"])
def test_a_turned_film_is_shown_with_its_sides_swapped(
    turn: str, made: Made, clip: Path, source_of: SourceOf
) -> None:
    turned = made("mp4", "-i", str(clip), "-c", "copy", "-metadata:s:v", f"rotate={turn}")

    video = probe(source_of(turned), LIMITS).video

    assert video is not None
    assert (video.width, video.height) == (320, 180)
    assert video.display_size == (180, 320)


def test_a_matrix_counts_the_other_way_round_than_the_old_tag() -> None:
    stream = {"index": 0, "codec_type": "video", "codec_name": "h264", "width": 4, "height": 2}
    by_matrix = parse_probe({"streams": [{**stream, "side_data_list": [{"rotation": -90}]}]}, "mov")
    by_tag = parse_probe({"streams": [{**stream, "tags": {"rotate": "90"}}]}, "mov")

    assert by_matrix.streams[0].rotation == by_tag.streams[0].rotation == 90


def test_pixels_that_are_not_square_are_shown_wide() -> None:
    stream = {"index": 0, "codec_type": "video", "codec_name": "h264", "width": 720, "height": 576}
    found = parse_probe({"streams": [{**stream, "sample_aspect_ratio": "16:15"}]}, "mpeg")

    assert found.streams[0].display_size == (768, 576)


def test_cover_art_makes_no_film_of_a_song(made: Made, source_of: SourceOf) -> None:
    cover = made("png", "-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1")
    song = made(
        "mp3",
        *("-f", "lavfi", "-i", "sine=d=1", "-i", str(cover), "-map", "0", "-map", "1"),
        *("-c:v", "copy", "-disposition:v", "attached_pic"),
    )

    found = probe(source_of(song, "audio"), LIMITS)

    assert found.video is None
    assert found.cover is not None
    assert found.audio is not None


def test_a_length_that_the_header_lacks_is_measured(made: Made, source_of: SourceOf) -> None:
    raw = made("aac", "-f", "lavfi", "-i", "sine=d=3", "-af", "volume='gt(t,1.5)':eval=frame")

    found = probe(source_of(raw, "audio"), LIMITS)

    assert found.duration_ms is not None
    assert abs(found.duration_ms - 3000) < 150


def test_an_empty_file_is_empty_and_rubbish_is_unreadable(source_of: SourceOf) -> None:
    with pytest.raises(InputError) as empty:
        probe(source_of(b""), LIMITS)
    with pytest.raises(InputError) as broken:
        probe(source_of(b"\x00\x00\x00\x18ftypmp42" + bytes(400)), LIMITS)

    assert (empty.value.status, empty.value.code) == ("empty", "empty_file")
    assert (broken.value.status, broken.value.code) == ("failed", "unreadable")


def test_no_message_names_a_file_of_ours(source_of: SourceOf) -> None:
    source = source_of(b"RIFF\x00\x00\x00\x00WAVE" + b"junk" * 50)

    with pytest.raises(InputError) as caught:
        probe(source, LIMITS)

    assert str(source.scratch) not in str(caught.value)


def test_sound_is_streamed_in_windows_of_floats(beeps: Path, source_of: SourceOf) -> None:
    source = source_of(beeps, "audio")

    windows = list(stream_pcm(source, probe(source, LIMITS), LIMITS, window_seconds=4))

    assert [len(window) for window in windows] == [64000, 32000]
    assert windows[0].dtype == np.float32


def test_a_span_of_sound_begins_where_it_was_asked_for(beeps: Path, source_of: SourceOf) -> None:
    source = source_of(beeps, "audio")
    found = probe(source, LIMITS)

    (window,) = stream_pcm(source, found, LIMITS, start_ms=4000, end_ms=5500)

    assert len(window) == 24000
    loud = np.flatnonzero(abs(window) > 0.1)
    assert abs(loud[0] / 16 - 500) < 5
    assert abs(loud[-1] / 16 - 1000) < 5


def test_sound_that_starts_late_keeps_its_place_on_the_timeline(
    made: Made, clip: Path, source_of: SourceOf
) -> None:
    late = made(
        "mkv",
        *("-i", str(clip), "-itsoffset", "1.5", "-f", "lavfi", "-i", "sine=d=1"),
        *("-map", "0:v", "-map", "1:a", "-c:v", "copy"),
    )
    source = source_of(late)
    found = probe(source, LIMITS)

    with pcm_stream(source, found, LIMITS) as sound:
        samples = sound.read(16000 * 10)

    assert found.audio is not None
    assert abs(found.audio.start_ms - 1500) < 30
    assert abs(np.flatnonzero(abs(samples) > 0.02)[0] / 16 - 1500) < 30


def test_leaving_a_stream_early_leaves_no_program_behind(beeps: Path, source_of: SourceOf) -> None:
    source = source_of(beeps, "audio")
    with pcm_stream(source, probe(source, LIMITS), LIMITS) as sound:
        sound.read(160)

    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=False)
    assert source.asset.removeprefix("sha256:") not in left.stdout


def test_a_seek_past_the_end_writes_nothing_and_says_so(clip: Path, source_of: SourceOf) -> None:
    source = source_of(clip)
    target = source.scratch / "frame.png"

    with pytest.raises(InputError) as caught:
        extract(
            source,
            probe(source, LIMITS),
            LIMITS,
            {"frames:v": 1},
            target,
            before_input={"ss": "99"},
        )

    assert caught.value.code == "tool_failed"


def test_the_runner_and_the_compiler_agree(clip: Path, source_of: SourceOf) -> None:
    source = source_of(clip)
    argv = compile_command(
        source, probe(source, LIMITS), {}, {"map": "0:0", "frames:v": 1, "format": "image2pipe"}
    )

    assert run(argv, media.run_limits(LIMITS))[:2] == b"\xff\xd8"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("+54.1843-002.7189/", (54.1843, -2.7189, None)),
        ("+12.3456-098.7654+010.500/", (12.3456, -98.7654, 10.5)),
        ("+00.0000+000.0000/", None),
        ("+00.0000+012.5000/", (0.0, 12.5, None)),
        ("+95.0000+012.5000/", None),
        ("nowhere", None),
        ("", None),
    ],
)
def test_a_position_is_read_and_the_null_island_refused(
    text: str, expected: tuple[float, float, float | None] | None
) -> None:
    assert parse_iso6709(text) == expected
