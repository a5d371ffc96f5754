"""Key frames with exact times, and what is read on them."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from muniment.adapters.media.ffmpeg import compile_command, probe
from muniment.adapters.media.key_frames import fit, intervals, key_frames
from muniment.adapters.media.video import FramesReader
from muniment.adapters.ports import Derived, Draft, Finding, Limits, OcrLine, Outcome, Source
from muniment.store.records import FrameLocator

Made = Callable[..., Path]
SourceOf = Callable[..., Source]
COLOURS = {"red": (254, 0, 0), "blue": (0, 0, 254), "green": (0, 128, 0)}


def line(text: str, left: int = 10) -> OcrLine:
    quad = ((left, 10), (left + 80, 10), (left + 80, 30), (left, 30))
    return OcrLine(text, 0.95, quad)


def by_colour(image: Image.Image) -> list[OcrLine]:
    """Read a plain picture as the name of its colour, on patterned ground."""
    red, green, blue = image.resize((1, 1)).getpixel((0, 0))  # type: ignore[misc]  # three bands
    return [line("red" if red > max(green, blue) else "blue" if blue > green else "green")]


def scenes(*colours: str, seconds: float = 3) -> tuple[str, ...]:
    """Return ffmpeg arguments for scenes of colour with a white bar, so that none is blank."""
    parts = "".join(
        f"color={colour}:s=160x90:r=10:d={seconds},drawbox=10:10:20:60:white:fill[{name}];"
        for name, colour in enumerate(colours)
    )
    joined = "".join(f"[{name}]" for name in range(len(colours)))
    return (
        *("-filter_complex", f"{parts}{joined}concat=n={len(colours)}"),
        *("-pix_fmt", "yuv420p", "-crf", "10"),
    )


def times_of(path: Path, source_of: SourceOf) -> list[int]:
    source = source_of(path)
    with key_frames(source, probe(source, Limits()), Limits()) as stream:
        return [frame.at_ms for frame in stream]


def read(path: Path, source_of: SourceOf, tools: Any) -> list[Finding]:
    return list(FramesReader().read(source_of(path), tools))


def test_a_change_of_scene_is_met_at_its_own_time(made: Made, source_of: SourceOf) -> None:
    assert {0, 3000, 6000} <= set(times_of(made("mp4", *scenes("red", "blue", "green")), source_of))


def test_times_of_a_film_with_uneven_frames_are_those_of_its_frames(
    made: Made, source_of: SourceOf
) -> None:
    even = made("mp4", *scenes("red", "blue", "green", seconds=2))
    # Frames before two seconds come twice as often as those after: index times rate would lie.
    uneven = made(
        "mp4",
        *("-i", str(even), "-vf", "select='lt(t,2)+not(mod(n,4))',setpts='PTS+0.35/TB*gte(T,2)'"),
        *("-fps_mode", "passthrough", "-enc_time_base", "1/1000", "-crf", "10"),
    )

    times = times_of(uneven, source_of)

    assert {0, 2350, 4350} <= set(times) or {0, 2350, 4750} <= set(times)


def test_a_time_after_hours_is_exact_to_the_millisecond(made: Made, source_of: SourceOf) -> None:
    late = made(
        "mkv",
        *("-f", "lavfi", "-i", "sine=d=1", "-itsoffset", "20000"),
        *("-f", "lavfi", "-i", "testsrc=s=32x32:r=1:d=2"),
        *("-map", "0", "-map", "1", "-c:v", "mjpeg", "-c:a", "flac"),
        *("-vf", "settb=1/1000,setpts=PTS+123"),
        *("-fps_mode", "passthrough", "-enc_time_base", "1/1000"),
    )

    assert times_of(late, source_of)[0] == 20_000_123


def test_a_film_that_starts_late_counts_from_the_containers_start(
    made: Made, source_of: SourceOf
) -> None:
    stream = made(
        "ts",
        *scenes("red", "blue"),
        *("-output_ts_offset", "100", "-muxdelay", "0"),
    )

    times = times_of(stream, source_of)

    assert times[0] < 100
    assert any(abs(time - 3000) < 100 for time in times)


def test_frames_come_upright(made: Made, source_of: SourceOf) -> None:
    film = made(
        "mp4", "-i", str(made("mp4", *scenes("red"))), "-c", "copy", "-metadata:s:v", "rotate=-90"
    )
    source = source_of(film)

    with key_frames(source, probe(source, Limits()), Limits()) as stream:
        image = next(iter(stream)).image

    assert image.size == (90, 160)
    # The bar stood at the left; a turn to the right lays it along the top.
    assert min(image.getpixel((45, 20))) > 200  # type: ignore[arg-type]  # three bands
    assert min(image.getpixel((45, 140))) < 100  # type: ignore[arg-type]


@pytest.mark.parametrize(("spacing", "decoded"), [("10", True), ("5000", False)])
def test_a_long_film_is_read_by_its_key_frames_if_it_has_enough(
    spacing: str, decoded: bool, made: Made, source_of: SourceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[list[str]] = []

    def noted(*arguments: Any, **more: Any) -> list[str]:
        commands.append(compile_command(*arguments, **more))
        return commands[-1]

    monkeypatch.setattr("muniment.adapters.media.key_frames.compile_command", noted)
    film = made(
        "mp4",
        *("-f", "lavfi", "-i", "testsrc=s=64x48:r=1:d=660,format=yuv420p"),
        *("-g", spacing, "-sc_threshold", "0", "-preset", "ultrafast"),
    )

    times = times_of(film, source_of)

    assert ("-skip_frame" in commands[0]) is decoded
    assert times[0] == 0
    assert times[-1] >= 640_000
    assert max(after - before for before, after in pairwise(times)) <= 20_000


def test_a_still_film_gives_a_frame_each_interval_and_no_more_than_the_cap() -> None:
    hour = intervals(3_600_000, 600)

    assert 5 < hour[0] < 7
    assert hour[1] >= 10
    assert intervals(None, 600) == (1.0, 2.0)
    assert 3_600_000 * 24 / 1000 / intervals(3_600_000 * 24, 600)[0] <= 600


@pytest.mark.parametrize(
    ("size", "expected"),
    [((3840, 2160), (1600, 900)), ((1080, 1920), (900, 1600)), ((320, 240), (320, 240))],
)
def test_large_frames_are_shrunk_and_small_ones_kept(
    size: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert fit(size, 1600) == expected


def test_text_is_placed_in_time_and_on_the_frame(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    film = made("mp4", *scenes("red", "blue"))

    findings = read(film, source_of, fakes.Tools(ocr=fakes.Ocr(by_colour)))

    found = [one for one in findings if isinstance(one, Draft)]
    assert [(draft.text, draft.kind) for draft in found] == [("red", "ocr"), ("blue", "ocr")]
    where = found[1].locator
    assert isinstance(where, FrameLocator)
    assert where.at_ms == 3000
    assert where.bbox is not None
    assert (where.bbox.x, where.bbox.w) == (0.0625, 0.5)


def test_text_that_stays_is_said_once_with_how_long(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    film = made("mp4", *scenes("red", "blue", "green"))
    fixed = fakes.Ocr(lambda image: [line("Agenda")])

    (draft,) = [
        one for one in read(film, source_of, fakes.Tools(ocr=fixed)) if isinstance(one, Draft)
    ]

    assert isinstance(draft.locator, FrameLocator)
    assert draft.locator.at_ms == 0
    assert draft.attributes["until_ms"] >= 6000


def test_a_misread_letter_is_the_same_line_and_another_number_is_not(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    film = made("mp4", *scenes("red", "blue", "green"))
    texts = {
        "red": "Budget approved 2041",
        "blue": "Budqet approved 2041",
        "green": "Budget approved 2042",
    }

    def engine(image: Image.Image) -> list[OcrLine]:
        return [line(texts[by_colour(image)[0].text])]

    findings = read(film, source_of, fakes.Tools(ocr=fakes.Ocr(engine)))

    assert [one.text for one in findings if isinstance(one, Draft)] == [
        "Budget approved 2041",
        "Budget approved 2042",
    ]


def test_frames_that_carry_new_text_are_kept_as_pictures(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    film = made("mp4", *scenes("red", "blue"))

    derived = [
        one
        for one in read(film, source_of, fakes.Tools(ocr=fakes.Ocr(by_colour)))
        if isinstance(one, Derived)
    ]

    assert [one.relation for one in derived] == ["key_frame", "key_frame"]
    assert derived[1].locator == FrameLocator(at_ms=3000, index=derived[1].locator.index)  # type: ignore[union-attr]  # a frame locator
    assert all(one.data and one.data.startswith(b"\xff\xd8") and not one.observe for one in derived)


def test_nearly_equal_and_blank_frames_are_not_read(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    still = made("mp4", *scenes("red", seconds=20))
    blank = made("mp4", "-f", "lavfi", "-i", "color=black:s=64x64:d=4", "-pix_fmt", "yuv420p")
    ocr = fakes.Ocr()

    read(still, source_of, fakes.Tools(ocr=ocr))
    assert len(ocr.seen) == 1
    outcome = read(blank, source_of, fakes.Tools(ocr=ocr))[-1]

    assert len(ocr.seen) == 1
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("empty", "no_text")


def test_a_describer_is_asked_about_each_scene(made: Made, source_of: SourceOf, fakes: Any) -> None:
    film = made("mp4", *scenes("red", "blue"))

    findings = read(film, source_of, fakes.Tools(describer=fakes.Describer()))

    visual = [one for one in findings if isinstance(one, Draft) and one.kind == "visual"]
    assert [one.text for one in visual] == ["a picture", "a picture"]
    assert visual[0].attributes["labels"] == ["thing"]


def test_a_film_that_breaks_off_is_read_as_far_as_it_goes(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    whole = made("mkv", "-i", str(made("mp4", *scenes("red", "blue", "green"))), "-c:v", "mjpeg")
    data = whole.read_bytes()
    source = source_of(data[: len(data) * 2 // 3])

    *findings, outcome = FramesReader().read(source, fakes.Tools(ocr=fakes.Ocr(by_colour)))

    assert [one.text for one in findings if isinstance(one, Draft)] == ["red", "blue"]
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "damaged")


def test_a_recording_without_pictures_is_skipped(
    beeps: Path, source_of: SourceOf, tools: Any
) -> None:
    (outcome,) = read(beeps, source_of, tools)

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("skipped", "no_video")
