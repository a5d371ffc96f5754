"""What ffprobe says of a file, as plain values: streams, times, chapters, tags."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_ISO_6709 = re.compile(r"([+-]\d+(?:\.\d+)?)([+-]\d+(?:\.\d+)?)([+-]\d+(?:\.\d+)?)?")
MAX_LATITUDE, MAX_LONGITUDE = 90, 180
_UNDECODABLE = ("", "none", "unknown")
BITMAP_SUBTITLES = ("hdmv_pgs_subtitle", "dvd_subtitle", "dvb_subtitle", "xsub", "dvb_teletext")


@dataclass(frozen=True, slots=True)
class Stream:
    """One stream; ``start_ms`` counts from the container's start, ``rotation`` is clockwise."""

    index: int
    kind: str
    codec: str
    language: str | None = None
    default: bool = False
    attached_picture: bool = False
    start_ms: int = 0
    duration_ms: int | None = None
    width: int = 0
    height: int = 0
    rotation: int = 0
    pixel_aspect: float = 1.0
    channels: int = 0

    @property
    def display_size(self) -> tuple[int, int]:
        """Width and height as shown: square pixels, sides swapped on a quarter turn."""
        width, height = max(1, round(self.width * self.pixel_aspect)), self.height
        return (height, width) if self.rotation in (90, 270) else (width, height)


@dataclass(frozen=True, slots=True)
class Chapter:
    """A titled span of the timeline."""

    title: str
    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class Probe:
    """A media file at a glance; ``duration_ms`` is null where the file doesn't say."""

    demuxers: str
    format: str
    duration_ms: int | None
    streams: tuple[Stream, ...]
    chapters: tuple[Chapter, ...]
    tags: Mapping[str, str]

    @property
    def video(self) -> Stream | None:
        """The moving picture to look at; cover art is none."""
        return _best(
            [
                stream
                for stream in self.streams
                if stream.kind == "video" and not stream.attached_picture and stream.width > 0
            ]
        )

    @property
    def audio(self) -> Stream | None:
        """The sound to listen to."""
        return _best([stream for stream in self.streams if stream.kind == "audio"])

    @property
    def cover(self) -> Stream | None:
        """The cover art."""
        return next((stream for stream in self.streams if stream.attached_picture), None)

    @property
    def subtitles(self) -> tuple[Stream, ...]:
        """All subtitle tracks, pictures of text included."""
        return tuple(stream for stream in self.streams if stream.kind == "subtitle")

    @property
    def position(self) -> tuple[float, float, float | None] | None:
        """Latitude, longitude and altitude; null for the null island and for nonsense."""
        for key in ("com.apple.quicktime.location.iso6709", "location", "location-eng"):
            if found := parse_iso6709(self.tags.get(key, "")):
                return found
        return None


def parse_iso6709(text: str) -> tuple[float, float, float | None] | None:
    """Read ``+12.3456-098.7654+010.500/`` in decimal degrees; 0,0 is an unset value."""
    match = _ISO_6709.match(text.strip())
    if match is None:
        return None
    latitude, longitude = float(match[1]), float(match[2])
    if not is_place(latitude, longitude):
        return None
    return latitude, longitude, float(match[3]) if match[3] else None


def is_place(latitude: float, longitude: float) -> bool:
    """Tell a position on Earth from an unset or broken one; 0,0 is what devices write unset."""
    return (
        abs(latitude) <= MAX_LATITUDE
        and abs(longitude) <= MAX_LONGITUDE
        and (latitude != 0 or longitude != 0)
    )


def parse_probe(document: Mapping[str, Any], demuxers: str) -> Probe:
    """Build a :class:`Probe` from ffprobe's JSON."""
    form = document.get("format", {})
    origin = seconds(form.get("start_time")) or 0.0
    streams = tuple(_stream(item, origin) for item in document.get("streams", ()))
    usable = tuple(stream for stream in streams if stream.codec not in _UNDECODABLE)
    spans = [stream.duration_ms for stream in usable if stream.duration_ms is not None]
    return Probe(
        demuxers=demuxers,
        format=str(form.get("format_name", "")),
        duration_ms=_milliseconds(form.get("duration")) or (max(spans) if spans else None),
        streams=usable,
        chapters=tuple(_chapter(item, origin) for item in document.get("chapters", ())),
        tags=_tags(document),
    )


def seconds(value: object) -> float | None:
    """Read a number of seconds as ffprobe writes it; ``N/A`` is null."""
    try:
        return float(str(value))
    except ValueError:
        return None


def _best(streams: list[Stream]) -> Stream | None:
    return next((stream for stream in streams if stream.default), streams[0] if streams else None)


def _milliseconds(value: object) -> int | None:
    number = seconds(value)
    return None if number is None or number <= 0 else round(number * 1000)


def _stream(item: Mapping[str, Any], origin: float) -> Stream:
    disposition = item.get("disposition", {})
    tags = {key.lower(): str(value) for key, value in item.get("tags", {}).items()}
    start = seconds(item.get("start_time"))
    language = tags.get("language", "und")
    return Stream(
        index=int(item["index"]),
        kind=str(item.get("codec_type", "")),
        codec=str(item.get("codec_name", "")),
        language=None if language == "und" else language,
        default=bool(disposition.get("default")),
        attached_picture=bool(disposition.get("attached_pic")),
        start_ms=0 if start is None else max(0, round((start - origin) * 1000)),
        duration_ms=_milliseconds(item.get("duration")),
        width=int(item.get("width", 0)),
        height=int(item.get("height", 0)),
        rotation=_rotation(item, tags),
        pixel_aspect=_ratio(str(item.get("sample_aspect_ratio", "1:1"))),
        channels=int(item.get("channels", 0)),
    )


def _rotation(item: Mapping[str, Any], tags: Mapping[str, str]) -> int:
    # The matrix counts counter-clockwise, the old tag clockwise; either may be negative.
    for side in item.get("side_data_list", ()):
        if "rotation" in side:
            return round(-float(side["rotation"]) / 90) * 90 % 360
    turned = seconds(tags.get("rotate"))
    return 0 if turned is None else round(turned / 90) * 90 % 360


def _ratio(text: str) -> float:
    left, _, right = text.partition(":")
    if not (left.isdigit() and right.isdigit()) or not int(left) or not int(right):
        return 1.0
    return min(8.0, max(0.125, int(left) / int(right)))


def _chapter(item: Mapping[str, Any], origin: float) -> Chapter:
    start = max(0.0, (seconds(item.get("start_time")) or 0.0) - origin)
    end = max(start, (seconds(item.get("end_time")) or 0.0) - origin)
    tags = {key.lower(): str(value) for key, value in item.get("tags", {}).items()}
    return Chapter(tags.get("title", "").strip(), round(start * 1000), round(end * 1000))


def _tags(document: Mapping[str, Any]) -> dict[str, str]:
    # Ogg keeps its tags on the stream; the container's own win where both are present.
    found: dict[str, str] = {}
    streams = document.get("streams", ())
    for holder in (document.get("format", {}), *streams):
        for key, value in holder.get("tags", {}).items():
            found.setdefault(key.lower(), str(value).strip())
    return found
