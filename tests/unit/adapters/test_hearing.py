import pytest

from muniment.adapters.models import hearing

SPEECH = "And so, my fellow Americans, ask not what your country can do for you."


@pytest.mark.parametrize(
    "text",
    [
        "la " * 40,
        "a" * 5000,
        "谢谢大家 " * 12,
        "I'm going to go. " * 8,
        "Hello there. " + "thank you very much " * 10,
    ],
)
def test_a_loop_is_suspicious(text: str) -> None:
    assert hearing.suspicion(text, -0.2, 0.1) == "repetition"


@pytest.mark.parametrize(
    "text", [SPEECH, "ha ha ha ha", "no, no, no", "对对对对", "10000000", "换一首歌", "哈哈哈哈哈"]
)
def test_ordinary_speech_is_not(text: str) -> None:
    assert hearing.suspicion(text, -0.3, 0.1) == ""


def test_text_that_packs_too_well_is_suspicious() -> None:
    text = " ".join(f"we went to the market on day {number} of the month" for number in range(12))

    assert hearing.suspicion(text, -0.2, 0.1) == "compression"


@pytest.mark.parametrize(("log_probability", "no_speech"), [(-1.1, 0.1), (-0.5, 0.7), (None, 0.9)])
def test_what_the_model_doubts_is_suspicious(
    log_probability: float | None, no_speech: float
) -> None:
    assert hearing.suspicion(SPEECH, log_probability, no_speech) == "low_probability"


@pytest.mark.parametrize(
    "text",
    [
        "Thank you for watching!",
        "谢谢观看",
        "字幕由 Amara.org 社区提供",
        "請不吝點贊 訂閱 轉發 打賞支持明鏡與點點欄目",
    ],
)
def test_what_models_say_over_silence_is_suspicious(text: str) -> None:
    assert hearing.suspicion(text, -0.2, 0.1) == "stock_phrase"


def test_a_stock_phrase_inside_a_sentence_is_not() -> None:
    assert hearing.suspicion("He said thank you for watching the dog.", -0.2, 0.1) == ""


@pytest.mark.parametrize(
    ("log_probability", "confidence"),
    [(0.0, 1.0), (-0.6931, 0.5), (0.1, 1.0), (None, 0.0), (float("nan"), 0.0), (-900.0, 0.0)],
)
def test_confidence_is_the_mean_probability_of_the_words(
    log_probability: float | None, confidence: float
) -> None:
    assert hearing.confidence(log_probability) == pytest.approx(confidence, abs=1e-3)


def test_empty_text_has_no_compression() -> None:
    assert hearing.compression_ratio("") == 0.0
