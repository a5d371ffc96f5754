"""Times of capture that need no decoding: the file's name and its modification time."""

import re
from datetime import UTC, datetime

from muniment.store.times import moment_fields

# CONTRACT 3.2: the least rank is the best source.
RANKS = {
    "exif_offset": 10,
    "exif_gps": 20,
    "exif": 30,
    "sidecar": 40,
    "container": 50,
    "header": 60,
    "file_name": 70,
    "mtime": 80,
}
_DATE = r"(?P<y>(?:19[89]|20[0-9])\d)[-_.]?(?P<m>0[1-9]|1[0-2])[-_.]?(?P<d>0[1-9]|[12]\d|3[01])"
_TIME = r"(?P<H>[01]\d|2[0-3])[-_.h:]?(?P<M>[0-5]\d)[-_.m:]?(?P<S>[0-5]\d)?"
_NAME = re.compile(rf"(?<!\d){_DATE}(?:(?:[ _T-]|\sat\s)+{_TIME}(?!\d))?(?![\d])")


def time_in_name(name: str, today: datetime) -> dict[str, str | None] | None:
    """Return the date (and time) that a file name tells, when it is plausible.

    Plausible: a real date from 1980 to tomorrow. A wall time without a zone.
    """
    found = _NAME.search(name)
    if found is None:
        return None
    parts = found.groupdict()
    year, month, day, hour, minute, second = (int(parts[unit] or 0) for unit in "ymdHMS")
    try:
        moment = datetime(year, month, day, hour, minute, second)  # noqa: DTZ001 (a wall time)
    except ValueError:
        return None
    if (moment - today.replace(tzinfo=None)).days > 0:
        return None
    precision = "day" if parts["H"] is None else "minute" if parts["S"] is None else "second"
    return moment_fields(moment, precision=precision)


def time_of_change(mtime_ns: int) -> dict[str, str | None] | None:
    """Return a file's modification time; the epoch itself means that nobody set one."""
    seconds, nanoseconds = divmod(mtime_ns, 1_000_000_000)
    if seconds <= 0:
        return None
    try:
        moment = datetime.fromtimestamp(seconds, UTC).replace(microsecond=nanoseconds // 1000)
    except (ValueError, OverflowError, OSError):
        return None
    return moment_fields(moment, zone_source="utc", precision="microsecond")
