"""Tags, time, place, chapters, subtitles and covers of media files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from muniment.adapters.media.media_metadata import MetadataReader
from muniment.adapters.ports import Derived, Draft, Finding, PlaceClaim, Source, TimeClaim
from muniment.store.records import TimeLocator

Made = Callable[..., Path]
SourceOf = Callable[..., Source]
TINY = ("-f", "lavfi", "-i", "testsrc=s=64x48:r=5:d=2,format=yuv420p")


def read(path: Path, source_of: SourceOf, tools: Any, family: str = "video") -> list[Finding]:
    return list(MetadataReader().read(source_of(path, family), tools))


def claims(findings: list[Finding]) -> list[TimeClaim]:
    return [finding for finding in findings if isinstance(finding, TimeClaim)]


def drafts(findings: list[Finding], kind: str) -> list[Draft]:
    return [one for one in findings if isinstance(one, Draft) and one.kind == kind]


def test_the_time_in_a_container_is_utc(made: Made, source_of: SourceOf, tools: Any) -> None:
    film = made("mp4", *TINY, "-metadata", "creation_time=2024-05-06T07:08:09Z")

    (claim,) = claims(read(film, source_of, tools))

    assert claim.source == "container"
    assert claim.moment.utc == "2024-05-06T07:08:09.000000Z"
    assert claim.moment.zone_source == "utc"


def test_a_phones_own_time_keeps_its_offset_and_comes_first(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    film = made(
        "mov",
        *TINY,
        *("-movflags", "use_metadata_tags", "-metadata", "creation_time=2024-05-06T07:08:09Z"),
        *("-metadata", "com.apple.quicktime.creationdate=2024-05-06T15:08:09+0800"),
        *("-metadata", "com.apple.quicktime.make=Apple"),
    )

    first, second = claims(read(film, source_of, tools))

    assert first.moment.offset == "+08:00"
    assert first.moment.local == "2024-05-06T15:08:09.000000"
    assert first.moment.utc == second.moment.utc
    assert first.confidence > second.confidence


def test_unset_and_future_times_are_no_claim(made: Made, source_of: SourceOf, tools: Any) -> None:
    for unset in ("1970-01-01T00:00:00Z", "1904-01-01T00:00:00Z", "2190-01-01T00:00:00Z"):
        film = made("mkv", *TINY, "-metadata", f"creation_time={unset}")

        assert claims(read(film, source_of, tools)) == []


def test_a_place_is_read_and_the_null_island_is_none(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    here = made("mp4", *TINY, "-metadata", "location=+31.2304+121.4737/")
    nowhere = made("mp4", *TINY, "-metadata", "location=+00.0000+000.0000/")

    (place,) = [one for one in read(here, source_of, tools) if isinstance(one, PlaceClaim)]

    assert (round(place.latitude, 4), round(place.longitude, 4)) == (31.2304, 121.4737)
    assert not any(isinstance(one, PlaceClaim) for one in read(nowhere, source_of, tools))


def test_the_summary_says_what_a_person_would_ask(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    song = made(
        "mp3",
        *("-f", "lavfi", "-i", "sine=d=2", "-metadata", "title=晨曲"),
        *("-metadata", "artist=Wu Lan", "-metadata", "album=Tea"),
    )

    (draft,) = drafts(read(song, source_of, tools, "audio"), "metadata")

    assert draft.text.splitlines()[:3] == ["Title: 晨曲", "Artist: Wu Lan", "Album: Tea"]
    assert "Audio, 2.0 s, mp3" in draft.text
    assert isinstance(draft.locator, TimeLocator)
    assert abs(draft.locator.end_ms - 2000) < 100


def test_a_turned_film_is_described_as_shown(made: Made, source_of: SourceOf, tools: Any) -> None:
    film = made("mp4", "-i", str(made("mp4", *TINY)), "-c", "copy", "-metadata:s:v", "rotate=90")

    (draft,) = drafts(read(film, source_of, tools), "metadata")

    assert "48×64" in draft.text
    assert "no sound" in draft.text


def test_chapters_have_their_titles_and_spans(
    made: Made, source_of: SourceOf, tools: Any, tmp_path: Path
) -> None:
    listing = tmp_path / "chapters"
    listing.write_text(
        ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=900\ntitle=Start\n"
        "[CHAPTER]\nTIMEBASE=1/1000\nSTART=900\nEND=2000\n"
    )
    film = made("mkv", *TINY, "-i", str(listing), "-map_metadata", "1")

    found = drafts(read(film, source_of, tools), "chapter")

    assert [(draft.text, draft.locator) for draft in found] == [
        ("Start", TimeLocator(start_ms=0, end_ms=900)),
        ("Chapter 2", TimeLocator(start_ms=900, end_ms=2000)),
    ]


def test_embedded_subtitles_become_cues_in_their_language(
    made: Made, source_of: SourceOf, tools: Any, tmp_path: Path
) -> None:
    cues = tmp_path / "cues.srt"
    cues.write_text(
        "1\n00:00:00,200 --> 00:00:01,000\nGood <i>morning</i>\n\n"
        "2\n00:00:01,100 --> 00:00:01,900\n早上好\n"
    )
    for suffix, codec in (("mp4", "mov_text"), ("mkv", "ass"), ("mkv", "webvtt")):
        film = made(
            suffix, *TINY, "-i", str(cues), "-c:s", codec, "-metadata:s:s:0", "language=eng"
        )

        found = drafts(read(film, source_of, tools), "subtitle")

        assert [draft.text for draft in found] == ["Good morning", "早上好"]
        assert found[0].locator == TimeLocator(start_ms=200, end_ms=1000)
        assert found[0].language == "en"


def test_a_cover_is_kept_as_it_lies_in_the_file(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    cover = made("png", "-f", "lavfi", "-i", "color=red:s=64x64", "-frames:v", "1")
    song = made(
        "mp3",
        *("-f", "lavfi", "-i", "sine=d=1", "-i", str(cover), "-map", "0", "-map", "1"),
        *("-c:v", "copy", "-disposition:v", "attached_pic"),
    )

    (derived,) = [one for one in read(song, source_of, tools, "audio") if isinstance(one, Derived)]

    assert (derived.relation, derived.name, derived.observe) == ("cover", "cover.png", False)
    assert derived.data is not None
    assert derived.data.startswith(b"\x89PNG")
