"""Times that a file's name and its modification time tell."""

from datetime import UTC, datetime

import pytest

from muniment.pipeline.stages.capture import time_in_name, time_of_change

TODAY = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "local", "precision"),
    [
        ("IMG-20220528-WA0004.jpg", "2022-05-28", "day"),
        ("IMG_20200101_123456.jpg", "2020-01-01T12:34:56", "second"),
        ("PXL_20210704_081500123.jpg", "2021-07-04", "day"),
        ("Screenshot 2024-01-02 at 10.20.30.png", "2024-01-02T10:20:30", "second"),
        ("WhatsApp Image 2026-08-31 at 15.41.14.jpeg", "2026-08-31T15:41:14", "second"),
        ("2024-03-10 notes.md", "2024-03-10", "day"),
        ("signal-2024-03-10-09-15.jpg", "2024-03-10T09:15", "minute"),
    ],
)
def test_a_date_in_a_name_is_a_wall_time_without_a_zone(
    name: str, local: str, precision: str
) -> None:
    assert time_in_name(name, TODAY) == {
        "utc": None, "local": local, "offset": None, "zone_source": None, "precision": precision,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name",
    ["invoice 20417.pdf", "IMG_20990101.jpg", "20261301.txt", "20230230.txt", "120220528012.jpg",
     "DSCN0010.jpg", "19791231.txt"],
)  # fmt: skip
def test_what_is_no_plausible_date_is_none(name: str) -> None:
    assert time_in_name(name, TODAY) is None


def test_the_epoch_is_no_modification_time() -> None:
    assert time_of_change(0) is None
    assert time_of_change(-(10**18)) is None


def test_a_modification_time_is_an_instant_with_microseconds() -> None:
    moment = time_of_change(1_700_000_000_123_456_789)

    assert moment is not None
    assert moment["utc"] == "2023-11-14T22:13:20.123456Z"
