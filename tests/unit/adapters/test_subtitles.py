from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from muniment.adapters.formats.subtitles import SubtitleReader
from muniment.adapters.ports import Draft, Finding, Limits, Outcome, Source, Tools
from muniment.store.errors import InputError
from muniment.store.records import TimeLocator


@dataclass
class FakeTools:
    limits: Limits = field(default_factory=Limits)


def read(text: str | bytes, media_type: str = "application/x-subrip") -> list[Finding]:
    data = text.encode() if isinstance(text, str) else text
    source = Source("sha256:0", len(data), media_type, "subtitle", "a", Path(), data=data)
    return list(SubtitleReader().read(source, cast("Tools", FakeTools())))


def cues(text: str | bytes, media_type: str = "application/x-subrip") -> list[tuple[int, int, str]]:
    found = []
    for draft in read(text, media_type):
        assert isinstance(draft, Draft)
        assert isinstance(draft.locator, TimeLocator)
        found.append((draft.locator.start_ms, draft.locator.end_ms, draft.text))
    return found


def test_srt_cues_keep_their_times() -> None:
    text = (
        "1\r\n00:00:01,000 --> 00:00:02,500\r\nHello\r\nthere\r\n\r\n"
        "2\r\n01:00:00,000 --> 01:00:01,000\r\n你好\r\n"
    )

    assert cues(text) == [(1000, 2500, "Hello\nthere"), (3_600_000, 3_601_000, "你好")]


def test_webvtt_hours_may_be_missing() -> None:
    text = "WEBVTT\n\n00:16.500 --> 00:18.500 align:start\nmoon <00:17.500>eye\n"

    assert cues(text, "text/vtt") == [(16_500, 18_500, "moon eye")]


def test_notes_and_styles_are_not_spoken() -> None:
    text = (
        "WEBVTT\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE a --> b\n\n"
        "1\n00:01.000 --> 00:02.000\nhi\n\nNOTE done\n"
    )

    assert cues(text, "text/vtt") == [(1000, 2000, "hi")]


def test_tags_and_entities_are_resolved_and_a_voice_is_the_author() -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v.loud Ann Lee><i>salt &amp; tea</i></v>\n"
    (draft,) = read(text, "text/vtt")

    assert isinstance(draft, Draft)
    assert (draft.author, draft.text) == ("Ann Lee", "salt & tea")


def test_cues_without_a_blank_line_between_them_are_told_apart() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\na\n2\n00:00:03,000 --> 00:00:04,000\nb\n"

    assert cues(text) == [(1000, 2000, "a"), (3000, 4000, "b")]


def test_a_cue_without_times_makes_the_file_partial() -> None:
    *found, outcome = read("1\n00:00:01,000 --> 00:00:02,000\na\n\n2\nno time\n")

    assert len(found) == 1
    assert outcome == Outcome("partial", "broken_cues", "1 cues have no usable times")


def test_a_cue_that_ends_before_it_starts_is_broken() -> None:
    (outcome,) = read("1\n00:00:05,000 --> 00:00:02,000\na\n")

    assert cast("Outcome", outcome).status == "failed"


def test_a_silent_cue_is_left_out_quietly() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\n\n2\n00:00:03,000 --> 00:00:04,000\nb\n"

    assert cues(text) == [(3000, 4000, "b")]


def test_equal_times_are_told_apart_by_occurrence() -> None:
    found = read("00:01.000 --> 00:02.000\nok\n\n00:01.000 --> 00:02.000\nok\n", "text/vtt")

    assert [cast("Draft", draft).occurrence for draft in found] == [0, 1]


SCRIPT = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,nothing
Dialogue: 0,0:00:03.00,0:00:04.50,Default,Bo,0,0,0,,{\\\\i1}Good\\\\Nnight{\\\\i0}
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,First
Dialogue: 0,0:00:05.00,0:00:06.00,Default,,0,0,0,,{\\\\p1}m 0 0 l 10 10{\\\\p0}
""".replace("\\\\", "\\")


def test_scripts_give_their_dialogue_in_order() -> None:
    first, second = read(SCRIPT, "text/x-ssa")

    assert cast("Draft", first).text == "First"
    assert cast("Draft", second).text == "Good\nnight"
    assert cast("Draft", second).author == "Bo"
    assert cast("Draft", second).locator == TimeLocator(start_ms=3000, end_ms=4500)


def test_a_script_without_dialogue_is_empty() -> None:
    (outcome,) = read("[Script Info]\nTitle: none\n", "text/x-ssa")

    assert cast("Outcome", outcome).status == "empty"


def test_a_script_with_broken_times_is_the_inputs_fault() -> None:
    with pytest.raises(InputError):
        read(SCRIPT.replace("0:00:01.00,0:00:02.00", "nonsense,0:00:02.00"), "text/x-ssa")


def test_legacy_encodings_are_read() -> None:
    text = "1\n00:00:01,000 --> 00:00:02,000\n今天我们去公园\n"

    assert cues(text.encode("gb18030")) == [(1000, 2000, "今天我们去公园")]


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "media_type", "count", "partial"),
    [
        ("captions_with_bom.vtt", "text/vtt", 4, False),
        ("comments.vtt", "text/vtt", 3, False),
        ("missing_timeframe.srt", "application/x-subrip", 4, True),
        ("invalid.vtt", "application/x-subrip", 7, False),
        ("moviepy_subtitles.srt", "application/x-subrip", 5, False),
        ("sample.srt", "application/x-subrip", 5, False),
        ("sample.vtt", "text/vtt", 16, False),
        ("test_subrip.srt", "application/x-subrip", 10, False),
        ("shaka_chapters.vtt", "text/vtt", 3, False),
    ],
)
def test_public_files_give_all_their_cues(
    corpus: Path, name: str, media_type: str, count: int, partial: bool
) -> None:
    found = read((corpus / "chats" / "subtitles" / name).read_bytes(), media_type)

    assert sum(isinstance(finding, Draft) for finding in found) == count
    assert isinstance(found[-1], Outcome) is partial
