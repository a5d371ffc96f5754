import numpy as np
import pytest
from support import sounds
from support.sounds import RATE

from muniment.adapters.ports import SpeechDetector
from muniment.adapters.tools import LocalTools


@pytest.fixture(scope="module")
def detector(tools: LocalTools) -> SpeechDetector:
    return tools.speech_detector()


def seconds(spans: list[tuple[int, int]]) -> float:
    return sum(end - start for start, end in spans) / RATE


def test_speech_between_silences_is_found_where_it_is(detector: SpeechDetector) -> None:
    spoken = sounds.speech("The meeting about the budget is on Tuesday morning.")
    samples = np.concatenate([sounds.silence(2), spoken, sounds.silence(3)])

    spans = detector.detect(samples)

    assert spans[0][0] / RATE == pytest.approx(2.0, abs=0.5)
    assert spans[-1][1] / RATE == pytest.approx(2.0 + len(spoken) / RATE, abs=0.6)


def test_spans_are_in_order_apart_and_inside(detector: SpeechDetector) -> None:
    spoken = sounds.speech("We will move the office in September.")
    samples = np.concatenate([spoken, sounds.silence(2), spoken, sounds.silence(2), spoken])

    spans = detector.detect(samples)

    edges = [edge for span in spans for edge in span]
    assert len(spans) >= 3
    assert edges == sorted(edges)
    assert edges[0] >= 0
    assert edges[-1] <= len(samples)


@pytest.mark.parametrize(
    "samples",
    [
        pytest.param(sounds.silence(10), id="silence"),
        pytest.param(sounds.white_noise(10), id="white noise"),
        pytest.param(sounds.pink_noise(10), id="pink noise"),
        pytest.param(sounds.pink_noise(10, 0.0002), id="the hiss of a quiet room"),
        pytest.param(sounds.chord(10), id="a chord"),
        pytest.param(sounds.silence(0), id="nothing"),
        pytest.param(np.full(RATE, np.nan, np.float32), id="not numbers"),
    ],
)
def test_what_is_not_speech_gives_no_span(detector: SpeechDetector, samples: np.ndarray) -> None:
    assert detector.detect(samples) == []


def test_speech_below_the_level_of_speech_is_left_out(detector: SpeechDetector) -> None:
    spoken = sounds.speech("The meeting about the budget is on Tuesday morning.")

    assert seconds(detector.detect(spoken)) > 1
    assert detector.detect(spoken * 0.0005) == []


def test_long_speech_is_cut_into_spans_that_fit_one_window(detector: SpeechDetector) -> None:
    sentence = sounds.speech("We walked along the river and talked about the summer.")
    samples = np.tile(sentence, 1 + 70 * RATE // len(sentence))

    spans = detector.detect(samples)

    assert seconds(spans) > 50
    assert max(end - start for start, end in spans) <= 30 * RATE


def test_the_samples_are_left_as_they_were(detector: SpeechDetector) -> None:
    samples = sounds.pink_noise(1)
    before = samples.copy()

    detector.detect(samples)

    assert np.array_equal(samples, before)
