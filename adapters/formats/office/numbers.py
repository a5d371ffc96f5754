"""Numbers of cells as people see them: dates where the format says so."""

import re
from datetime import UTC, datetime, timedelta

# The formats of every book that show dates or times (others are in its styles).
BUILT_IN_DATES = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
_LITERAL = re.compile(r"\"[^\"]*\"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]", re.I)
_DATE = re.compile(r"[ymdhs年月日]", re.I)
_EPOCHS = {False: datetime(1899, 12, 30, tzinfo=UTC), True: datetime(1904, 1, 1, tzinfo=UTC)}
# Before it, the calendar of spreadsheets counts a day in 1900 that never was.
_FIRST_RIGHT_DAY = 60
_LAST_DAY = 2_958_466
_HALF_SECOND = timedelta(milliseconds=500)


def is_date_format(code: str) -> bool:
    """Tell whether a number format shows a date or a time."""
    first = _LITERAL.sub("", code.partition(";")[0])
    return _DATE.search(first) is not None and "general" not in first.lower()


def date_text(number: float, *, since_1904: bool = False) -> str | None:
    """Return a serial day as ISO 8601, a fraction of a day as a time; null outside the calendar."""
    if not 0 <= number < _LAST_DAY:
        return None
    if number < 1 and not since_1904:
        return _clock(_EPOCHS[False] + timedelta(days=number))
    if number < _FIRST_RIGHT_DAY and not since_1904:
        number += 1
    when = _EPOCHS[since_1904] + timedelta(days=number)
    clock = _clock(when)
    rounded = when + _HALF_SECOND
    return f"{rounded:%Y-%m-%d}" + ("" if clock == "00:00" else f" {clock}")


def number_text(number: float) -> str:
    """Return a number without the noise of its last binary digits."""
    return f"{number:.15g}" if number != int(number) or abs(number) >= 1e15 else str(int(number))  # noqa: PLR2004 (where floats stop counting by ones)


def _clock(when: datetime) -> str:
    rounded = when + _HALF_SECOND
    return f"{rounded:%H:%M:%S}" if rounded.second else f"{rounded:%H:%M}"
