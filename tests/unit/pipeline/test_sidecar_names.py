"""Which files belong together by their names alone."""

import pytest

from muniment.pipeline.stages.sidecar_names import key_of, pairs, takeout_rule

LONG = "A very long title that a person gave to a photo.jpg"


def other_of(name: str, *others: str) -> list[tuple[str, str]]:
    return [(pair.other, pair.rule) for pair in pairs([name], others)]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("IMG_1.jpg", "IMG_1.jpg.json"),
        ("IMG_1.jpg", "IMG_1.jpg.supplemental-metadata.json"),
        ("IMG_1(2).jpg", "IMG_1.jpg(2).json"),
        ("IMG_1(2).jpg", "IMG_1.jpg.supplemental-metadata(2).json"),
        ("IMG_1(2).jpg", "IMG_1(2).jpg.json"),
        ("IMG_1-edited.jpg", "IMG_1.jpg.json"),
        ("IMG_1-bearbeitet(1).jpg", "IMG_1.jpg(1).json"),
        (LONG, f"{LONG[:46]}.json"),
        ("PXL_20230101_101112345.MP.jpg", "PXL_20230101_101112345.MP.jpg.supplemental-met.json"),
        ("PXL_20230101_101112345~2.PORTRAIT.jpg", "PXL_20230101_101112345~2.PORTRAIT.jpg.su.json"),
        ("Grüße aus Köln.jpg", "Grüße aus Köln.jpg.supplemental-metadata.json"),
    ],
)
def test_a_takeouts_description_is_found(name: str, other: str) -> None:
    assert [found for found, _ in other_of(name, other, "metadata.json", "IMG_2.jpg.json")] == [
        other
    ]


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("IMG_1.jpg", "IMG_10.jpg.json"),
        ("IMG_1.jpg", "IMG_1.png.json"),
        ("IMG_1.jpg", "IMG_1.jpg(1).json"),
        ("IMG_1(1).jpg", "IMG_1.jpg.json"),
        ("IMG_1(1).jpg", "IMG_1.jpg(2).json"),
        ("IMG_1.jpg", "metadata.json"),
        ("IMG_1.jpg", "IMG.json"),
        ("IMG_1.jpg", "IMG_1.jpg.other.json"),
    ],
)
def test_another_files_description_is_not_taken(name: str, other: str) -> None:
    assert takeout_rule(name, other) == ""
    assert other_of(name, other) == []


def test_a_cut_name_that_fits_two_is_nobodys() -> None:
    cuts = [f"{LONG[:46]}.json", f"{LONG[:46]}s.json"]

    assert other_of(LONG, *cuts) in ([], [(cuts[0], "takeout_cut")])
    assert len(other_of("x" * 60 + ".jpg", "x" * 46 + ".json", "x" * 47 + ".json")) == 0


def test_an_exact_name_beats_a_cut_one() -> None:
    name = "x" * 42 + ".jpg"

    assert other_of(name, f"{name}.json", f"{name}.suppl.json") == [(f"{name}.json", "takeout")]


@pytest.mark.parametrize("other", ["photo.jpg.xmp", "photo.xmp", "PHOTO.JPG.XMP", "photo.XMP"])
def test_both_spellings_of_an_xmp_are_found(other: str) -> None:
    assert other_of("photo.jpg", other) == [(other, "xmp")]


def test_the_xmp_with_the_whole_name_is_preferred() -> None:
    assert other_of("photo.jpg", "photo.xmp", "photo.jpg.xmp") == [("photo.jpg.xmp", "xmp")]


@pytest.mark.parametrize(
    ("other", "relation"),
    [
        ("talk.srt", "subtitles"),
        ("talk.en.srt", "subtitles"),
        ("talk.pt-BR.vtt", "subtitles"),
        ("talk.de.forced.ass", "subtitles"),
        ("Talk.mp4.vtt", "subtitles"),
        ("talk.txt", "text"),
        ("talk.mp4.txt", "text"),
    ],
)
def test_subtitles_and_text_of_the_same_stem_belong_to_a_film(other: str, relation: str) -> None:
    (pair,) = pairs(["talk.mp4"], [other, "talks.srt", "talk two.txt", "talk.en.txt"])

    assert (pair.other, pair.relation) == (other, relation)


def test_the_halves_of_a_live_photo_share_a_stem() -> None:
    found = list(pairs(["IMG_5.HEIC", "IMG_5.MOV", "IMG_6.MOV", "IMG_5.PNG"], []))

    assert [(pair.name, pair.other, pair.relation) for pair in found] == [
        ("IMG_5.HEIC", "IMG_5.MOV", "live_photo")
    ]


@pytest.mark.parametrize(
    "name", ["IMG_1.jpg", "IMG_1(2).jpg", "IMG_1-edited.jpg", "IMG_1.jpg.json", "IMG_1.jpg(2).json"]
)
def test_whatever_belongs_together_begins_alike(name: str) -> None:
    assert key_of(name) == "IMG_1"
