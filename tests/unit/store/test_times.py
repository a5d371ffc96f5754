from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.store.times import (
    local_text,
    moment_fields,
    now,
    offset_text,
    parse_local,
    parse_utc,
    sort_key,
    utc_text,
)


def wall(*parts: int) -> datetime:
    """Return a time without a zone."""
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 (that is the point)


zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(min_value=wall(1, 1, 3), max_value=wall(9999, 12, 29), timezones=zones)
PRECISIONS = ["year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond"]


@given(moments)
def test_an_instant_reads_back_equal(moment: datetime) -> None:
    assert parse_utc(utc_text(moment)) == moment
    assert len(utc_text(moment)) == len("2026-03-02T10:00:00.000000Z")


@given(moments, moments)
def test_instants_sort_as_text_as_they_do_in_time(one: datetime, other: datetime) -> None:
    assert (utc_text(one) < utc_text(other)) == (one < other)


@given(moments)
def test_wall_time_less_offset_is_the_instant(moment: datetime) -> None:
    fields = moment_fields(moment, zone_source="exif", precision="microsecond")

    assert fields["utc"] == utc_text(moment)
    assert fields["local"] is not None
    local = parse_local(fields["local"])
    assert (local - (moment.utcoffset() or timedelta())).replace(tzinfo=UTC) == moment


@given(st.datetimes(), st.sampled_from(PRECISIONS))
def test_a_wall_time_without_a_zone_stays_one(moment: datetime, precision: str) -> None:
    fields = moment_fields(moment, zone_source="guess", precision=precision)

    assert fields["utc"] is fields["offset"] is fields["zone_source"] is None
    assert fields["local"] is not None
    assert parse_local(fields["local"]) <= moment
    assert sort_key(fields) == utc_text(parse_local(fields["local"]).replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("precision", "text"),
    [("year", "0987"), ("month", "0987-06"), ("day", "0987-06-05"), ("hour", "0987-06-05T04"),
     ("minute", "0987-06-05T04:03"), ("second", "0987-06-05T04:03:02"),
     ("microsecond", "0987-06-05T04:03:02.000001")],
)  # fmt: skip
def test_local_text_is_cut_at_its_precision(precision: str, text: str) -> None:
    assert local_text(wall(987, 6, 5, 4, 3, 2, 1), precision) == text


def test_zoneless_times_sort_by_the_zone_that_is_given_and_never_the_hosts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    told = moment_fields(wall(2026, 3, 2, 10))

    assert sort_key(told) == "2026-03-02T10:00:00.000000Z"
    assert sort_key(told, timezone(timedelta(hours=8))) == "2026-03-02T02:00:00.000000Z"
    assert sort_key(None) is None


@pytest.mark.parametrize(
    ("moment", "text"),
    [(datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9))), "0001-01-01T00:00:00.000000Z"),
     (datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-9))),
      "9999-12-31T23:59:59.999999Z")],
)  # fmt: skip
def test_a_time_past_the_ends_of_the_calendar_is_its_end(moment: datetime, text: str) -> None:
    assert utc_text(moment) == text
    assert sort_key(moment_fields(moment)) == text


@pytest.mark.parametrize(
    ("minutes", "text"), [(0, "+00:00"), (480, "+08:00"), (-210, "-03:30"), (765, "+12:45")]
)
def test_offsets_are_hours_and_minutes(minutes: int, text: str) -> None:
    assert offset_text(timedelta(minutes=minutes)) == text


def test_now_is_an_instant() -> None:
    assert abs(parse_utc(now()) - datetime.now(UTC)) < timedelta(seconds=5)
