"""Speech: the gate before the recogniser, times on the timeline, honest endings."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muniment.adapters.media.audio import SpeechReader, pack, speech_pieces, spoken_language
from muniment.adapters.ports import Draft, Outcome, Segment, Source, Transcript, Word
from muniment.store.errors import InputError
from muniment.store.records import TimeLocator

Made = Callable[..., Path]
SourceOf = Callable[..., Source]
SECOND = 16000


class Sound:
    """A PCM stream over samples in memory."""

    start_ms = 0

    def __init__(self, samples: np.ndarray) -> None:
        self.samples = samples
        self.samples_read = 0

    def read(self, count: int) -> np.ndarray:
        block = self.samples[self.samples_read : self.samples_read + count]
        self.samples_read += len(block)
        return block


def tone(*spans: tuple[float, float], length: float) -> np.ndarray:
    samples = np.zeros(int(length * SECOND), dtype=np.float32)
    for start, end in spans:
        samples[int(start * SECOND) : int(end * SECOND)] = 0.5
    return samples


def pieces_of(samples: np.ndarray, tools: Any) -> list[tuple[float, float]]:
    return [
        (start / SECOND, (start + len(piece)) / SECOND)
        for start, piece in speech_pieces(Sound(samples), tools.speech_detector())  # type: ignore[arg-type]  # the part that is used
    ]


def test_each_run_of_speech_has_its_times_and_language(
    beeps: Path, source_of: SourceOf, tools: Any
) -> None:
    drafts = list(SpeechReader().read(source_of(beeps, "audio"), tools))

    assert all(isinstance(draft, Draft) for draft in drafts)
    spans = [draft.locator for draft in drafts if isinstance(draft, Draft)]
    assert spans == [
        TimeLocator(start_ms=750, end_ms=2250),
        TimeLocator(start_ms=4250, end_ms=5250),
    ]
    assert {draft.kind for draft in drafts if isinstance(draft, Draft)} == {"asr"}
    assert {draft.language for draft in drafts if isinstance(draft, Draft)} == {"en"}


def test_silence_is_never_sent_to_the_recogniser(
    made: Made, source_of: SourceOf, fakes: Any
) -> None:
    silence = made("wav", "-f", "lavfi", "-i", "anullsrc=r=16000:cl=mono", "-t", "3")
    transcriber = fakes.Transcriber()

    findings = list(
        SpeechReader().read(source_of(silence, "audio"), fakes.Tools(transcriber=transcriber))
    )

    assert findings == [Outcome("empty", "no_speech", "nobody speaks in it")]
    assert transcriber.asked == []


def test_a_silent_film_is_skipped_not_failed(made: Made, source_of: SourceOf, tools: Any) -> None:
    film = made("mp4", "-f", "lavfi", "-i", "testsrc=s=64x64:d=1", "-pix_fmt", "yuv420p")

    (outcome,) = SpeechReader().read(source_of(film), tools)

    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("skipped", "no_audio")


def test_sound_that_breaks_off_keeps_what_was_heard(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    whole = made("wav", "-f", "lavfi", "-i", "sine=d=20:r=16000").read_bytes()

    *drafts, outcome = SpeechReader().read(source_of(whole[: len(whole) // 2], "audio"), tools)

    assert drafts
    assert isinstance(outcome, Outcome)
    assert (outcome.status, outcome.code) == ("partial", "damaged")


def test_noise_in_the_middle_of_a_stream_keeps_both_ends(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    whole = bytearray(made("flac", "-f", "lavfi", "-i", "sine=d=20:r=16000").read_bytes())
    middle = len(whole) // 2
    whole[middle : middle + 400] = bytes(range(256)) + bytes(144)

    *drafts, outcome = SpeechReader().read(source_of(bytes(whole), "audio"), tools)

    assert isinstance(outcome, Outcome)
    assert outcome.status == "partial"
    last = drafts[-1]
    assert isinstance(last, Draft)
    assert isinstance(last.locator, TimeLocator)
    assert last.locator.end_ms > 18_000


def test_what_can_not_be_decoded_at_all_is_unreadable(
    made: Made, source_of: SourceOf, tools: Any
) -> None:
    whole = made("m4a", "-f", "lavfi", "-i", "sine=d=5").read_bytes()

    with pytest.raises(InputError):
        list(SpeechReader().read(source_of(whole[:1200], "audio"), tools))


def test_no_piece_is_longer_than_the_recogniser_hears(tools: Any) -> None:
    spans = pieces_of(tone((2, 130), length=140), tools)

    assert all(end - start <= 30 for start, end in spans)
    assert abs(spans[0][0] - 1.75) < 0.2
    assert abs(spans[-1][1] - 130.25) < 0.2
    assert sum(end - start for start, end in spans) >= 128


def test_speech_across_the_edge_of_a_window_stays_whole(tools: Any) -> None:
    ((start, end),) = pieces_of(tone((55, 65), length=100), tools)

    assert start == 54.75
    assert abs(end - 65.25) < 0.1  # the fake detector counts in tenths from the window's start


def test_close_runs_share_a_piece_and_far_ones_do_not(tools: Any) -> None:
    spans = pieces_of(tone((1, 2), (3, 4), (9, 10), length=12), tools)

    assert spans == [(0.75, 4.25), (8.75, 10.25)]


def test_long_speech_is_cut_where_it_is_quietest() -> None:
    window = np.full(60 * SECOND, 0.5, dtype=np.float32)
    window[24 * SECOND : 24 * SECOND + 1600] = 0.01

    (first, *_) = pack([(0, 60 * SECOND)], window, len(window))

    assert abs(first[1] / SECOND - 24.05) < 0.06


def test_text_that_may_be_invented_keeps_its_mark_and_little_trust(
    beeps: Path, source_of: SourceOf, fakes: Any
) -> None:
    answer = Transcript((Segment("thank you", 0, 900, 0.95, suspicious="repetition"),), "en", 0.9)
    tools = fakes.Tools(transcriber=fakes.Transcriber([answer]))

    draft = next(iter(SpeechReader().read(source_of(beeps, "audio"), tools)))

    assert isinstance(draft, Draft)
    assert draft.confidence == 0.3
    assert draft.attributes["suspicious"] == "repetition"


def test_words_carry_times_of_the_recording(beeps: Path, source_of: SourceOf, fakes: Any) -> None:
    answer = Transcript((Segment("hi", 100, 600, 0.9, (Word("hi", 100, 600, 0.8),)),), "en", 0.9)
    tools = fakes.Tools(transcriber=fakes.Transcriber([answer]))

    draft = next(iter(SpeechReader().read(source_of(beeps, "audio"), tools)))

    assert isinstance(draft, Draft)
    assert draft.attributes["words"] == [["hi", 850, 1350, 0.8]]


def test_an_unlikely_language_is_asked_again_as_an_own_one(
    beeps: Path, source_of: SourceOf, fakes: Any
) -> None:
    welsh = Transcript((Segment("x", 0, 500, 0.4),), "cy", 0.3)
    english = Transcript((Segment("hello", 0, 500, 0.9),), "en", 1.0)
    transcriber = fakes.Transcriber([welsh, english])

    first = next(
        iter(SpeechReader().read(source_of(beeps, "audio"), fakes.Tools(transcriber=transcriber)))
    )

    assert isinstance(first, Draft)
    assert (first.text, first.language) == ("hello", "en")
    assert [language for _, language in transcriber.asked] == [None, "en"]


def test_a_language_that_is_sure_stands(beeps: Path, source_of: SourceOf, fakes: Any) -> None:
    german = Transcript((Segment("hallo", 0, 500, 0.9),), "de", 0.95)

    first = next(
        iter(
            SpeechReader().read(
                source_of(beeps, "audio"), fakes.Tools(transcriber=fakes.Transcriber([german]))
            )
        )
    )

    assert isinstance(first, Draft)
    assert first.language == "de"


@pytest.mark.parametrize(
    ("text", "heard", "expected"),
    [
        ("How do I get there", "zh", "en"),
        ("请问图书馆在哪里", "en", "zh"),
        ("12306", "zh", "zh"),
        ("Guten Tag", "de", "de"),
    ],
)
def test_a_segments_script_corrects_its_language(text: str, heard: str, expected: str) -> None:
    assert spoken_language(text, heard, ("en", "zh")) == expected
