"""What a media file says about itself: tags, time, place, chapters, subtitle tracks, cover."""

from collections.abc import Iterator
from typing import Any

from muniment.adapters.media.ffmpeg import compile_command, probe, run_limits
from muniment.adapters.media.moments import moment_of, parse_wall_time
from muniment.adapters.media.occurrences import Occurrences
from muniment.adapters.media.probe import BITMAP_SUBTITLES, Probe, Stream
from muniment.adapters.ports import (
    Derived,
    Draft,
    Finding,
    Outcome,
    PlaceClaim,
    Source,
    TimeClaim,
    Tools,
)
from muniment.adapters.process import run
from muniment.store.errors import InputError

EXACT_BELOW_MS = 10_000
_QUICKTIME_DATE = "com.apple.quicktime.creationdate"
_WORDS = (
    ("Title", ("title",)),
    ("Artist", ("artist", "album_artist")),
    ("Album", ("album",)),
    ("Composer", ("composer",)),
    ("Date", ("date",)),
    ("Genre", ("genre",)),
    ("Show", ("show",)),
    ("Description", ("description", "synopsis", "comment")),
    ("Camera", ("com.apple.quicktime.make", "make", "com.android.manufacturer")),
    ("Model", ("com.apple.quicktime.model", "model", "com.android.model")),
)
_ISO_639_1 = {
    "ara": "ar",
    "ces": "cs",
    "chi": "zh",
    "cmn": "zh",
    "cze": "cs",
    "deu": "de",
    "dut": "nl",
    "eng": "en",
    "fra": "fr",
    "fre": "fr",
    "ger": "de",
    "hin": "hi",
    "ita": "it",
    "jpn": "ja",
    "kor": "ko",
    "nld": "nl",
    "pol": "pl",
    "por": "pt",
    "rus": "ru",
    "spa": "es",
    "swe": "sv",
    "tur": "tr",
    "ukr": "uk",
    "vie": "vi",
    "zho": "zh",
}


class MetadataReader:
    """Reads tags, chapters and embedded subtitles of audio and video."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield claims of time and place, then drafts, then the cover."""
        found = probe(source, tools.limits)
        yield from _claims(found)
        broken: list[str] = []
        occurrences = Occurrences()
        for draft in _drafts(source, found, tools, broken):
            yield occurrences.number(draft)
        if found.cover is not None:
            yield from _cover(source, found, found.cover, tools)
        if broken:
            yield Outcome("partial", "subtitle_unreadable", broken[0])


def _claims(found: Probe) -> Iterator[Finding]:
    local = parse_wall_time(found.tags.get(_QUICKTIME_DATE, ""))
    if local is not None:
        yield TimeClaim(moment_of(local, "container"), "container")
    # By specification UTC, whatever the tag looks like.
    instant = parse_wall_time(found.tags.get("creation_time", "").removesuffix("Z") + "Z")
    if instant is not None:
        yield TimeClaim(moment_of(instant, "utc"), "container", 0.8)
    if found.position is not None:
        latitude, longitude, altitude = found.position
        yield PlaceClaim(latitude, longitude, "container", altitude)


def _drafts(source: Source, found: Probe, tools: Tools, broken: list[str]) -> Iterator[Draft]:
    from muniment.store.records import TimeLocator

    whole = TimeLocator(start_ms=0, end_ms=found.duration_ms or 0)
    yield Draft("metadata", _summary(found), whole, confidence=1.0, attributes=_facts(found))
    for number, chapter in enumerate(found.chapters, 1):
        span = TimeLocator(start_ms=chapter.start_ms, end_ms=chapter.end_ms)
        yield Draft("chapter", chapter.title or f"Chapter {number}", span, confidence=1.0)
    tracks: list[list[tuple[int, int, str]]] = []
    for track in _text_tracks(found):
        try:
            cues = _cues(source, found, track, tools)
        except InputError as error:
            broken.append(error.message)
            continue
        if cues in tracks:
            continue
        tracks.append(cues)
        for start, end, text in cues:
            span = TimeLocator(start_ms=start, end_ms=end)
            yield Draft("subtitle", text, span, confidence=1.0, language=iso_639_1(track.language))


def _summary(found: Probe) -> str:
    lines = [
        f"{name}: {value}"
        for name, keys in _WORDS
        if (value := next((found.tags[key] for key in keys if found.tags.get(key)), ""))
    ]
    lines.append(", ".join(_nature(found)))
    pictures = [track for track in found.subtitles if track.codec in BITMAP_SUBTITLES]
    if pictures:
        lines.append(f"Subtitles kept as pictures, not read: {len(pictures)}")
    if found.position is not None:
        lines.append(f"Place: {found.position[0]:.4f}, {found.position[1]:.4f}")
    return "\n".join(lines)


def _nature(found: Probe) -> Iterator[str]:
    video, audio = found.video, found.audio
    yield "Video" if video else "Audio" if audio else "Media file without sound or picture"
    if found.duration_ms is not None:
        yield _duration_words(found.duration_ms)
    if video:
        width, height = video.display_size
        yield f"{width}×{height}"
        yield video.codec
    if audio:
        yield audio.codec
    elif video:
        yield "no sound"


def _facts(found: Probe) -> dict[str, Any]:
    facts: dict[str, Any] = {"duration_ms": found.duration_ms, "format": found.format}
    if found.video:
        facts["width"], facts["height"] = found.video.display_size
        facts["rotation"] = found.video.rotation
    return facts


def _text_tracks(found: Probe) -> list[Stream]:
    return [track for track in found.subtitles if track.codec not in BITMAP_SUBTITLES]


def _cues(source: Source, found: Probe, track: Stream, tools: Tools) -> list[tuple[int, int, str]]:
    import pysubs2

    argv = compile_command(
        source, found, {}, {"map": f"0:{track.index}", "c:s": "srt", "format": "srt"}
    )
    text = run(argv, run_limits(tools.limits)).decode("utf-8", "replace")
    if not text.strip():
        return []
    cues = pysubs2.SSAFile.from_string(text, format_="srt")
    return [
        (max(0, cue.start), max(0, cue.start, cue.end), words)
        for cue in cues
        if (words := cue.plaintext.strip())
    ]


def _cover(source: Source, found: Probe, cover: Stream, tools: Tools) -> Iterator[Finding]:
    output = {"map": f"0:{cover.index}", "c": "copy", "frames:v": 1, "format": "image2pipe"}
    try:
        picture = run(compile_command(source, found, {}, output), run_limits(tools.limits))
    except InputError:
        return  # an unreadable cover takes nothing from the recording
    if picture:
        suffix = {b"\xff\xd8": "jpg", b"\x89P": "png"}.get(picture[:2], "img")
        yield Derived("cover", name=f"cover.{suffix}", data=picture)


def iso_639_1(language: str | None) -> str | None:
    """Shorten a three-letter language code where a two-letter one is in use."""
    return None if language is None else _ISO_639_1.get(language.lower(), language.lower())


def _duration_words(milliseconds: int) -> str:
    if milliseconds < EXACT_BELOW_MS:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    parts = [f"{hours} h"] if hours else []
    if minutes or hours:
        parts.append(f"{minutes} min")
    return " ".join([*parts, f"{seconds} s"])
