"""Instants and wall times as the store writes them; nothing here reads the host's zone."""

from datetime import UTC, datetime, timedelta, timezone

_FORMAT = "%Y-%m-%dT%H:%M:%S.%f"
_FIRST = "0001-01-01T00:00:00.000000Z"
_LAST = "9999-12-31T23:59:59.999999Z"
_CUT = {"year": 4, "month": 7, "day": 10, "hour": 13, "minute": 16, "second": 19, "microsecond": 26}


def now() -> str:
    """Return the current instant as ``YYYY-MM-DDTHH:MM:SS.ffffffZ``."""
    return utc_text(datetime.now(UTC))


def utc_text(moment: datetime) -> str:
    """Write an aware datetime as a UTC instant; one past the calendar's ends is its end."""
    try:
        return _wall(moment.astimezone(UTC)) + "Z"
    except OverflowError:
        return _FIRST if moment.year == 1 else _LAST


def local_text(moment: datetime, precision: str = "microsecond") -> str:
    """Write the wall time of a datetime, cut at ``precision``."""
    return _wall(moment)[: _CUT.get(precision, _CUT["microsecond"])]


def _wall(moment: datetime) -> str:
    """Write date and time; unlike ``strftime`` with four digits of the year on every platform."""
    return moment.isoformat(timespec="microseconds")[: _CUT["microsecond"]]


def moment_fields(
    moment: datetime, *, zone_source: str | None = None, precision: str = "second"
) -> dict[str, str | None]:
    """Return the fields of a :class:`~muniment.store.records.Moment` for a datetime.

    A naive one is a wall time without a zone and keeps ``utc`` null.
    """
    offset = moment.utcoffset()
    return {
        "utc": None if offset is None else utc_text(moment),
        "local": local_text(moment, precision),
        "offset": None if offset is None else offset_text(offset),
        "zone_source": None if offset is None else zone_source,
        "precision": precision,
    }


def offset_text(offset: timedelta) -> str:
    """Write an offset as ``+HH:MM``."""
    minutes = round(offset.total_seconds() / 60)
    sign = "-" if minutes < 0 else "+"
    return f"{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def parse_utc(text: str) -> datetime:
    """Read an instant written by :func:`utc_text`; ``ValueError`` for anything else."""
    if len(text) != len(_FIRST) or text[-1] != "Z":
        raise ValueError(f"not an instant: {text!r}")
    return datetime.fromisoformat(text)  # ten times as fast as ``strptime``


def parse_local(text: str) -> datetime:
    """Read a wall time of any precision as a naive datetime, missing parts at their least."""
    pattern = "0001-01-01T00:00:00.000000"
    return datetime.strptime(text + pattern[len(text) :], _FORMAT)  # noqa: DTZ007 (a wall time)


def sort_key(moment: dict[str, str | None] | None, zone: timezone = UTC) -> str | None:
    """Return the instant that a moment sorts by; zone-less wall times are read in ``zone``."""
    if moment is None:
        return None
    if moment.get("utc"):
        return moment["utc"]
    return utc_text(parse_local(moment["local"] or "").replace(tzinfo=zone))
