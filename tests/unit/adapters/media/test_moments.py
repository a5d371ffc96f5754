"""Times as cameras and containers write them."""

import pytest

from muniment.adapters.media.moments import moment_of, parse_pdf_time, parse_wall_time


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024:05:06 07:08:09", "2024-05-06T07:08:09"),
        ("2024-05-06T07:08:09Z", "2024-05-06T07:08:09+00:00"),
        ("2024-05-06T15:08:09+0800", "2024-05-06T15:08:09+08:00"),
        ("2024-05-06T15:08:09.5-03:30", "2024-05-06T15:08:09.500000-03:30"),
        ("2024-05-06", "2024-05-06T00:00:00"),
        ("2024:05:06 07:08:60", "2024-05-06T07:08:59"),
        ("1970-01-01T00:00:00Z", None),
        ("0000:00:00 00:00:00", None),
        ("2024-05-06T15:08:09+99:00", "2024-05-06T15:08:09"),
        ("yesterday", None),
    ],
)
def test_a_time_is_read_or_refused(text: str, expected: str | None) -> None:
    found = parse_wall_time(text)

    assert (found.isoformat() if found else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("D:20240506070809+08'00'", "2024-05-06T07:08:09+08:00"),
        ("D:20240506070809Z", "2024-05-06T07:08:09+00:00"),
        ("D:20240506", "2024-05-06T00:00:00"),
        ("D:99999999", None),
        ("", None),
    ],
)
def test_a_pdf_time_is_read_or_refused(text: str, expected: str | None) -> None:
    found = parse_pdf_time(text)

    assert (found.isoformat() if found else None) == expected


def test_a_time_without_a_zone_keeps_a_null_instant() -> None:
    found = parse_wall_time("2024:05:06 07:08:09")
    assert found is not None

    moment = moment_of(found, "exif")

    assert (moment.utc, moment.local, moment.zone_source) == (
        None,
        "2024-05-06T07:08:09.000000",
        None,
    )
