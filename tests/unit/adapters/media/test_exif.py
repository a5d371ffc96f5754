"""When and where a picture was taken, by its tags."""

import os
import subprocess
import sys
import time
from typing import Any

import pytest
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from muniment.adapters.media.exif import Tags, place_claim, read_tags, time_claims

ORIGINAL, DIGITIZED, MODIFIED = 0x9003, 0x9004, 0x0132
NOON = "2024:05:06 12:00:00"


def claims(
    shot: dict[int, Any] | None = None,
    gps: dict[int, Any] | None = None,
    base: dict[int, Any] | None = None,
    xmp: str = "",
) -> list[tuple[str, str | None, str | None, str | None]]:
    tags = Tags(base or {}, shot or {}, gps or {}, xmp)
    return [
        (claim.source, claim.moment.local, claim.moment.utc, claim.moment.offset)
        for claim in time_claims(tags)
    ]


def degrees(*parts: float) -> tuple[IFDRational, ...]:
    return tuple(IFDRational(round(part * 1000), 1000) for part in parts)


def test_the_offset_of_the_shot_wins_over_that_of_the_edit() -> None:
    found = claims({ORIGINAL: NOON, 0x9010: "+01:00", 0x9011: "+02:00"})

    assert found == [
        ("exif_offset", "2024-05-06T12:00:00.000000", "2024-05-06T10:00:00.000000Z", "+02:00")
    ]


def test_the_offset_of_the_edit_alone_says_nothing_of_the_shot() -> None:
    assert claims({ORIGINAL: NOON, 0x9010: "+01:00"}) == [
        ("exif", "2024-05-06T12:00:00.000000", None, None)
    ]


def test_parts_of_a_second_are_kept() -> None:
    ((_, local, _, _),) = claims({ORIGINAL: NOON, 0x9291: "25"})

    assert local == "2024-05-06T12:00:00.250000"


def test_a_satellites_time_gives_the_zone_of_the_wall_clock() -> None:
    gps = {29: "2024:05:06", 7: degrees(4, 0, 3)}

    assert claims({ORIGINAL: NOON}, gps) == [
        ("exif_gps", "2024-05-06T12:00:00.000000", "2024-05-06T04:00:00.000000Z", "+08:00")
    ]


def test_a_satellites_time_of_another_day_is_an_old_fix() -> None:
    gps = {29: "2024:05:04", 7: degrees(4, 0, 3)}

    assert claims({ORIGINAL: NOON}, gps) == [("exif", "2024-05-06T12:00:00.000000", None, None)]


def test_a_satellites_time_alone_is_an_instant() -> None:
    ((source, _, utc, _),) = claims({}, {29: "2024:05:06", 7: degrees(4, 5, 6)})

    assert (source, utc) == ("exif_gps", "2024-05-06T04:05:06.000000Z")


@pytest.mark.parametrize(
    "text",
    [
        "0000:00:00 00:00:00",
        "    :  :     :  :  ",
        "1970:01:01 00:00:00",
        "1904:01:01 00:00:00",
        "2024:13:45 12:00:00",
        "2190:01:01 00:00:00",
        "0101:01:01 00:00:00",
        "soon",
        "",
    ],
)
def test_a_time_that_can_not_be_is_no_claim(text: str) -> None:
    assert claims({ORIGINAL: text}) == []


def test_other_times_stand_in_with_less_trust() -> None:
    tags = Tags({MODIFIED: NOON}, {DIGITIZED: "2024:05:05 12:00:00"}, {})

    (claim,) = time_claims(tags)

    assert claim.moment.local == "2024-05-05T12:00:00.000000"
    assert claim.confidence < 1


def test_a_date_in_xmp_is_the_last_resort() -> None:
    xmp = '<rdf:Description photoshop:DateCreated="2019-03-04T05:06:07+02:00"/>'

    ((source, _, utc, _),) = claims(xmp=xmp)

    assert (source, utc) == ("exif_offset", "2019-03-04T03:06:07.000000Z")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
def test_the_hosts_zone_changes_nothing(zone: str) -> None:
    code = (
        "from muniment.adapters.media.exif import Tags, time_claims;"
        "print(list(time_claims(Tags({}, {0x9003: '2024:05:06 12:00:00'}, {}))))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "TZ": zone},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "utc=None" in run.stdout
    assert "2024-05-06T12:00:00" in run.stdout
    assert time.tzname is not None


def test_a_place_needs_both_letters() -> None:
    north = {1: "N", 2: degrees(31, 13, 49.44), 3: "E", 4: degrees(121, 28, 25.32), 6: 4.5}
    found = place_claim(Tags(gps=north))

    assert found is not None
    assert (round(found.latitude, 4), round(found.longitude, 4)) == (31.2304, 121.4737)
    assert found.altitude == 4.5
    assert place_claim(Tags(gps={2: north[2], 4: north[4]})) is None
    assert place_claim(Tags(gps={**north, 3: ""})) is None


def test_south_west_and_below_the_sea_are_negative() -> None:
    found = place_claim(
        Tags(gps={1: "S", 2: degrees(1, 30, 0), 3: "W", 4: degrees(2, 0, 0), 5: b"\x01", 6: 10})
    )

    assert found is not None
    assert (found.latitude, found.longitude, found.altitude) == (-1.5, -2.0, -10)


@pytest.mark.parametrize(
    ("latitude", "longitude", "good"),
    [
        (degrees(0, 0, 0), degrees(0, 0, 0), False),
        (degrees(0, 0, 0), degrees(12, 0, 0), True),
        (degrees(12, 0, 0), degrees(0, 0, 0), True),
        (degrees(95, 0, 0), degrees(12, 0, 0), False),
        ((IFDRational(0, 0), IFDRational(0, 0), IFDRational(0, 0)), degrees(12, 0, 0), False),
        ("12", degrees(12, 0, 0), False),
    ],
)
def test_places_that_can_not_be_are_none(latitude: Any, longitude: Any, good: bool) -> None:
    gps = {1: "N", 2: latitude, 3: "E", 4: longitude}

    assert (place_claim(Tags(gps=gps)) is not None) is good


def test_captions_are_gathered_once_in_their_own_script() -> None:
    image = Image.new("RGB", (4, 4))
    exif = image.getexif()
    exif[0x010E] = "A bridge"
    exif[0x9C9B] = "桥".encode("utf-16-le") + b"\x00\x00"
    exif.get_ifd(0x8769)[0x9286] = b"UNICODE\x00" + "雨天".encode("utf-16-le")
    image.info["xmp"] = (
        b"<dc:description><rdf:Alt><rdf:li xml:lang='x-default'>A bridge</rdf:li></rdf:Alt>"
        b"</dc:description>"
    )

    captions = read_tags(image).captions

    assert captions[:2] == ("A bridge", "桥")
    assert captions.count("A bridge") == 1


def test_what_cameras_write_for_want_of_words_is_no_caption() -> None:
    image = Image.new("RGB", (4, 4))
    image.getexif()[0x010E] = "OLYMPUS DIGITAL CAMERA         "

    assert read_tags(image).captions == ()


def test_the_makers_name_is_said_once() -> None:
    assert Tags({0x010F: "Canon", 0x0110: "Canon EOS 40D"}).camera == "Canon EOS 40D"
    assert Tags({0x010F: "Apple", 0x0110: "iPhone 7"}).camera == "Apple iPhone 7"
