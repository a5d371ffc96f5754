"""What looks or sounds nearly alike is grouped and counted, what is plain is not (C28)."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageEnhance
from support.media import ffmpeg, findings, photo

from muniment.adapters.media.prints import SIDE, picture_digits
from muniment.adapters.ports import Print
from muniment.pipeline.recall.diversity import collapse
from muniment.pipeline.recall.items import Item
from muniment.store.ledger.duplicates import Print as Known

NEAR, OTHER = 0.12, 0.25


def difference(one: Image.Image, other: Image.Image) -> float:
    digits = picture_digits(one, SIDE), picture_digits(other, SIDE)
    return Known.of(f"100:{digits[0]}").difference(Known.of(f"100:{digits[1]}"))


@pytest.mark.parametrize("colour", ["blue", "white", "black", (12, 200, 90)])
def test_a_plain_picture_has_no_print(tmp_path: Path, colour: Any) -> None:
    assert picture_digits(Image.new("RGB", (400, 300), colour), SIDE) == ""
    Image.new("RGB", (400, 300), colour).save(tmp_path / "plain.png")
    assert not [one for one in findings("prints", tmp_path / "plain.png") if isinstance(one, Print)]


def test_a_nearly_plain_picture_has_none_either() -> None:
    page = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(page).text((20, 20), "one line of words", fill="black")

    assert picture_digits(page, SIDE) == ""


@pytest.mark.parametrize("seed", range(6))
def test_size_quality_and_light_change_little_and_another_picture_much(
    tmp_path: Path, seed: int
) -> None:
    one = photo(seed, (640, 480))
    one.resize((300, 225)).save(tmp_path / "small.jpg", quality=35)
    with Image.open(tmp_path / "small.jpg") as small:
        assert difference(one, small) <= NEAR
    assert difference(one, ImageEnhance.Brightness(one).enhance(1.15)) <= NEAR
    assert difference(one, photo(seed + 100, (640, 480))) > OTHER
    assert difference(one, one.transpose(Image.Transpose.FLIP_LEFT_RIGHT)) > OTHER


def sound_print(path: Path) -> str:
    (found,) = [one for one in findings("prints", path) if isinstance(one, Print)]
    return found.value


def test_a_recording_is_known_in_another_format_and_others_are_not(tmp_path: Path) -> None:
    def melody(name: str, seed: int, *how: str) -> Path:
        tones = f"0.3*sin(2*PI*(300+200*floor(mod(t*{seed},5)))*t)*(0.6+0.4*sin({seed}*t))"
        noise = f"aevalsrc='{tones}+0.05*random(0)':d=12:s=22050"
        return ffmpeg(tmp_path / name, "-f", "lavfi", "-i", noise, *how)

    whole = melody("a.wav", 3)
    again = ffmpeg(tmp_path / "a.mp3", "-i", str(whole), "-b:a", "48k", "-ar", "16000")
    other = melody("b.wav", 7)

    prints = [Known.of(sound_print(path)) for path in (whole, again, other)]

    assert prints[0].difference(prints[1]) <= 0.18
    assert prints[0].difference(prints[2]) > 0.3


def test_silence_and_short_sounds_have_no_print(tmp_path: Path) -> None:
    quiet = ffmpeg(tmp_path / "quiet.wav", "-f", "lavfi", "-i", "anullsrc=r=16000:d=12")
    short = ffmpeg(tmp_path / "short.wav", "-f", "lavfi", "-i", "aevalsrc=sin(900*t):d=2:s=16000")

    for path in (quiet, short):
        assert not [one for one in findings("prints", path) if isinstance(one, Print)]


def test_a_film_is_known_in_another_size_and_quality(tmp_path: Path) -> None:
    film = ffmpeg(tmp_path / "film.mp4", "-f", "lavfi", "-i", "mandelbrot=s=160x120:r=5", "-t", "6")
    again = ffmpeg(tmp_path / "again.mkv", "-i", str(film), "-vf", "scale=96:72", "-b:v", "60k")
    other = ffmpeg(
        tmp_path / "other.mp4", "-f", "lavfi", "-i", "life=s=160x120:r=5:mold=10", "-t", "6"
    )

    prints = [Known.of(sound_print(path)) for path in (film, again, other)]

    assert prints[0].difference(prints[1]) <= 0.18
    assert prints[0].difference(prints[2]) > 0.25


def read_from(asset: str, text: str) -> Item:
    return Item(ref=f"observation:{asset}", plane="observation", kind="ocr", text=text, time=None,
                proofs=[], asset=asset)  # fmt: skip


def test_what_two_near_duplicates_say_alike_is_shown_once_with_the_count() -> None:
    one = read_from("sha256:a", "North gate opens at nine in the morning")
    other = read_from("sha256:b", "North gato opens at nine in the mornlng")
    groups = {"sha256:a": "sha256:a", "sha256:b": "sha256:a"}

    assert len(collapse([one, other])) == 2
    (kept,) = collapse([one, other], groups)
    assert (kept.asset, kept.duplicates) == ("sha256:a", 1)


def test_other_words_on_pictures_that_look_alike_stay_apart() -> None:
    one = read_from("sha256:a", "North gate opens at nine in the morning")
    other = read_from("sha256:b", "Parking is free on Sundays and holidays")

    assert len(collapse([one, other], dict.fromkeys(("sha256:a", "sha256:b"), "g"))) == 2
