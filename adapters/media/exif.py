"""What a picture's tags claim: when, where, with what, and which words were attached."""

import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from html import unescape
from typing import TYPE_CHECKING, Any

from muniment.adapters.media.moments import moment_of, parse_offset, parse_wall_time
from muniment.adapters.media.probe import is_place
from muniment.adapters.ports import PlaceClaim, TimeClaim

if TYPE_CHECKING:
    from PIL import Image

_EXIF, _GPS = 0x8769, 0x8825
_MAKE, _MODEL, _DESCRIPTION, _ARTIST, _MODIFIED = 0x010F, 0x0110, 0x010E, 0x013B, 0x0132
_ORIGINAL, _DIGITIZED = 0x9003, 0x9004
_OFFSETS = {_MODIFIED: 0x9010, _ORIGINAL: 0x9011, _DIGITIZED: 0x9012}
_FRACTIONS = {_MODIFIED: 0x9290, _ORIGINAL: 0x9291, _DIGITIZED: 0x9292}
_USER_COMMENT, _LENS, _XP_TITLE, _XP_COMMENT = 0x9286, 0xA434, 0x9C9B, 0x9C9C
_TRUST = {_ORIGINAL: 1.0, _DIGITIZED: 0.6, _MODIFIED: 0.4}
_ZONE_STEP = timedelta(minutes=30)
_ZONE_SLACK = timedelta(minutes=5)
_MAX_WORDS = 2000
_COMMENT_CODE = 8
_CLOCK_PARTS = 3
_XMP_TEXT = r"<{0}>\s*(?:<rdf:(?:Alt|Seq|Bag)>)?\s*(.*?)\s*(?:</rdf:(?:Alt|Seq|Bag)>)?\s*</{0}>"
_PLACEHOLDERS = (
    *("olympus digital camera", "sony dsc", "minolta digital camera", "default", "creator: gd-"),
    *(
        "file written by adobe",
        "created with gimp",
        "lavc",
        "intel(r) jpeg",
        "jpeg image generated",
    ),
)


@dataclass(frozen=True, slots=True)
class Tags:
    """The readable part of a picture's tags; what is broken is left out."""

    base: dict[int, Any] = field(default_factory=dict)
    shot: dict[int, Any] = field(default_factory=dict)
    gps: dict[int, Any] = field(default_factory=dict)
    xmp: str = ""
    captions: tuple[str, ...] = ()

    @property
    def camera(self) -> str:
        """Maker and model, the maker said once."""
        make, model = _words(self.base.get(_MAKE)), _words(self.base.get(_MODEL))
        return (
            model if make and model.lower().startswith(make.lower()) else f"{make} {model}".strip()
        )

    @property
    def lens(self) -> str:
        """The lens."""
        return _words(self.shot.get(_LENS))


