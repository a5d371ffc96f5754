import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from support import sounds

from muniment.adapters.ports import Transcriber, Transcript
from muniment.adapters.tools import LocalTools

SENTENCE = "The meeting about the budget is on Tuesday morning."


@pytest.fixture(scope="module")
def transcriber(tools: LocalTools) -> Transcriber:
    return tools.transcriber()


@pytest.fixture(scope="module")
def heard(transcriber: Transcriber) -> Transcript:
    return transcriber.transcribe(sounds.speech(SENTENCE))


def words(transcript: Transcript) -> list[str]:
    text = " ".join(segment.text for segment in transcript.segments)
    return re.findall(r"[a-z]+", text.lower())


def test_speech_becomes_text_in_its_language(heard: Transcript) -> None:
    expected = re.findall(r"[a-z]+", SENTENCE.lower())

    assert len(set(words(heard)) & set(expected)) >= len(expected) - 2
    assert heard.language == "en"
    assert heard.language_confidence > 0.5


def test_segments_and_words_lie_in_order_inside_the_samples(heard: Transcript) -> None:
    length = len(sounds.speech(SENTENCE)) / sounds.RATE * 1000
    times = [
        time
        for part in heard.segments
        for word in part.words
        for time in (word.start_ms, word.end_ms)
    ]

    assert len(times) // 2 == len(words(heard))
    assert times == sorted(times)
    assert 0 <= times[0] < times[-1] <= length + 100
    assert all(segment.start_ms < segment.end_ms for segment in heard.segments)


def test_clear_speech_is_believed(heard: Transcript) -> None:
    assert all(0.4 < segment.confidence <= 1.0 for segment in heard.segments)
    assert {segment.suspicious for segment in heard.segments} == {""}
    assert all(0 <= word.confidence <= 1 for part in heard.segments for word in part.words)


def test_the_same_samples_give_the_same_transcript(
    transcriber: Transcriber, heard: Transcript
) -> None:
    assert transcriber.transcribe(sounds.speech(SENTENCE)) == heard


@pytest.mark.parametrize(
    "samples",
    [
        pytest.param(sounds.silence(10), id="silence"),
        pytest.param(sounds.silence(0), id="nothing"),
        pytest.param(np.full(sounds.RATE, np.nan, np.float32), id="not numbers"),
    ],
)
def test_silence_gives_no_segments(transcriber: Transcriber, samples: np.ndarray) -> None:
    assert transcriber.transcribe(samples).segments == ()


def test_noise_gives_nothing_that_is_believed(transcriber: Transcriber) -> None:
    noise = transcriber.transcribe(sounds.pink_noise(10))

    assert all(part.suspicious or part.confidence < 0.4 for part in noise.segments)


def test_a_given_language_is_used(transcriber: Transcriber) -> None:
    heard = transcriber.transcribe(sounds.speech("Guten Morgen", "de"), language="de")

    assert (heard.language, heard.language_confidence) == ("de", 1.0)


@pytest.mark.corpus
def test_a_public_recording_of_chinese_is_heard_as_chinese(
    transcriber: Transcriber, corpus: Path
) -> None:
    clip = corpus / "audio" / "speech-zh" / "asr_example.wav"
    raw = subprocess.run(
        ["ffmpeg", "-v", "error", "-i", clip, "-f", "f32le", "-ac", "1", "-ar", "16000", "-"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    ).stdout

    heard = transcriber.transcribe(np.frombuffer(raw, np.float32))

    assert heard.language == "zh"
    assert "欢迎大家来体验达摩院推出的" in "".join(part.text for part in heard.segments)
