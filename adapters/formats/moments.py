"""Times as chat logs and exports write them, as :class:`Moment` records."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.store.records import Moment

# Words that begin names and sentences, too, count only where a line's head goes on behind them.
_HEAD_GOES_ON = r"(?=\]|[\u200e\u200f]*\s[-–])"
_MORNING = (
    r"上午|午前|오전|凌晨|早上|清晨|[Aa]\.?\s?[Mm]\.?|ص|ق\.ظ\.?|π\.?μ\.?|לפנה[״\"]צ"
    rf"|(?:SA|PG|PD|fm|de\.|vm\.){_HEAD_GOES_ON}"
)
_AFTERNOON = (
    r"下午|午後|오후|晚上|傍晚|夜里|[Pp]\.?\s?[Mm]\.?|م|ب\.ظ\.?|μ\.?μ\.?|אחה[״\"]צ"
    rf"|(?:CH|PTG|MD|em|du\.|nm\.){_HEAD_GOES_ON}"
)
MARKER = f"{_MORNING}|{_AFTERNOON}|中午"
CLOCK = (
    rf"(?:(?P<before>{MARKER})\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d{{2}})"
    rf"(?:[:.](?P<second>\d{{2}}))?(?:\s?(?P<after>{MARKER}))?"
)
# Scripts that run from right to left set marks around the strokes.
_STROKE = "[\u200e\u200f]?"
DATE = (
    rf"(?P<a>\d{{1,4}})\s?{_STROKE}[./年년-]{_STROKE}\s?(?P<b>\d{{1,2}})"
    rf"\s?{_STROKE}[./月월-]{_STROKE}\s?(?P<c>\d{{1,4}})(?:[.日일]|\s?г\.)?"
)
_IS_AFTERNOON = re.compile(_AFTERNOON.replace(_HEAD_GOES_ON, ""))
_ORDERS = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}
_NOON = 12
_MONTHS, _DAYS = 12, 31
_CENTURY = 100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 10**11


class DateOrder:
    """Infers the order of day, month and year from all dates of a log.

    A reading is better the fewer of its dates are impossible, then the fewer go back in time;
    what still ties goes to the preferred order and is ambiguous.
    """

    def __init__(self) -> None:
        self._faults = dict.fromkeys(_ORDERS, (0, 0))
        self._last: dict[str, tuple[int, int, int]] = {}
        self._year_first = False

    def see(self, parts: tuple[int, int, int]) -> None:
        """Take one date into account, its three numbers as written."""
        self._year_first |= parts[0] >= _CENTURY
        for name, (year, month, day) in _ORDERS.items():
            date = parts[year], parts[month], parts[day]
            bad, back = self._faults[name]
            if not (1 <= date[1] <= _MONTHS and 1 <= date[2] <= _DAYS):
                self._faults[name] = bad + 1, back
            else:
                backwards = date < self._last.get(name, date)
                self._faults[name] = bad, back + backwards
                self._last[name] = date

    def settle(self, preferred: str) -> tuple[str, bool]:
        """Return the best order and whether another fits as well.

        A year of two digits comes first only where that is preferred or nothing else is possible.
        """

        def badness(name: str) -> tuple[int, bool, int, bool]:
            bad, back = self._faults[name]
            unusual = name == "ymd" != preferred and not self._year_first
            return bad, unusual, back, name != preferred

        ranked = sorted(_ORDERS, key=badness)
        best, rival = ranked[:2]
        return best, badness(best)[:-1] == badness(rival)[:-1]


def wall_moment(found: re.Match[str], order: str = "ymd") -> "Moment | None":
    """Return the zone-less moment of a match of ``DATE`` and ``CLOCK``; null if impossible."""
    parts = tuple(int(found[name]) for name in "abc")
    year, month, day = (parts[index] for index in _ORDERS[order])
    hour = _hour(int(found["hour"]), found["before"] or found["after"])
    second = found["second"]
    try:
        when = datetime(  # noqa: DTZ001 (a wall time: the log names no zone)
            year if year >= _CENTURY else 2000 + year,
            month,
            day,
            hour,
            int(found["minute"]),
            int(second or 0),
        )
    except ValueError:
        return None
    return naive_moment(when, "second" if second else "minute")


def naive_moment(when: datetime, precision: str) -> "Moment":
    """Return a wall time whose zone is unknown; precision is ``minute`` or finer."""
    from muniment.store.records import Moment

    spec = {"minute": "minutes", "second": "seconds"}.get(precision, "microseconds")
    local = when.replace(tzinfo=None).isoformat(timespec=spec)
    return Moment(local=local, precision="minute" if precision == "minute" else "second")


def aware_moment(when: datetime) -> "Moment":
    """Return the moment of a datetime with an offset."""
    from muniment.store.records import Moment

    minutes = round((when.utcoffset() or timedelta()).total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return Moment(
        utc=when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        local=when.replace(tzinfo=None).isoformat(timespec="seconds"),
        offset=f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}",
        zone_source="export",
        precision="microsecond" if when.microsecond else "second",
    )


def iso_moment(text: object) -> "Moment | None":
    """Read an ISO 8601 time; without an offset it stays a wall time."""
    if not isinstance(text, str):
        return None
    try:
        when = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    try:
        return naive_moment(when, "second") if when.tzinfo is None else aware_moment(when)
    except OverflowError:
        return None


def unix_moment(seconds: object) -> "Moment | None":
    """Read seconds or milliseconds since 1970, a number or its digits."""
    try:
        number = float(seconds)  # type: ignore[arg-type]  # whatever the file holds
        number = number / 1000 if number >= _MILLISECONDS_FROM else number
        return aware_moment(_EPOCH + timedelta(seconds=number)) if number > 0 else None
    except (TypeError, ValueError, OverflowError):
        return None


def _hour(hour: int, marker: str | None) -> int:
    if marker is None or hour > _NOON:
        return hour
    if marker == "中午":
        return hour if hour >= _NOON - 2 else hour + _NOON
    return hour % _NOON + (_NOON if _IS_AFTERNOON.fullmatch(marker) else 0)
