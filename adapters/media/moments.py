"""Times as cameras and containers write them, turned into moments; the implausible is refused."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muniment.store.records import Moment, Precision

EARLIEST_YEAR = 1826
# Zero of the QuickTime clock and of the Unix clock: written by devices that don't know the time.
_UNSET = ((1904, 1, 1), (1970, 1, 1))
_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"
_ISO = re.compile(
    r"(\d{4})[-:](\d\d)[-:](\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?)?"
    r"\s*(Z|[+-]\d\d:?\d\d)?"
)
_PDF = re.compile(r"D:(\d{4})(\d\d)(\d\d)(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?")


def parse_wall_time(text: str) -> datetime | None:
    """Read ``YYYY:MM:DD HH:MM:SS``, ISO 8601 or a date; naive when no zone is written."""
    match = _ISO.match(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    digits = (fraction or "0")[:6].ljust(6, "0")
    try:
        moment = datetime(
            int(year),
            int(month),
            int(day),
            int(hour or 0),
            int(minute or 0),
            min(int(second or 0), 59),
            int(digits),
            tzinfo=parse_offset(zone) if zone else None,
        )
    except ValueError:
        return None
    return moment if plausible(moment) else None


def parse_pdf_time(text: str) -> datetime | None:
    """Read ``D:YYYYMMDDHHmmSS+HH'mm'``."""
    match = _PDF.match(text)
    if match is None:
        return None
    parts = [part or "00" for part in match.groups()[:6]]
    zone = "Z" if match[7] else f"{match[8]}{match[9]}:{match[10] or '00'}" if match[8] else ""
    return parse_wall_time("{}-{}-{}T{}:{}:{}".format(*parts) + zone)


def parse_offset(text: str) -> timezone | None:
    """Read ``Z``, ``+08:00`` or ``-0330``; null when it is none of them."""
    match = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text.strip())
    if match is None:
        return UTC if text.strip() == "Z" else None
    span = timedelta(hours=int(match[2]), minutes=int(match[3]))
    if span > timedelta(hours=14):
        return None
    return timezone(-span if match[1] == "-" else span)


def plausible(moment: datetime) -> bool:
    """Tell whether a recording can have been made then: no clock zero, nothing from tomorrow on."""
    if moment.year < EARLIEST_YEAR or (moment.year, moment.month, moment.day) in _UNSET:
        return False
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware <= datetime.now(UTC) + timedelta(days=1)


def moment_of(
    moment: datetime, zone_source: str | None = None, precision: "Precision | None" = None
) -> "Moment":
    """Build the record: a naive time keeps its wall time and a null instant."""
    from muniment.store.records import Moment

    offset = moment.utcoffset()
    known: Precision = precision or ("microsecond" if moment.microsecond else "second")
    return Moment(
        utc=None if offset is None else moment.astimezone(UTC).strftime(_FORMAT) + "Z",
        local=moment.strftime(_FORMAT)[: 10 if known == "day" else 26],
        offset=None if offset is None else _offset_text(offset),
        zone_source=None if offset is None else zone_source,
        precision=known,
    )


def _offset_text(offset: timedelta) -> str:
    minutes = round(offset.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"
