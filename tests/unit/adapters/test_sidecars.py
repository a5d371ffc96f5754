"""What a sidecar says, and that nothing in it can break or bend a claim."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.adapters.formats.sidecars import read_sidecar


def takeout(**fields: Any) -> bytes:
    return json.dumps({"photoTakenTime": {"timestamp": "1653741000"}, **fields}).encode()


def test_the_time_of_the_shot_is_an_instant_and_that_of_the_upload_is_none() -> None:
    found = read_sidecar(takeout(creationTime={"timestamp": "1700000000"}), "a.json")

    assert found is not None
    assert [claim.moment.utc for claim in found.times] == ["2022-05-28T12:30:00.000000Z"]
    assert {claim.source for claim in found.times} == {"sidecar"}


@pytest.mark.parametrize("stamp", ["0", "", None, "soon", "99999999999999", {}, "4102444800"])
def test_a_time_that_can_not_be_is_no_claim(stamp: Any) -> None:
    found = read_sidecar(takeout(photoTakenTime={"timestamp": stamp}), "a.json")

    assert found is not None
    assert found.times == ()


@pytest.mark.parametrize(
    "place",
    [
        {"latitude": 0.0, "longitude": 0.0},
        {"latitude": "48", "longitude": 2},
        {"latitude": 91, "longitude": 2},
        {"latitude": True, "longitude": 2},
        {"latitude": 48},
        [],
    ],
)
def test_a_place_that_is_unset_or_broken_is_no_claim(place: Any) -> None:
    found = read_sidecar(takeout(geoData=place), "a.json")

    assert found is not None
    assert found.places == ()


def test_the_cameras_place_stands_in_for_an_unset_one() -> None:
    unset, camera = {"latitude": 0.0, "longitude": 0.0}, {"latitude": 0.0, "longitude": 2.5}

    found = read_sidecar(takeout(geoData=unset, geoDataExif=camera), "a.json")

    assert found is not None
    assert [(place.latitude, place.longitude) for place in found.places] == [(0.0, 2.5)]


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"{", b"[" * 100_000, b'{"photoTakenTime": 1}', b"\xff\xfe"],
)
def test_what_is_no_sidecar_says_nothing(data: bytes) -> None:
    assert read_sidecar(data, "a.json") is None
    assert read_sidecar(data, "a.xmp") is None


@given(st.binary(max_size=200), st.sampled_from(["a.json", "a.xmp"]))
def test_no_bytes_make_it_fall(data: bytes, name: str) -> None:
    read_sidecar(data, name)
    read_sidecar(b"<x:xmpmeta exif:DateTimeOriginal='" + data, name)
    read_sidecar(b'{"photoTakenTime":{"timestamp":"' + data + b'"}}', name)
