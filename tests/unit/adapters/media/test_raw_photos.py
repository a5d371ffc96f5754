"""Raw photos: the preview is read upright, the camera's tags count, damage is an InputError."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from support.media import BlindTools, findings, source
from support.pictures import open_upright
from support.raw_photos import CAMERAS, SENSOR, RawPhoto, Value, jpeg

from muniment.adapters.formats.sniff import sniff
from muniment.adapters.ports import Draft, Limits, Source, TimeClaim
from muniment.store.errors import InputError

MEDIA_TYPES = {
    "nef": "image/x-nikon-nef",
    "dng": "image/x-adobe-dng",
    "cr2": "image/x-canon-cr2",
    "rw2": "image/x-panasonic-rw2",
    "arw": "image/x-sony-arw",
    "raf": "image/x-fuji-raf",
    "cr3": "image/x-canon-cr3",
}


def shown() -> Image.Image:
    """Return a wide picture whose left top corner is red."""
    image = Image.new("RGB", (320, 200), "white")
    ImageDraw.Draw(image).rectangle((0, 0, 60, 60), fill="red")
    return image


@pytest.mark.parametrize("camera", CAMERAS)
def test_a_raw_photo_is_told_from_its_content(camera: str) -> None:
    data = CAMERAS[camera](jpeg(shown()))

    found = sniff(data, data, len(data), "IMG_1.tif")

    assert (found.media_type, found.family) == (MEDIA_TYPES[camera], "image")


@pytest.mark.parametrize("camera", CAMERAS)
def test_the_preview_is_seen_upright(camera: str, tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(CAMERAS[camera](jpeg(shown()), orientation=6))

    frame = open_upright(source(tmp_path / "a.raw", tmp_path / "s"), Limits())

    assert frame.image.size == (200, 320)
    red, green, _ = np.asarray(frame.image)[20, 180]
    assert (red > 200, green > 100) == (
        True,
        False,
    )  # its left top is at the right


@pytest.mark.parametrize("camera", CAMERAS)
def test_the_time_of_a_raw_photo_is_that_of_its_shot(camera: str, tmp_path: Path) -> None:
    (tmp_path / "a.raw").write_bytes(CAMERAS[camera](jpeg(shown())))

    found = list(findings("picture", tmp_path / "a.raw", BlindTools()))

    (claim,) = [one for one in found if isinstance(one, TimeClaim)]
    assert (claim.source, claim.moment.utc) == ("exif_offset", "2024-05-05T22:08:09.000000Z")
    (about,) = [one.text for one in found if isinstance(one, Draft) and one.kind == "metadata"]
    assert "Preview: 320×200 pixels" in about
    assert camera == "raf" or "Camera: " in about


def test_a_raw_photo_without_a_preview_is_said_to_be_so(tmp_path: Path) -> None:
    raw = RawPhoto()
    tags: dict[int, Value] = {0x111: raw.blob(SENSOR), 0x117: len(SENSOR), 0xC612: b"\1\4\0\0"}
    (tmp_path / "a.dng").write_bytes(raw.finish(raw.directory(tags)))

    with pytest.raises(InputError) as caught:
        open_upright(source(tmp_path / "a.dng", tmp_path / "s"), Limits())

    assert (caught.value.code, caught.value.status) == ("no_preview", "unsupported")


def test_a_plain_picture_of_a_camera_is_no_raw_photo() -> None:
    buffer = io.BytesIO()
    shown().save(buffer, "TIFF", tiffinfo={0x10F: "NIKON CORPORATION"})

    assert sniff(buffer.getvalue(), b"", len(buffer.getvalue()), "a.nef").media_type == "image/tiff"


def test_directories_in_a_ring_are_walked_once() -> None:
    raw = RawPhoto()
    data = raw.finish(raw.directory({0x10F: "SONY", 0x14A: [8, 8, 8]}, following=8))

    assert sniff(data, data, len(data), "a").family == "image"


PHOTOS = {camera: make(jpeg(shown().resize((32, 20)))) for camera, make in CAMERAS.items()}


@settings(max_examples=200)
@given(st.sampled_from(sorted(CAMERAS)), st.data())
def test_damaged_raw_photos_are_pictures_or_an_input_error(
    camera: str, data: st.DataObject
) -> None:
    damaged = bytearray(PHOTOS[camera])
    for _ in range(data.draw(st.integers(1, 6))):
        damaged[data.draw(st.integers(0, min(len(damaged), 900) - 1))] = data.draw(
            st.sampled_from([0, 1, 4, 0x7F, 0x80, 0xFF])
        )
    sniff(bytes(damaged), b"", len(damaged), "a")
    broken = Source("sha256:0", len(damaged), "", "image", "", Path(), data=bytes(damaged))
    with contextlib.suppress(InputError):
        assert open_upright(broken, Limits()).image.size[0] > 0
