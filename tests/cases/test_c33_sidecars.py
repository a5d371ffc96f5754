"""Which of several times counts, and what belongs together (C33)."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.cli import invoke
from support.ingesting import Store
from support.media import ffmpeg, photo

TAKEN = {
    "title": "IMG-20220528-WA0004.jpg",
    "photoTakenTime": {"timestamp": "1653741000"},
    "creationTime": {"timestamp": "1700000000"},
    "geoData": {"latitude": 48.85, "longitude": 2.29, "altitude": 30.0},
    "description": "Tower at noon",
    "people": [{"name": "Ann"}, {"name": " "}],
}
XMP = (
    '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description '
    'exif:DateTimeOriginal="2021-07-03T10:11:12+02:00" exif:GPSLatitude="52,30.5S" '
    'exif:GPSLongitude="13,22.1E"/></rdf:RDF></x:xmpmeta>'
)
CHAT = (
    "28/05/2022, 17:41 - Bob: Look at this\n"
    "28/05/2022, 17:42 - Bob: IMG-20220529-WA0001.jpg (file attached)\n"
    "28/05/2022, 17:43 - Ann: Lovely harbour\n"
)


def fill(folder: Path) -> None:
    exif = Image.Exif()
    exif.get_ifd(0x8769).update({0x9003: "2020:02:02 02:02:02", 0x9011: "+02:00"})
    photo(1).save(folder / "IMG-20220528-WA0004.jpg")
    (folder / "IMG-20220528-WA0004.jpg.supplemental-metadata.json").write_text(json.dumps(TAKEN))
    photo(2).save(folder / "own.jpg", exif=exif.tobytes())
    (folder / "own.jpg.json").write_text(json.dumps(TAKEN))
    photo(3).save(folder / "raw.jpg")
    (folder / "raw.xmp").write_text(XMP)
    photo(4).save(folder / "null.jpg")
    none = {"photoTakenTime": {"timestamp": "0"}, "geoData": {"latitude": 0.0, "longitude": 0.0}}
    (folder / "null.jpg.json").write_text(json.dumps(none))
    photo(5).save(folder / "IMG-20220529-WA0001.jpg")
    (folder / "WhatsApp Chat with Bob.txt").write_text(CHAT)
    photo(6).save(folder / "IMG_9.JPG")
    photo(6).save(folder / "IMG_9 copy.JPG", quality=30)
    ffmpeg(folder / "IMG_9.MOV", "-f", "lavfi", "-i", "testsrc=s=64x48:r=5:d=2")
    photo(7).save(folder / "IMG_8.JPG")
    ffmpeg(folder / "IMG_8.MOV", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=5:d=9")
    (folder / "IMG_8.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nThe ferry leaves.\n")
    for path in folder.iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))


@pytest.fixture(scope="module")
def shown(module_store: Callable[[], tuple[Store, Path]]) -> Callable[[str], dict[str, Any]]:
    store, folder = module_store()
    fill(folder)
    assert store.ingest(folder, "--until", "group")["exit"] == 0
    again = store.ingest(folder, "--until", "group")
    assert (again["observed"], again["episodes"]) == (0, 0)
    return lambda name: store.show(folder / name)


Shown = Callable[[str], dict[str, Any]]


def links(document: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(link["relation"], link["direction"], link["basis"]["rule"])
            for link in document["links"]]  # fmt: skip


def test_a_takeouts_time_and_place_beat_the_name(shown: Shown) -> None:
    found = shown("IMG-20220528-WA0004.jpg")

    assert [claim["source"] for claim in found["captured_claims"]] == [
        "sidecar", "file_name", "mtime"
    ]  # fmt: skip
    assert found["captured"]["utc"] == "2022-05-28T12:30:00.000000Z"
    assert (found["place"]["latitude"], found["place"]["source"]) == (48.85, "sidecar")
    assert links(found) == [("sidecar", "out", "takeout")]
    assert found["links"][0]["basis"]["people"] == "Ann"


def test_the_cameras_own_time_beats_a_takeouts(shown: Shown) -> None:
    found = shown("own.jpg")

    assert found["captured"]["utc"] == "2020-02-02T00:02:02.000000Z"
    assert [claim["source"] for claim in found["captured_claims"]][:2] == ["exif_offset", "sidecar"]


def test_an_xmp_beside_tells_time_and_place(shown: Shown) -> None:
    found = shown("raw.jpg")

    assert (found["captured"]["source"], found["captured"]["offset"]) == ("sidecar", "+02:00")
    assert found["place"]["latitude"] == pytest.approx(-52.5083, abs=0.001)
    assert links(shown("raw.xmp")) == [("sidecar", "in", "xmp")]


def test_an_unset_time_and_place_tell_nothing(shown: Shown) -> None:
    found = shown("null.jpg")

    assert (found["captured"]["source"], found["place"]) == ("mtime", None)


def test_a_picture_that_a_message_names_has_the_messages_time(shown: Shown) -> None:
    found = shown("IMG-20220529-WA0001.jpg")

    assert links(found) == [("message", "out", "named")]
    assert (found["captured"]["source"], found["captured"]["local"]) == (
        "header", "2022-05-28T17:42"
    )  # fmt: skip
    assert found["links"][0]["basis"]["observation"].startswith("obs_")


def test_the_halves_of_a_live_photo_are_linked_and_stay_two(shown: Shown) -> None:
    still, clip = shown("IMG_9.JPG"), shown("IMG_9.MOV")

    assert links(still) == [("live_photo", "out", "same_stem")]
    assert links(clip) == [("live_photo", "in", "same_stem")]
    assert still["id"] != clip["id"]


def test_a_long_film_of_the_same_name_is_no_live_photo(shown: Shown) -> None:
    assert links(shown("IMG_8.JPG")) == [("subtitles", "out", "same_stem")]
    assert ("subtitles", "out", "same_stem") in links(shown("IMG_8.MOV"))


def test_a_worse_copy_is_a_near_duplicate_and_stays(shown: Shown) -> None:
    one, other = shown("IMG_9.JPG"), shown("IMG_9 copy.JPG")

    assert one["near_duplicates"] == [{"asset": other["id"], "how": "near_duplicate"}]
    assert shown("IMG_8.JPG")["near_duplicates"] == []


def late(store: Store, folder: Path) -> tuple[Path, Path]:
    """Ingest a recording, and later the file that tells when it was made."""
    tone = ("-f", "lavfi", "-i", "aevalsrc=0.01*sin(2*PI*440*t):d=1:s=16000")
    recording = ffmpeg(folder / "rec.wav", *tone)
    store.ingest(folder, "--until", "group")
    beside = folder / "rec.wav.json"
    beside.write_text(json.dumps({**TAKEN, "title": "rec.wav"}))
    store.ingest(folder, "--until", "group")
    return recording, beside


def test_a_sidecar_that_comes_later_moves_the_episode(store: Store, folder: Path) -> None:
    recording, _ = late(store, folder)

    assert store.show(recording)["captured"]["source"] == "sidecar"
    starts = {
        item["start"]["utc"] for item in store.items("episodes")
        if item["status"] == "open" and "json" not in item["title"]
    }  # fmt: skip
    assert starts == {"2022-05-28T12:30:00.000000Z"}


def test_what_a_sidecar_told_is_forgotten_with_it(store: Store, folder: Path) -> None:
    recording, beside = late(store, folder)

    said = invoke("--root", store.root, "--json", "forget", "--hard", "--yes", beside)

    assert said.code == 0
    found = store.show(recording)
    assert [claim["source"] for claim in found["captured_claims"]] == ["mtime"]
    assert (found["links"], found["place"]) == ([], None)
