"""Pictures opened upright, flat, within budget and in spite of damage."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.pictures import open_upright

from muniment.adapters.media import images
from muniment.adapters.media.images import flatten, open_picture, sample
from muniment.adapters.ports import Limits, Source
from muniment.store.errors import InputError

SourceOf = Callable[..., Source]
ORIENTATION = 0x0112


def written(image: Image.Image, form: str, **options: Any) -> bytes:
    buffer = BytesIO()
    image.save(buffer, form, **options)
    return buffer.getvalue()


def marked(width: int = 60, height: int = 40) -> Image.Image:
    """Return a white picture whose top left corner is red."""
    image = Image.new("RGB", (width, height), "white")
    image.paste((200, 0, 0), (0, 0, width // 3, height // 3))
    return image


def is_marked(image: Image.Image) -> bool:
    red, green, _ = image.convert("RGB").getpixel((4, 4))  # type: ignore[misc]  # three bands
    corner = image.convert("RGB").getpixel((image.width - 4, image.height - 4))
    return red > 150 and green < 90 and min(corner) > 200  # type: ignore[arg-type]


def stored_turned(orientation: int) -> Image.Image:
    """Return the marked picture as a camera stores it under an orientation tag."""
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    image = marked()
    return image.transpose(undo[orientation]) if orientation in undo else image


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("form", ["JPEG", "WEBP", "PNG", "TIFF"])
def test_a_picture_stands_as_it_was_taken(orientation: int, form: str, source_of: SourceOf) -> None:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    data = written(stored_turned(orientation), form, exif=exif)

    image = open_upright(source_of(data, "image"), Limits()).image

    assert image.size == (60, 40)
    assert is_marked(image)


def test_a_picture_with_broken_exif_keeps_its_pixels(source_of: SourceOf) -> None:
    data = bytearray(written(marked(), "JPEG", exif=b"Exif\x00\x00II*\x00" + b"\xff" * 60))

    assert is_marked(open_upright(source_of(bytes(data), "image"), Limits()).image)


@pytest.mark.parametrize(
    ("mode", "form"),
    [("CMYK", "JPEG"), ("P", "GIF"), ("1", "PNG"), ("L", "PNG"), ("LA", "PNG"), ("YCbCr", "JPEG")],
)
def test_every_mode_becomes_rgb(mode: str, form: str, source_of: SourceOf) -> None:
    image = open_upright(source_of(written(marked().convert(mode), form), "image"), Limits()).image

    assert image.mode == "RGB"
    assert min(image.getpixel((55, 35))) > 200  # type: ignore[arg-type]  # three bands


def test_sixteen_bits_of_grey_keep_their_shades(source_of: SourceOf) -> None:
    ramp = np.linspace(0, 65535, 256, dtype=np.uint16).reshape(1, 256).repeat(4, axis=0)
    image = open_upright(source_of(written(Image.fromarray(ramp), "PNG"), "image"), Limits()).image

    assert [image.getpixel((x, 0)) for x in (0, 128, 255)] == [(0,) * 3, (128,) * 3, (255,) * 3]


def test_what_is_transparent_lies_on_white() -> None:
    image = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    image.putpixel((0, 0), (10, 20, 30, 255))

    flat = flatten(image)

    assert flat.getpixel((0, 0)) == (10, 20, 30)
    assert flat.getpixel((3, 3)) == (255, 255, 255)


def test_a_bomb_is_refused_before_it_is_decoded(source_of: SourceOf) -> None:
    bomb = written(Image.new("1", (20000, 20000)), "PNG")

    with pytest.raises(InputError) as caught:
        open_upright(source_of(bomb, "image"), Limits())

    assert (caught.value.status, caught.value.code) == ("failed", "pixel_limit")


@pytest.mark.parametrize("form", ["GIF", "TIFF", "WEBP", "BMP", "ICO"])
def test_the_budget_holds_for_every_format(form: str, source_of: SourceOf) -> None:
    data = written(Image.new("RGB", (200, 200)), form)

    with pytest.raises(InputError) as caught:
        open_upright(source_of(data, "image"), Limits(max_pixels=10_000))

    assert caught.value.code == "pixel_limit"


def test_a_later_page_can_not_smuggle_in_more_pixels(source_of: SourceOf) -> None:
    pages = [Image.new("RGB", (300, 300))]
    data = written(Image.new("RGB", (10, 10)), "TIFF", save_all=True, append_images=pages)

    with open_picture(source_of(data, "image"), Limits(max_pixels=50_000)) as picture:
        frames = picture.frames()
        assert next(frames).image.size == (10, 10)
        with pytest.raises(InputError) as caught:
            next(frames)

    assert caught.value.code == "pixel_limit"


def test_the_limits_of_the_library_are_left_as_they_were(source_of: SourceOf) -> None:
    before = Image.MAX_IMAGE_PIXELS
    open_upright(source_of(written(marked(), "PNG"), "image"), Limits(max_pixels=10_000))

    assert before == Image.MAX_IMAGE_PIXELS


@pytest.mark.parametrize("form", ["JPEG", "PNG"])
def test_a_picture_that_breaks_off_is_salvaged_and_says_so(form: str, source_of: SourceOf) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (200, 200, 3), dtype=np.uint8)
    data = written(Image.fromarray(noise), form)

    frame = open_upright(source_of(data[: len(data) * 2 // 3], "image"), Limits())

    assert frame.damaged
    assert frame.image.size == (200, 200)


@pytest.mark.parametrize("data", [b"", b"\xff\xd8\xff", b"not a picture", b"GIF89a"])
def test_what_is_no_picture_is_said_to_be_none(data: bytes, source_of: SourceOf) -> None:
    with pytest.raises(InputError) as caught:
        open_upright(source_of(data, "image"), Limits())

    assert caught.value.code in {"unreadable", "empty_file"}
    assert "0x" not in caught.value.message


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_sampled_from_end_to_end(form: str, source_of: SourceOf) -> None:
    shades = [Image.new("RGB", (32, 32), (shade * 6, 0, 0)) for shade in range(40)]
    data = written(shades[0], form, save_all=True, append_images=shades[1:], duration=100)

    with open_picture(source_of(data, "image"), Limits(max_frames=5)) as picture:
        frames = list(picture.frames())

    assert picture.animated
    assert [frame.page for frame in frames] == [1, 11, 20, 30, 40] or len(frames) == 5
    assert frames[-1].page == 40


def test_pages_of_a_scan_are_all_read_and_numbered(source_of: SourceOf) -> None:
    pages = [Image.new("L", (20, 20), shade) for shade in range(0, 250, 8)]
    data = written(pages[0], "TIFF", save_all=True, append_images=pages[1:])

    with open_picture(source_of(data, "image"), Limits(max_frames=5)) as picture:
        numbers = [frame.page for frame in picture.frames()]

    assert not picture.animated
    assert numbers == list(range(1, len(pages) + 1))


def test_a_sample_holds_first_and_last() -> None:
    assert sample(10, 24, evenly=True) == list(range(10))
    assert sample(101, 3, evenly=True) == [0, 50, 100]
    assert sample(101, 3, evenly=False) == [0, 1, 2]
    assert sample(101, 1, evenly=True) == [0]


def test_an_avif_picture_is_opened(source_of: SourceOf) -> None:
    assert is_marked(open_upright(source_of(written(marked(), "AVIF"), "image"), Limits()).image)


def test_heic_without_its_library_is_unsupported_and_tried_again(
    source_of: SourceOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pi_heif", None)

    with pytest.raises(InputError) as caught:
        open_upright(source_of(b"\x00\x00\x00\x18ftypheic" + bytes(40), "image"), Limits())

    assert (caught.value.status, caught.value.code) == ("unsupported", "heic_support_missing")
    assert caught.value.transient


def test_heic_is_never_turned_again(monkeypatch: pytest.MonkeyPatch) -> None:
    image = marked()
    image.format = "HEIF"
    exif = image.getexif()
    exif[ORIENTATION] = 6

    assert images._turned(image) is image
