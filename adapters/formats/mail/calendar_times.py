"""Times of calendars: instants, wall times in a named zone, floating ones, days; and repetition."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING, cast

from muniment.adapters.formats.mail.content_lines import ContentLine
from muniment.adapters.media.moments import moment_of

if TYPE_CHECKING:
    from muniment.store.records import Moment

MAX_ZONES, MAX_ZONE_LINES = 200, 2000
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?(\d\d)?(Z)?)?")
_DURATION = re.compile(
    r"P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,5})M)?(?:\d+S)?)?"
)
_UNITS = {"YEARLY": "year", "MONTHLY": "month", "WEEKLY": "week", "DAILY": "day", "HOURLY": "hour",
          "MINUTELY": "minute", "SECONDLY": "second"}  # fmt: skip
_DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday",
         "SA": "Saturday", "SU": "Sunday"}  # fmt: skip
_MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September",
           "October", "November", "December")  # fmt: skip
_ORDINALS = {1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", -1: "last"}
_WIDEST_OFFSET = timedelta(hours=18)


class Zones:
    """Resolves zone names: the usual ones, those of Windows, and those that the file defines."""

    def __init__(self) -> None:
        self._defined: dict[str, list[str]] = {}
        self._open: list[str] = []
        self._known: dict[str, tzinfo | None] = {}

    def see(self, line: ContentLine) -> None:
        """Take a line of a zone's definition."""
        if line.name == "BEGIN" and line.value.strip().upper() == "VTIMEZONE":
            self._open = []
        if len(self._open) < MAX_ZONE_LINES:
            self._open.append(f"{line.name}:{line.value}")
        if line.name == "TZID" and len(self._defined) < MAX_ZONES:
            self._defined[line.value.strip()] = self._open

    def read(self, line: ContentLine | None) -> "Moment | None":
        """Return the moment of a property, or null when it is absent or none."""
        match = _TIME.match(line.value.strip()) if line is not None else None
        if line is None or match is None:
            return None
        year, month, day, hour, minute, second, instant = match.groups()
        try:
            when = datetime(  # noqa: DTZ001 (the zone comes below, where there is one)
                int(year), int(month), int(day),
                int(hour or 0), int(minute or 0), min(59, int(second or 0)),
            )  # fmt: skip
        except ValueError:
            return None
        if hour is None:
            return moment_of(when, None, "day")
        zone = UTC if instant else self._zone(line.parameters.get("TZID", ""))
        return self._placed(when, zone)

    def _placed(self, when: datetime, zone: tzinfo | None) -> "Moment":
        try:
            aware = when.replace(tzinfo=zone)
            offset = aware.utcoffset()
            if offset is not None and abs(offset) < _WIDEST_OFFSET:
                return moment_of(aware, "calendar")
        except (ValueError, OverflowError, TypeError):
            pass
        return moment_of(when)

    def _zone(self, name: str) -> tzinfo | None:
        name = name.strip().strip('"')
        if name and name not in self._known:
            self._known[name] = _named(name) or self._from_definition(name)
        return self._known.get(name)

    def _from_definition(self, name: str) -> tzinfo | None:
        lines = self._defined.get(name)
        if lines is None:
            return None
        from icalendar import Timezone

        try:
            zone = cast("Timezone", Timezone.from_ical("\r\n".join(lines)))
            made: tzinfo = zone.to_tz(lookup_tzid=False)
            made.utcoffset(datetime(2000, 1, 1))  # noqa: DTZ001 (asked in its own wall time)
        except Exception:  # definitions are written by hand, and the library trusts them
            return None
        return made


def _named(name: str) -> tzinfo | None:
    """Return a zone by its usual name, its name in Windows, or a path that ends with either."""
    from zoneinfo import ZoneInfo

    from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

    for known in (name, WINDOWS_TO_OLSON.get(name, ""), "/".join(name.split("/")[-2:])):
        try:
            if known:
                return ZoneInfo(known)
        except (ValueError, LookupError, OSError):
            continue
    return None


def time_words(start: "Moment", end: "Moment | None", duration: str = "") -> str:
    """Say when something is, in the wall time that it was written in."""
    first = start.local or start.utc or ""
    if start.precision == "day":
        last = _day_before(end.local) if end is not None and end.local else first
        return f"{first} (all day)" if last <= first else f"{first} to {last} (all day)"
    words = _clock(first)
    last = end.local if end is not None and end.local else _after(first, duration)
    if last and last != first:
        words += f" to {_clock(last) if last[:10] != first[:10] else last[11:16]}"
    return words + (f" ({start.offset})" if start.offset else "")


def recurrence_words(rules: list[str]) -> str:
    """Say in words how something repeats."""
    return "; ".join(filter(None, map(_rule_words, rules[:5])))


def _rule_words(rule: str) -> str:
    parts = {
        name.strip().upper(): value.strip()
        for name, _, value in (part.partition("=") for part in rule[:1000].split(";"))
    }
    unit = _UNITS.get(parts.get("FREQ", "").upper())
    if unit is None:
        return ""
    every = parts.get("INTERVAL", "1")
    words = [f"every {unit}" if every == "1" or not every.isdigit() else f"every {every} {unit}s"]
    if days := _listed(parts.get("BYDAY", ""), _day_words):
        words.append(f"on {days}")
    if dates := _listed(parts.get("BYMONTHDAY", ""), str):
        words.append(f"on day {dates}")
    if months := _listed(parts.get("BYMONTH", ""), _month_words):
        words.append(f"in {months}")
    if (until := _TIME.match(parts.get("UNTIL", ""))) is not None:
        words.append(f"until {until[1]}-{until[2]}-{until[3]}")
    if parts.get("COUNT", "").isdigit():
        words.append(f"{parts['COUNT']} times")
    return " ".join(words)


def _listed(text: str, say: Callable[[str], str]) -> str:
    return ", ".join(say(piece.strip()) for piece in text.split(",") if piece.strip())


def _day_words(text: str) -> str:
    day = _DAYS.get(text[-2:].upper(), text)
    number = text[:-2]
    known = _ORDINALS.get(int(number)) if number.lstrip("+-").isdigit() else None
    return f"the {known} {day}" if known else day


def _month_words(text: str) -> str:
    return _MONTHS[int(text) - 1] if text.isdigit() and 1 <= int(text) <= len(_MONTHS) else text


def _clock(local: str) -> str:
    return f"{local[:10]} {local[11:16]}"


def _day_before(day: str) -> str:
    try:
        return (datetime.fromisoformat(day) - timedelta(days=1)).strftime("%Y-%m-%d")
    except (ValueError, OverflowError):
        return day[:10]


def _after(first: str, duration: str) -> str:
    match = _DURATION.fullmatch(duration.strip().lstrip("+").upper()) if duration else None
    if match is None:
        return ""
    weeks, days, hours, minutes = (int(number or 0) for number in match.groups())
    span = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    try:
        return (datetime.fromisoformat(first) + span).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""
