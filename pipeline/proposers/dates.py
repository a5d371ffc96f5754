"""Dates in words, English and Chinese, read relative to when they were said."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from muniment.pipeline.proposers.clock import NUMBER, count
from muniment.pipeline.proposers.clock import clock as clock_of
from muniment.store.times import moment_fields, parse_local, parse_utc

WEEK = 7
DECEMBER = 12

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = r"(?P<weekday>mon|tues?|wednes|thurs?|fri|satur|sun)day"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
_ZH_WHICH = {"下": "next", "下下": "next next", "这": "this", "本": "this"}
_DAYS_AFTER = {"大后": 3, "后": 2, "明": 1, "今": 0}


@dataclass(frozen=True, slots=True)
class When:
    """A date found: its span in the text and the fields of its moment."""

    start: int
    end: int
    moment: Mapping[str, Any]


def find_date(text: str, said: Mapping[str, Any] | None) -> When | None:
    """Return the first date or time of day named in a text, or null.

    ``said`` is the moment it was said; without one only whole dates are understood. A date that
    falls off the calendar is none.
    """
    try:
        return _find(text, _wall_time(said))
    except (OverflowError, ValueError):
        return None


def _find(text: str, base: datetime | None) -> When | None:
    day = _first_day(text, base)
    clock = None if day is not None and day[3] in ("minute", "month", "year") else clock_of(text)
    if day is None and (clock is None or base is None):
        return None
    if day is None:
        assert clock is not None
        assert base is not None
        start, end, at = clock
        coming = datetime.combine(base.date(), at, base.tzinfo)
        coming = coming if coming > base else coming + timedelta(days=1)
        return When(start, end, moment_fields(coming, zone_source="said", precision="minute"))
    start, end, found, precision = day
    if clock is not None:
        found = datetime.combine(found.date(), clock[2], found.tzinfo)
        start, end, precision = min(start, clock[0]), max(end, clock[1]), "minute"
    return When(start, end, moment_fields(found, zone_source="said", precision=precision))


def birthday(text: str) -> str | None:
    """Return ``YYYY-MM-DD``, ``--MM-DD`` without a year, or a lunar date as it stands."""
    lunar = re.search(r"(?:农历|阴历|旧历)\s*\S{2,8}", text)
    if lunar:
        return lunar.group().rstrip("。.!！")
    for pattern in (_ISO, _ZH_FULL, _EN_MONTH_DAY, _EN_DAY_MONTH, _ZH_MONTH_DAY):
        match = pattern.search(text)
        if match is None:
            continue
        part = match.groupdict()
        month, day = _month(part["month"]), count(part["day"])
        year = part.get("year")
        if _date(int(year or 2000), month, day) is not None:
            return f"{year}-{month:02d}-{day:02d}" if year else f"--{month:02d}-{day:02d}"
    return None


# --- days --------------------------------------------------------------------------------------

_ISO = re.compile(r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)")
_ZH_FULL = re.compile(rf"(?P<year>\d{{4}})年\s*(?P<month>{NUMBER})月\s*(?P<day>{NUMBER})(?:日|号)?")
_ZH_MONTH_DAY = re.compile(rf"(?P<month>{NUMBER})月\s*(?P<day>{NUMBER})(?:日|号)?")
_EN_MONTH_DAY = re.compile(
    rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)
_EN_DAY_MONTH = re.compile(
    rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:\s+of)?\s+{_MONTH}\b(?:,?\s+(?P<year>\d{{4}})\b)?",
    re.IGNORECASE,
)

Found = tuple[datetime, str]
Resolve = Callable[[re.Match[str], datetime], Found | None]


def _named(match: re.Match[str], base: datetime) -> Found | None:
    """Resolve a month and day; without a year it is the next one to come."""
    part = match.groupdict()
    month, day = _month(part["month"]), count(part["day"])
    year = part.get("year")
    found = _date(int(year) if year else base.year, month, day)
    if found is not None and not year and found < base.date():
        found = _date(base.year + 1, month, day)
    return None if found is None else (_at(base, found), "day")


def _zh_day(match: re.Match[str], base: datetime) -> Found | None:
    """Resolve a day of the month alone: the next one to come, or of next month when said so."""
    day, today = count(match["day"]), base.date()
    months = 1 if match["next"] or day < today.day else 0
    month = _months_on(today.replace(day=1), months)
    found = _date(month.year, month.month, day)
    return None if found is None else (_at(base, found), "day")


def _relative(match: re.Match[str], base: datetime) -> Found | None:
    word = match.group().casefold()
    days = 2 if word.endswith("day after tomorrow") else int(word == "tomorrow")
    return _at(base, base.date() + timedelta(days=days)), "day"


def _zh_relative(match: re.Match[str], base: datetime) -> Found | None:
    return _at(base, base.date() + timedelta(days=_DAYS_AFTER[match["word"]])), "day"


def _weekday(match: re.Match[str], base: datetime) -> Found | None:
    index = _WEEKDAYS.index(match["weekday"].casefold()[:3])
    return _at(base, _coming(base.date(), index, (match["which"] or "").casefold())), "day"


def _zh_weekday(match: re.Match[str], base: datetime) -> Found | None:
    index = min("一二三四五六日天".index(match["weekday"]), WEEK - 1)
    return _at(base, _coming(base.date(), index, _ZH_WHICH.get(match["which"], ""))), "day"


def _coming(today: date, index: int, which: str) -> date:
    """Return a weekday: of this or a later week when said so, else the next one to come."""
    monday = today - timedelta(days=today.weekday())
    if which:
        weeks = {"this": 0, "next": 1, "next next": 2}[which]
        return monday + timedelta(days=weeks * WEEK + index)
    return today + timedelta(days=(index - today.weekday() - 1) % WEEK + 1)


def _after(match: re.Match[str], base: datetime) -> Found | None:
    """Resolve ``in three days``, ``三天后``."""
    amount, unit = count(match["count"]), match["unit"].casefold()
    if unit in ("minute", "hour", "分钟", "小时", "个小时"):
        minutes = amount if unit in ("minute", "分钟") else 60 * amount
        return base + timedelta(minutes=minutes), "minute"
    if unit in ("month", "个月"):
        return _at(base, _months_on(base.date(), amount)), "day"
    days = amount if unit in ("day", "天") else WEEK * amount
    return _at(base, base.date() + timedelta(days=days)), "day"


def _next(match: re.Match[str], base: datetime) -> Found | None:
    """Resolve ``next week`` to its Monday, ``next month`` and ``next year`` to their precision."""
    unit = match["unit"].casefold()
    if unit in ("month", "个月", "月"):
        return _at(base, _months_on(base.date().replace(day=1), 1)), "month"
    if unit in ("year", "明年"):
        return _at(base, date(base.year + 1, 1, 1)), "year"
    return _at(base, _coming(base.date(), 0, "next")), "day"


def _end_of(match: re.Match[str], base: datetime) -> Found | None:
    unit = match["unit"].casefold()
    today = base.date()
    if unit in ("week", "周末", "eow"):
        friday, saturday = 4, 5
        return _at(base, _coming(today, saturday if unit == "周末" else friday, "this")), "day"
    if unit in ("month", "月底", "eom"):
        return _at(base, _months_on(today.replace(day=1), 1) - timedelta(days=1)), "day"
    if unit in ("year", "年底"):
        return _at(base, date(base.year, DECEMBER, 31)), "day"
    return _at(base, today), "day"


def _coarse(match: re.Match[str], base: datetime) -> Found | None:
    """Resolve a month or a year named with its year."""
    part = match.groupdict()
    month = _month(part["month"]) if part.get("month") else 1
    found = _date(int(part["year"]), month, 1)
    precision = "month" if part.get("month") else "year"
    return None if found is None else (_at(base, found), precision)


_MONTH_OF_YEAR = re.compile(rf"\b{_MONTH}\s+(?P<year>(?:19|20)\d{{2}})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:in|since)\s+(?P<year>(?:19|20)\d{2})\b(?![-/.]\d)", re.IGNORECASE)
_WHOLE = (_ISO, _ZH_FULL, _MONTH_OF_YEAR, _YEAR)

_RULES: tuple[tuple[re.Pattern[str], Resolve], ...] = (
    (_ISO, _named),
    (_ZH_FULL, _named),
    (_ZH_MONTH_DAY, _named),
    (
        re.compile(
            rf"(?:(?P<next>下个?月)|(?<![月一二三四五六七八九十\d]))(?P<day>{NUMBER})[日号](?!楼|线)"
        ),
        _zh_day,
    ),
    (_EN_MONTH_DAY, _named),
    (_EN_DAY_MONTH, _named),
    (_MONTH_OF_YEAR, _coarse),
    (_YEAR, _coarse),
    (re.compile(r"\b(?:(?:the )?day after tomorrow|tomorrow)\b", re.IGNORECASE), _relative),
    (re.compile(r"\b(?:today|tonight|this (?:morning|afternoon|evening))\b", re.I), _relative),
    (re.compile(r"(?P<word>大后|后|明|今)(?:天|日|早|晚|儿)"), _zh_relative),
    (re.compile(rf"\b(?:(?P<which>this|next)\s+)?{_WEEKDAY}\b", re.I), _weekday),
    (
        re.compile(r"(?P<which>下下|下|这|本)?个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"),
        _zh_weekday,
    ),
    (re.compile(rf"\bin {_COUNT} (?P<unit>minute|hour|day|week|month)s?\b", re.I), _after),
    (
        re.compile(
            r"(?P<count>\d{1,3}|[一二两三四五六七八九十])"
            r"(?P<unit>天|周|个星期|个月|个小时|小时|分钟)(?:之后|以后|后)"
        ),
        _after,
    ),
    (re.compile(r"\bnext (?P<unit>week|month|year)\b", re.I), _next),
    (re.compile(r"下(?P<unit>周|星期|个星期|个月|月)(?![一二三四五六日天\d])"), _next),
    (re.compile(r"(?P<unit>明年)"), _next),
    (re.compile(r"\bend of (?:the |this )?(?P<unit>day|week|month|year)\b", re.I), _end_of),
    (re.compile(r"\b(?P<unit>EOD|EOW|EOM)\b"), _end_of),
    (re.compile(r"(?P<unit>周末|月底|年底)"), _end_of),
)


def _first_day(text: str, base: datetime | None) -> tuple[int, int, datetime, str] | None:
    """Return the earliest date of a text: its span, the wall time and the precision."""
    return min(_days(text, base), key=lambda found: (found[0], -found[1]), default=None)


def _days(text: str, base: datetime | None) -> Iterator[tuple[int, int, datetime, str]]:
    for pattern, resolve in _RULES:
        if base is None and pattern not in _WHOLE:
            continue
        match = pattern.search(text)
        found = resolve(match, base or datetime(1, 1, 1)) if match else None  # noqa: DTZ001
        if match and found:
            yield match.start(), match.end(), *found


# --- numbers and calendars ---------------------------------------------------------------------


def _wall_time(said: Mapping[str, Any] | None) -> datetime | None:
    """Return the wall time of a moment, aware where its offset is known."""
    if said is None:
        return None
    offset = said.get("offset")
    zone = datetime.strptime(offset, "%z").tzinfo if offset else None
    if said.get("local"):
        return parse_local(said["local"]).replace(tzinfo=zone)
    instant = parse_utc(said["utc"])
    return instant.astimezone(zone) if zone else instant


def _at(base: datetime, day: date) -> datetime:
    return datetime.combine(day, time(), base.tzinfo)


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _months_on(day: date, months: int) -> date:
    """Add months, stopping at the last day of a shorter one."""
    years, month = divmod(day.month - 1 + months, DECEMBER)
    for last in (day.day, 30, 29, 28):
        found = _date(day.year + years, month + 1, last)
        if found is not None:
            return found
    return day


def _month(word: str) -> int:
    name = word[:3].casefold()
    return _MONTHS.index(name) + 1 if name in _MONTHS else count(word)
