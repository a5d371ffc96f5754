"""How far a transcribed text can be believed: pure rules shared by every speech recogniser."""

import math
import re
import unicodedata
import zlib

MAX_COMPRESSION = 2.4
MIN_LOG_PROBABILITY = -1.0
MAX_NO_SPEECH = 0.6
_MIN_LOOPS = 4
_MAX_LOOP_CHARACTERS = 60
_READ_LETTERS = 2000

# What speech models say over silence and music, learned from the ends of subtitled videos.
_STOCK_PHRASES = (
    "thankyouforwatching",
    "thanksforwatching",
    "pleasesubscribe",
    "subscribetomychannel",
    "subtitlesbytheamaraorgcommunity",
    "字幕由amaraorg社区提供",
    "字幕由amaraorg社區提供",
    "请不吝点赞订阅转发打赏支持明镜与点点栏目",
    "請不吝點贊訂閱轉發打賞支持明鏡與點點欄目",
    "谢谢观看",
    "謝謝觀看",
    "谢谢大家观看",
    "感谢观看",
    "感謝觀看",
    "感谢您的观看",
    "ご視聴ありがとうございました",
)


def suspicion(text: str, log_probability: float | None, no_speech: float | None) -> str:
    """Return why a text may be invented, or an empty string.

    ``log_probability`` is the mean over the tokens, ``no_speech`` the model's own doubt (0..1);
    null means that the recogniser did not say.
    """
    if loops(text):
        return "repetition"
    if compression_ratio(text) > MAX_COMPRESSION:
        return "compression"
    if log_probability is not None and log_probability < MIN_LOG_PROBABILITY:
        return "low_probability"
    if no_speech is not None and no_speech > MAX_NO_SPEECH:
        return "low_probability"
    if _letters(text) in _STOCK_PHRASES:
        return "stock_phrase"
    return ""


def confidence(log_probability: float | None) -> float:
    """Return the mean token probability, 0.0 where it is unknown."""
    if log_probability is None or math.isnan(log_probability):
        return 0.0
    return min(1.0, math.exp(min(0.0, log_probability)))


def compression_ratio(text: str) -> float:
    """Return how often the text fits its compressed form; ordinary speech stays below 2.4."""
    data = text.encode("utf-8", "surrogatepass")
    return len(data) / len(zlib.compress(data)) if data else 0.0


def loops(text: str) -> bool:
    """Say whether a stretch is repeated so often in a row that nobody would speak so.

    Laughter and counting ("ha ha ha ha") stay: the loop must fill most of the text and be longer
    than a syllable or run on for long.
    """
    letters = _letters(text)[:_READ_LETTERS]
    longest = max((len(found.group(0)) for found in _loops(letters)), default=0)
    return longest >= max(12, len(letters) // 2)


def _loops(letters: str) -> list[re.Match[str]]:
    pattern = rf"(.{{1,{_MAX_LOOP_CHARACTERS}}}?)\1{{{_MIN_LOOPS - 1},}}"
    return list(re.finditer(pattern, letters))


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())
