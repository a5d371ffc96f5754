"""Public files with known properties; skipped where they are absent."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops, ImageStat
from support.pictures import open_upright

from muniment.adapters.media.audio import SpeechReader
from muniment.adapters.media.ffmpeg import probe
from muniment.adapters.media.images import open_picture
from muniment.adapters.media.key_frames import key_frames
from muniment.adapters.media.media_metadata import MetadataReader
from muniment.adapters.media.pdf import PdfReader
from muniment.adapters.media.picture import PictureReader
from muniment.adapters.ports import Draft, Limits, Outcome, PlaceClaim, Source, TimeClaim
from muniment.store.errors import InputError

pytestmark = pytest.mark.corpus
SourceOf = Callable[..., Source]
LIMITS = Limits()


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return the mean difference of two pictures in levels, both shrunk."""
    small = [image.resize((32, 32)) for image in (one, other)]
    return max(ImageStat.Stat(ImageChops.difference(*small)).mean)


def test_all_eight_orientations_show_the_same_landscape(corpus: Path, source_of: SourceOf) -> None:
    pictures = [
        open_upright(source_of(corpus / f"images/orientation/landscape_{number}.jpg"), LIMITS).image
        for number in range(1, 9)
    ]

    assert {picture.size for picture in pictures} == {(600, 450)}
    # Each has its number drawn on it (14 levels); a mirrored one is off by 44.
    assert all(difference(pictures[0], other) < 20 for other in pictures[1:])


def test_a_turned_film_shows_the_same_picture_as_the_plain_one(
    corpus: Path, source_of: SourceOf
) -> None:
    shown = []
    for name in ("video_0.mov", "video_90.mov", "video_180.mov"):
        source = source_of(corpus / "video/rotated" / name)
        found = probe(source, LIMITS)
        with key_frames(source, found, LIMITS) as stream:
            image = next(iter(stream)).image
        assert found.video is not None
        assert image.size == found.video.display_size
        shown.append(image.size)

    assert shown == [(568, 320), (320, 568), (568, 320)]


def test_a_heic_photo_is_upright_with_its_time_and_place(
    corpus: Path, source_of: SourceOf, tools: Any
) -> None:
    pytest.importorskip("pi_heif")
    source = source_of(corpus / "images/offsettime/heic-iphone7.heic", "image")

    findings = list(PictureReader().read(source, tools))

    (time,) = [one for one in findings if isinstance(one, TimeClaim)]
    assert (time.source, time.moment.offset) == ("exif_offset", "+02:00")
    assert any(isinstance(one, PlaceClaim) for one in findings)
    assert open_upright(source, LIMITS).image.size == (4032, 3024)


@pytest.mark.parametrize(
    "name",
    [
        "image-bomb/65536-uint32-limit.png",
        "image-bomb/decompression_bomb.gif",
        "image-bomb/decompression_bomb.ico",
        "image-header/Bad_reallybig.bmp",
        "image-header/zero_width.gif",
        "image-oom/oom-225817ca.tif",
        "image-timeout/timeout-1ee28a24.psd",
        "image-crash/crash-2020-10-test.tif",
    ],
)
def test_a_hostile_picture_is_refused(name: str, corpus: Path, source_of: SourceOf) -> None:
    with pytest.raises(InputError) as caught:
        open_upright(source_of(corpus / "hostile" / name, "image"), LIMITS)

    assert caught.value.code in {"pixel_limit", "unreadable"}


@pytest.mark.parametrize("name", ["truncated_jpeg.jpg", "truncated_image.png"])
def test_a_truncated_picture_is_salvaged(name: str, corpus: Path, source_of: SourceOf) -> None:
    assert open_upright(source_of(corpus / "images/broken" / name, "image"), LIMITS).damaged


def test_an_animated_webp_and_a_faxed_document_have_their_frames(
    corpus: Path, source_of: SourceOf
) -> None:
    for name, animated, count in (
        ("webp/iss634.webp", True, 42),
        ("tiff/G31D_MULTI.TIF", False, 2),
    ):
        with open_picture(source_of(corpus / "images" / name, "image"), LIMITS) as picture:
            assert (picture.animated, picture.frame_count) == (animated, count)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("no-audio/sample_640x360.mov", "no_audio"),
        ("corrupt/sample_qt_truncated.mp4", "unreadable"),
    ],
)
def test_films_without_usable_sound_say_why(
    name: str, found: str, corpus: Path, source_of: SourceOf, tools: Any
) -> None:
    source = source_of(corpus / "video" / name)
    try:
        last = list(SpeechReader().read(source, tools))[-1]
        code = last.code if isinstance(last, Outcome) else ""
    except InputError as error:
        code = error.code

    assert code == found


def test_two_equal_subtitle_tracks_are_said_once(
    corpus: Path, source_of: SourceOf, tools: Any
) -> None:
    source = source_of(corpus / "video/speech+subs/nasa_13013.mp4")

    cues = [
        one.text
        for one in MetadataReader().read(source, tools)
        if isinstance(one, Draft) and one.kind == "subtitle"
    ]

    assert len(cues) == 4
    assert "space telescope" in cues[1]


def test_a_length_that_only_a_walk_tells_is_told(corpus: Path, source_of: SourceOf) -> None:
    webm = probe(source_of(corpus / "video/webm/no_duration.webm"), LIMITS)
    aac = probe(source_of(corpus / "audio/speech-en/sample_10s_audio-aac.aac"), LIMITS)

    assert webm.duration_ms is not None
    assert aac.duration_ms is not None
    assert 4000 < webm.duration_ms < 6000
    assert abs(aac.duration_ms - 10_000) < 200


def test_columns_of_a_paper_are_read_in_turn(corpus: Path, source_of: SourceOf, tools: Any) -> None:
    source = source_of(corpus / "docs/pdf-columns/latex_multicolumn.pdf", "pdf")

    texts = [one.text for one in PdfReader().read(source, tools) if isinstance(one, Draft)]

    assert any("two columns filled with Lorem Ipsum text." in text for text in texts)
    assert any("consectetuer adipiscing elit" in text for text in texts)


def test_vertical_japanese_is_read_from_right_to_left(
    corpus: Path, source_of: SourceOf, tools: Any
) -> None:
    source = source_of(corpus / "docs/pdf-cjk/jo.pdf", "pdf")

    texts = [one.text for one in PdfReader().read(source, tools) if isinstance(one, Draft)]

    assert texts[0] == "序"
    assert texts[1].startswith("わたくしといふ現象は假定された有機交流電燈の")


def test_a_pdf_with_a_password_is_encrypted_not_broken(
    corpus: Path, source_of: SourceOf, tools: Any
) -> None:
    with pytest.raises(InputError) as caught:
        list(
            PdfReader().read(source_of(corpus / "docs/pdf-encrypted/aes-256-r6.pdf", "pdf"), tools)
        )

    assert (caught.value.status, caught.value.code) == ("encrypted", "password")