def read_tags(image: "Image.Image") -> Tags:
    """Collect EXIF, GPS, XMP and IPTC of an opened picture; broken parts give nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of broken tags, which are left out anyway
        base, shot, gps = _exif_parts(image)
        subjects = _iptc_captions(image)
    xmp = _xmp_of(image)
    found = [
        _words(base.get(_DESCRIPTION)),
        _words(base.get(_XP_TITLE), "utf-16-le"),
        _words(base.get(_XP_COMMENT), "utf-16-le"),
        _user_comment(shot.get(_USER_COMMENT)),
        *subjects,
        *(_xmp_words(xmp, name) for name in ("dc:title", "dc:description")),
        *(_words(image.info.get(name)) for name in ("Title", "Description", "Comment", "comment")),
    ]
    known = [text for text in found if text and not text.lower().startswith(_PLACEHOLDERS)]
    return Tags(base, shot, gps, xmp, tuple(dict.fromkeys(known)))


def time_claims(tags: Tags) -> Iterator[TimeClaim]:
    """Yield when the picture was taken, best source first; implausible times give none."""
    instant = _gps_instant(tags.gps)
    for tag in (_ORIGINAL, _DIGITIZED, _MODIFIED):
        wall = parse_wall_time(_words((tags.base if tag == _MODIFIED else tags.shot).get(tag)))
        if wall is None:
            continue
        wall = _with_fraction(wall, tags.shot.get(_FRACTIONS[tag]))
        # Each offset belongs to its own time: OffsetTime is that of the last edit.
        offset = parse_offset(_words(tags.shot.get(_OFFSETS[tag])))
        if offset is not None:
            yield TimeClaim(
                moment_of(wall.replace(tzinfo=offset), "exif"), "exif_offset", _TRUST[tag]
            )
            return
        zone = _zone_between(wall, instant) if tag != _MODIFIED else None
        if zone is not None:
            yield TimeClaim(
                moment_of(wall.replace(tzinfo=zone), "gps"), "exif_gps", 0.9 * _TRUST[tag]
            )
        else:
            # A satellite time that no zone reconciles with the clock is an old fix: left out.
            yield TimeClaim(moment_of(wall), "exif", _TRUST[tag])
        return
    if instant is not None:
        yield TimeClaim(moment_of(instant, "gps"), "exif_gps", 0.5)
    yield from _xmp_claims(tags.xmp)


def place_claim(tags: Tags) -> PlaceClaim | None:
    """Return where the picture was taken; both references are required, 0,0 is an unset value."""
    latitude = _degrees(tags.gps.get(2), tags.gps.get(1), "NS")
    longitude = _degrees(tags.gps.get(4), tags.gps.get(3), "EW")
    if latitude is None or longitude is None or not is_place(latitude, longitude):
        return None
    height = _number(tags.gps.get(6))
    if height is not None and tags.gps.get(5) in (1, b"\x01"):
        height = -height
    return PlaceClaim(latitude, longitude, "exif", height)


def _exif_parts(image: "Image.Image") -> tuple[dict[int, Any], dict[int, Any], dict[int, Any]]:
    readers: tuple[Callable[[], dict[int, Any]], ...] = (
        lambda: dict(image.getexif()),
        lambda: dict(image.getexif().get_ifd(_EXIF)),
        lambda: dict(image.getexif().get_ifd(_GPS)),
    )
    parts: list[dict[int, Any]] = []
    for read in readers:
        try:
            parts.append(read())
        except Exception:  # the parser raises whatever a broken tag makes it raise
            parts.append({})
    return parts[0], parts[1], parts[2]


def _xmp_of(image: "Image.Image") -> str:
    raw = image.info.get("xmp") or image.info.get("XML:com.adobe.xmp") or b""
    return raw if isinstance(raw, str) else bytes(raw).decode("utf-8", "replace")


def _xmp_words(xmp: str, name: str) -> str:
    match = re.search(_XMP_TEXT.format(name), xmp[:1_000_000], re.DOTALL)
    if match is None:
        return ""
    return _words(unescape(re.sub(r"<[^>]*>", " ", match[1])))


def _xmp_claims(xmp: str) -> Iterator[TimeClaim]:
    for name in ("exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"):
        match = re.search(rf"{name}(?:=\"|>)([^\"<]+)", xmp)
        wall = parse_wall_time(match[1]) if match else None
        if wall is not None:
            yield TimeClaim(
                moment_of(wall, "xmp"), "exif" if wall.tzinfo is None else "exif_offset", 0.6
            )
            return


def _iptc_captions(image: "Image.Image") -> list[str]:
    from PIL import IptcImagePlugin

    try:
        info = IptcImagePlugin.getiptcinfo(image) or {}  # type: ignore[arg-type]  # opened from a file
    except Exception:  # as above
        return []
    found = [info.get(key) for key in ((2, 5), (2, 120), (2, 25))]
    flat = [value for item in found for value in (item if isinstance(item, list) else [item])]
    return [_words(value) for value in flat]


def _words(value: object, encoding: str = "utf-8") -> str:
    """Return a tag as clean text, whatever type it was stored as."""
    if isinstance(value, tuple):
        try:
            value = bytes(value)
        except (TypeError, ValueError):
            return ""
    text = _decoded(value, encoding) if isinstance(value, bytes) else _meant(value)
    if not isinstance(text, str):
        return ""
    printable = "".join(one if one.isprintable() else " " for one in text)
    return " ".join(printable.split())[:_MAX_WORDS]


def _meant(value: object) -> object:
    """Return what a tag of ASCII type says: such tags hold UTF-8, and Pillow reads Latin-1."""
    if not isinstance(value, str) or value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _decoded(value: bytes, encoding: str) -> str:
    try:
        return value.decode(encoding)
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _user_comment(value: object) -> str:
    if not isinstance(value, bytes):
        return ""
    code, text = value[:_COMMENT_CODE].rstrip(b"\x00 ").upper(), value[_COMMENT_CODE:]
    if code == b"UNICODE":
        # The standard leaves the byte order open; letters of most scripts tell it.
        little = text[1::2].count(0) > text[::2].count(0)
        return _words(text, "utf-16-le" if little else "utf-16-be")
    return _words(text) if code in (b"ASCII", b"") else ""


def _with_fraction(wall: datetime, value: object) -> datetime:
    digits = _words(value)
    return wall.replace(microsecond=int(digits[:6].ljust(6, "0"))) if digits.isdecimal() else wall


def _number(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]  # a rational, a number or nonsense
    except (TypeError, ValueError, ZeroDivisionError):
        return None
    return number if math.isfinite(number) else None


def _degrees(value: object, reference: object, letters: str) -> float | None:
    letter = _words(reference).upper()[:1]
    if not letter or letter not in letters or not isinstance(value, tuple) or not value:
        return None
    parts = [_number(part) for part in value[:3]]
    if any(part is None for part in parts):
        return None
    degrees = sum((part or 0.0) / 60**power for power, part in enumerate(parts))
    return -degrees if letter == letters[1] else float(degrees)


def _gps_instant(gps: dict[int, Any]) -> datetime | None:
    clock = gps.get(7)
    if not isinstance(clock, tuple) or len(clock) != _CLOCK_PARTS:
        return None
    hour, minute, second = (_number(part) for part in clock)
    if hour is None or minute is None or second is None:
        return None
    day = _words(gps.get(29)).replace(":", "-")
    return parse_wall_time(f"{day}T{int(hour):02d}:{int(minute):02d}:{int(second):02d}Z")


def _zone_between(wall: datetime, instant: datetime | None) -> timezone | None:
    """Return the zone that turns the satellite's instant into the wall time, if one does."""
    if instant is None:
        return None
    span = wall.replace(tzinfo=UTC, microsecond=0) - instant
    offset = round(span / _ZONE_STEP) * _ZONE_STEP
    if abs(span - offset) > _ZONE_SLACK or abs(offset) > timedelta(hours=14):
        return None
    return timezone(offset)
