"""Time words of a query, in both languages, as spans: hints for ranking, never filters."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from muniment.store.times import parse_utc, utc_text


class Span(NamedTuple):
    """A half-open range of UTC instants."""

    start: str
    end: str


_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
)  # fmt: skip
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS if name != "may") + "|may|sept"
_HAN_DIGITS = str.maketrans("〇零一二三四五六七八九", "00123456789")
# A year, and a month or day, in digits or in Han numerals.
_Y = r"(\d{4}|[〇零一二三四五六七八九]{4})"
_N = r"(\d{1,2}|[一二三四五六七八九十]{1,3})"
_NO_NUMBER = r"(?<![\d〇零一二三四五六七八九十])"
_SEASON = "spring|summer|autumn|fall|winter"
_SEASON_ZH = "春|夏|秋|冬"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_DATES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\b(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})\b"), "ymd"),
    (re.compile(rf"{_Y}\s*年\s*{_N}\s*月\s*{_N}\s*[日号]"), "ymd"),
    (re.compile(rf"{_Y}\s*年\s*{_N}\s*月"), "ym"),
    (re.compile(rf"{_Y}\s*年的?({_SEASON_ZH})[天季]?"), "ys"),
    (re.compile(rf"{_Y}\s*年"), "y"),
    (re.compile(rf"{_NO_NUMBER}{_N}\s*月\s*{_N}\s*[日号]"), "md"),
    (re.compile(rf"(?<![\d年〇零一二三四五六七八九十]){_N}\s*月(?!\s*\d)(?!份?前)"), "m"),
    (re.compile(rf"\b({_SEASON})\s+(?:of\s+)?(\d{{4}})\b", re.I), "sy"),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+({_MONTH})\.?,?\s+(\d{{4}})\b", re.I), "dMy"),
    (re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}})\b", re.I), "Mdy"),
    (re.compile(rf"\b({_MONTH})\.?,?\s+(?:of\s+)?(\d{{4}})\b", re.I), "My"),
    (re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH})\b", re.I), "dM"),
    (re.compile(rf"\b({_MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b", re.I), "Md"),
    (re.compile(r"\bin\s+(january|february|march|april|may|june|july|august|september|october"
                r"|november|december)\b", re.I), "M"),
    (re.compile(r"\b((?:19|20)\d{2})\b"), "y"),
)  # fmt: skip

# Days back to the start and to the end of a span, counted from today's first instant.
_RELATIVE: tuple[tuple[str, int, int], ...] = (
    (r"\btoday\b|今天|今日", 0, -1),
    (r"\byesterday\b|昨天|昨日|昨晚", 1, 0),
    (r"\bthe day before yesterday\b|前天", 2, 1),
    (r"\btomorrow\b|明天|明日", -1, -2),
    (r"\blast night\b", 1, -1),
    (r"\b(?:recently|lately|the other day)\b|最近|近来|这几天|前几天", 14, -1),
)
_AGO = re.compile(
    r"\b(\d+|an?|one|two|three|four|five|six|a few)\s+(day|week|month|year)s?\s+ago\b", re.I
)
_AGO_ZH = re.compile(r"([一两二三四五六七八九十\d]+)\s*(?:个)?(天|周|星期|礼拜|月|年)(?:之)?前")
_FEW = 3
_UNIT_DAYS = {
    "day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "星期": 7, "礼拜": 7,
    "月": 30, "年": 365,
}  # fmt: skip
_YEAR_ZH = "前年|去年|今年|明年"
_PERIOD = re.compile(
    rf"\b(last|this|next|past|previous)\s+(week|month|year|{_SEASON})\b"
    rf"|(上|这|本|下)(?:个|一)?(周|星期|礼拜|月)|({_YEAR_ZH})",
    re.I,
)
# A month, season or day of a year or week that is named from today.
_MONTH_OF = re.compile(rf"({_YEAR_ZH})的?\s*{_N}\s*月(?:\s*{_N}\s*[日号])?")
_SEASON_OF = re.compile(rf"({_YEAR_ZH})的?({_SEASON_ZH})[天季]?")
_LAST_MONTH_NAMED = re.compile(rf"\b(last|next)\s+({'|'.join(_MONTHS)})\b", re.I)
_WEEKDAY = re.compile(rf"\b(last|next)\s+({'|'.join(_WEEKDAYS)})\b", re.I)
_WEEKDAY_ZH = re.compile(r"(上上|上|这|本|下)(?:个|一)?(?:周|星期|礼拜)([一二三四五六日天])")
_STEP = {
    "last": -1, "past": -1, "previous": -1, "this": 0, "next": 1, "上上": -2, "上": -1, "这": 0,
    "本": 0, "下": 1, "前年": -2, "去年": -1, "今年": 0, "明年": 1,
}  # fmt: skip
_SEASON_MONTH = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "春": 3, "夏": 6, "秋": 9, "冬": 12,
}  # fmt: skip


def spans_in(text: str, now: str) -> tuple[tuple[Span, ...], list[str]]:
    """Return the spans that a query names, and the words that name them."""
    today = parse_utc(now).replace(hour=0, minute=0, second=0, microsecond=0)
    spans: list[Span] = []
    words: list[str] = []
    rest = text
    for finder in (_of_a_period, _dates, _relative, _ago, _periods):
        for found, span in finder(rest, today):
            if span is not None:
                spans.append(span)
            words.append(found)
        for word in words:
            rest = rest.replace(word, " " * len(word))
    return tuple(dict.fromkeys(spans)), words


Found = Iterator[tuple[str, Span | None]]


def _dates(text: str, today: datetime) -> Found:
    for pattern, order in _DATES:
        matches = list(pattern.finditer(text))
        for match in matches:
            parts = dict(zip(order, match.groups(), strict=True))
            yield match.group(), _date_span(parts, today)
        if matches:
            text = pattern.sub(lambda match: " " * len(match.group()), text)


def _date_span(parts: dict[str, str], today: datetime) -> Span | None:
    month = _number(parts["m"]) if "m" in parts else _month(parts.get("M"))
    day = _number(parts["d"]) if "d" in parts else None
    year = int(parts["y"].translate(_HAN_DIGITS)) if "y" in parts else today.year
    try:
        if "s" in parts:
            return _season(year, parts["s"])
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        if "y" not in parts and start > today:
            start = start.replace(year=year - 1)
        return _span(start, _end_of(start, month=month, day=day))
    except (ValueError, OverflowError):
        return None


def _end_of(start: datetime, *, month: int | None, day: int | None) -> datetime:
    if day:
        return start + timedelta(days=1)
    return _months_on(start, 1 if month else 12)


def _relative(text: str, today: datetime) -> Found:
    for pattern, first, last in reversed(_RELATIVE):
        for match in re.finditer(pattern, text, re.I):
            yield match.group(), _back(today, first, last)


def _ago(text: str, today: datetime) -> Found:
    for pattern in (_AGO, _AGO_ZH):
        for match in pattern.finditer(text):
            count, unit = match.group(1).lower(), match.group(2).lower()
            number = _FEW if count == "a few" else _number(count)
            days = _UNIT_DAYS[unit]
            slack = days // 2
            span = None
            if number is not None and number < 10_000:  # noqa: PLR2004 (beyond any memory)
                span = _back(today, number * days + slack, number * days - slack - 1)
            yield match.group(), span


def _of_a_period(text: str, today: datetime) -> Found:
    """Find what is named within another period: ``last Friday``, ``去年三月``, ``上周五``."""
    for match in _MONTH_OF.finditer(text):
        year, month, day = match.groups()
        parts = {"y": str(today.year + _STEP[year]), "m": month} | ({"d": day} if day else {})
        yield match.group(), _date_span(parts, today)
    for match in _SEASON_OF.finditer(text):
        yield match.group(), _season(today.year + _STEP[match[1]], match[2])
    for match in _LAST_MONTH_NAMED.finditer(text):
        yield match.group(), _month_named(today, match[1].lower(), _month(match[2]) or 1)
    monday = today - timedelta(days=today.weekday())
    for match in _WEEKDAY.finditer(text):
        day = _WEEKDAYS.index(match[2].lower())
        ahead = (day - today.weekday() - 1) % 7 + 1  # from 1 to 7
        back = (today.weekday() - day - 1) % 7 + 1
        days = ahead if match[1].lower() == "next" else -back
        yield match.group(), _back(today, -days, -days - 1)
    for match in _WEEKDAY_ZH.finditer(text):
        days = 7 * _STEP[match[1]] + min("一二三四五六日天".index(match[2]), 6)
        yield match.group(), _back(monday, -days, -days - 1)


def _month_named(today: datetime, which: str, month: int) -> Span:
    """Return the newest such month that is over, or the next one to begin."""
    this = today.replace(day=1)
    start = this.replace(month=month)
    if which == "last" and start >= this:
        start = start.replace(year=start.year - 1)
    if which == "next" and start <= this:
        start = start.replace(year=start.year + 1)
    return _span(start, _months_on(start, 1))


def _season(year: int, name: str) -> Span:
    start = datetime(year, _SEASON_MONTH[name.lower()], 1, tzinfo=UTC)
    return _span(start, _months_on(start, 3))


def _number(text: str) -> int | None:
    """Read a number in digits or words; null when it is none."""
    from muniment.pipeline.proposers.clock import count

    return count(text) or (0 if text.isdecimal() else None)


def _periods(text: str, today: datetime) -> Found:
    for match in _PERIOD.finditer(text):
        step, unit, step_zh, unit_zh, year = match.groups()
        by = _STEP[(step or step_zh or year).lower()]
        yield match.group(), _period(today, by, (unit or unit_zh or "year").lower())


def _period(today: datetime, by: int, unit: str) -> Span:
    if unit in {"week", "周", "星期", "礼拜"}:
        start = today - timedelta(days=today.weekday()) + timedelta(weeks=by)
        return _span(start, start + timedelta(weeks=1))
    if unit in {"month", "月"}:
        start = _months_on(today.replace(day=1), by)
        return _span(start, _months_on(start, 1))
    if unit == "year":
        start = today.replace(month=1, day=1, year=today.year + by)
        return _span(start, _months_on(start, 12))
    start = today.replace(month=_SEASON_MONTH[unit], day=1)
    if by < 0 and _months_on(start, 3) > today:
        start = _months_on(start, -12)
    return _span(start, _months_on(start, 3))


def _months_on(first: datetime, months: int) -> datetime:
    index = first.year * 12 + first.month - 1 + months
    return first.replace(year=index // 12, month=index % 12 + 1, day=1)


def _month(name: str | None) -> int | None:
    if name is None:
        return None
    for number, month in enumerate(_MONTHS, 1):
        if month.startswith(name.lower()[:3]):
            return number
    return None


def _back(today: datetime, first: int, last: int) -> Span | None:
    try:
        return _span(today - timedelta(days=first), today - timedelta(days=last))
    except OverflowError:
        return None


def _span(start: datetime, end: datetime) -> Span:
    return Span(utc_text(start), utc_text(end))
