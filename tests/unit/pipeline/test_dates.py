from typing import Any

import pytest

from muniment.pipeline.proposers.dates import birthday, find_date

# a Wednesday afternoon, eight hours ahead of UTC
SAID: dict[str, Any] = {
    "utc": "2026-05-06T08:00:00.000000Z",
    "local": "2026-05-06T16:00:00.000000",
    "offset": "+08:00",
}


@pytest.mark.parametrize(
    ("text", "words", "local"),
    [
        ("by Friday", "Friday", "2026-05-08"),
        ("on Wednesday", "Wednesday", "2026-05-13"),
        ("this Friday", "this Friday", "2026-05-08"),
        ("next Friday", "next Friday", "2026-05-15"),
        ("tomorrow at 5pm", "tomorrow at 5pm", "2026-05-07T17:00"),
        ("at noon tomorrow", "at noon tomorrow", "2026-05-07T12:00"),
        ("the day after tomorrow", "the day after tomorrow", "2026-05-08"),
        ("in 3 days", "in 3 days", "2026-05-09"),
        ("in two hours", "in two hours", "2026-05-06T18:00"),
        ("in a month", "in a month", "2026-06-06"),
        ("at 9:30 am", "at 9:30 am", "2026-05-07T09:30"),
        ("at 17:30", "at 17:30", "2026-05-06T17:30"),
        ("May 4th", "May 4th", "2027-05-04"),
        ("4 May 2027", "4 May 2027", "2027-05-04"),
        ("2026-06-01", "2026-06-01", "2026-06-01"),
        ("in March 2027", "March 2027", "2027-03"),
        ("since 2020", "since 2020", "2020"),
        ("next week", "next week", "2026-05-11"),
        ("next month", "next month", "2026-06"),
        ("by the end of the month", "end of the month", "2026-05-31"),
        ("tonight", "tonight", "2026-05-06"),
        ("明天下午三点开会", "明天下午三点", "2026-05-07T15:00"),
        ("后天", "后天", "2026-05-08"),
        ("大后天", "大后天", "2026-05-09"),
        ("周五之前", "周五", "2026-05-08"),
        ("这周日", "这周日", "2026-05-10"),
        ("下周一", "下周一", "2026-05-11"),
        ("下下周三", "下下周三", "2026-05-20"),
        ("下周", "下周", "2026-05-11"),
        ("下个月5号", "下个月5号", "2026-06-05"),
        ("5号交", "5号", "2026-06-05"),
        ("十五号", "十五号", "2026-05-15"),
        ("三天后", "三天后", "2026-05-09"),
        ("两小时后", "两小时后", "2026-05-06T18:00"),
        ("五月四号", "五月四号", "2027-05-04"),
        ("2026年12月1日", "2026年12月1日", "2026-12-01"),
        ("月底", "月底", "2026-05-31"),
        ("周末", "周末", "2026-05-09"),
        ("明早8点半", "明早8点半", "2026-05-07T08:30"),
        ("明年", "明年", "2027"),
    ],
)
def test_a_date_is_read_relative_to_when_it_was_said(text: str, words: str, local: str) -> None:
    found = find_date(text, SAID)

    assert found is not None
    assert (text[found.start : found.end], found.moment["local"]) == (words, local)


@pytest.mark.parametrize(
    "text",
    ["", "no date", "Feb 30", "我有一点累", "早点睡", "may I", "25:99", "at 5", "1:2:3", "三月"],
)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert find_date(text, SAID) is None


def test_a_known_offset_makes_an_instant() -> None:
    found = find_date("tomorrow at 5pm", SAID)

    assert found is not None
    assert found.moment["utc"] == "2026-05-07T09:00:00.000000Z"
    assert found.moment["offset"] == "+08:00"


def test_a_wall_time_without_a_zone_stays_one() -> None:
    found = find_date("tomorrow", {"utc": None, "local": "2026-05-06T16:00", "offset": None})

    assert found is not None
    assert (found.moment["utc"], found.moment["local"]) == (None, "2026-05-07")


def test_without_a_time_of_its_own_only_whole_dates_are_read() -> None:
    assert find_date("on Friday", None) is None
    assert find_date("明天", None) is None
    found = find_date("by 2026-06-01", None)
    assert found is not None
    assert found.moment["local"] == "2026-06-01"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("May 4, 1990", "1990-05-04"),
        ("4th of May", "--05-04"),
        ("1990-05-04", "1990-05-04"),
        ("1990年5月4日", "1990-05-04"),
        ("五月四号", "--05-04"),
        ("29 February", "--02-29"),
        ("农历八月十五", "农历八月十五"),
        ("soon", None),
        ("31 February", None),
    ],
)
def test_a_birthday_is_a_date_and_not_an_instant(text: str, day: str | None) -> None:
    assert birthday(text) == day
