"""What a file beside a picture or film says of it: a photo takeout's JSON, XMP."""

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from muniment.adapters.media.exif import Tags, time_claims
from muniment.adapters.media.moments import moment_of, plausible
from muniment.adapters.media.probe import is_place
from muniment.adapters.ports import PlaceClaim, TimeClaim

MAX_BYTES = 1024 * 1024
_SOURCE = "sidecar"
_WORDS = 2_000
_POSITIONS = ("geoData", "geoDataExif")
_DEGREES = re.compile(r"(\d+),(\d+(?:\.\d+)?)(?:,(\d+(?:\.\d+)?))?([NSEW])")
_POSITION = r"exif:{}(?:=\"|>)\s*([^\"<]+)"


@dataclass(frozen=True, slots=True)
class Sidecar:
    """Claims about the file beside it, and words that are kept with the link."""

    times: tuple[TimeClaim, ...] = ()
    places: tuple[PlaceClaim, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


def read_sidecar(data: bytes, name: str) -> Sidecar | None:
    """Read a sidecar's bytes; null when it is none after all."""
    if len(data) > MAX_BYTES:
        return None
    text = data.decode("utf-8-sig", "replace")
    return _takeout(text) if name.lower().endswith(".json") else _xmp(text)


def _takeout(text: str) -> Sidecar | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("photoTakenTime"), dict):
        return None
    # Its creationTime is that of the upload, and says nothing of the shot.
    taken = _instant(found["photoTakenTime"].get("timestamp"))
    times = (TimeClaim(moment_of(taken, "utc", "second"), _SOURCE, 0.9),) if taken else ()
    return Sidecar(times, tuple(_positions(found)), tuple(_facts(found)))


def _instant(timestamp: Any) -> datetime | None:
    try:
        moment = datetime.fromtimestamp(int(timestamp), UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
    return moment if plausible(moment) else None


def _positions(found: dict[str, Any]) -> Iterator[PlaceClaim]:
    for name in _POSITIONS:
        data = found.get(name)
        if not isinstance(data, dict):
            continue
        latitude, longitude = _number(data.get("latitude")), _number(data.get("longitude"))
        if latitude is not None and longitude is not None and is_place(latitude, longitude):
            yield PlaceClaim(latitude, longitude, _SOURCE, _number(data.get("altitude")) or None)
            return


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _facts(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("title", "description"):
        if isinstance(found.get(name), str) and found[name].strip():
            yield name, found[name].strip()[:_WORDS]
    people = found.get("people")
    if isinstance(people, list):
        named = [one["name"] for one in people if isinstance(one, dict) and _is_name(one)]
        if named:
            yield "people", ", ".join(named)[:_WORDS]


def _is_name(person: dict[str, Any]) -> bool:
    return isinstance(person.get("name"), str) and bool(person["name"].strip())


def _xmp(text: str) -> Sidecar | None:
    if "xmpmeta" not in text and "rdf:RDF" not in text:
        return None
    claims = (replace(claim, source=_SOURCE) for claim in time_claims(Tags(xmp=text)))
    latitude, longitude = _degrees(text, "GPSLatitude"), _degrees(text, "GPSLongitude")
    known = latitude is not None and longitude is not None and is_place(latitude, longitude)
    places = (PlaceClaim(latitude or 0.0, longitude or 0.0, _SOURCE),) if known else ()
    return Sidecar(tuple(claims), places)


def _degrees(text: str, name: str) -> float | None:
    found = re.search(_POSITION.format(name), text)
    parts = _DEGREES.fullmatch(found[1].strip()) if found else None
    if parts is None:
        return None
    degrees = int(parts[1]) + float(parts[2]) / 60 + float(parts[3] or 0) / 3600
    return -degrees if parts[4] in "SW" else degrees
