"""Numbers and times of day in words, English and Chinese."""

import re
from datetime import time

NOON = 12
EARLY_AFTERNOON = 3

NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十两]{1,3})"
_WORDS_OF_NUMBERS = (
    *("", "a an one 一", "two 二 两", "three 三", "four 四", "five 五", "six 六", "seven 七"),
    *("eight 八", "nine 九", "ten 十"),
)
_COUNTS = {word: number for number, words in enumerate(_WORDS_OF_NUMBERS) for word in words.split()}

_CLOCKS = (
    re.compile(
        r"\b(?:at\s+)?(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))?\s*(?P<half>[ap])\.?m\b\.?",
        re.IGNORECASE,
    ),
    re.compile(r"(?:\bat\s+)?(?<!\d)(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?![\d:：])(?P<half>)"),
    re.compile(r"\b(?:at\s+)?(?P<half>noon|midnight)\b(?P<hour>)(?P<minute>)", re.IGNORECASE),
    re.compile(
        rf"(?P<half>凌晨|早上|上午|中午|下午|傍晚|晚上|晚|早)\s*(?P<hour>{NUMBER})\s*(?:点钟?|时)"
        rf"(?P<minute>半|一刻|三刻|{NUMBER}分?)?"
    ),
    re.compile(rf"(?<!\d)(?P<hour>\d{{1,2}})\s*点(?P<minute>半|一刻|三刻|{NUMBER}分)?(?P<half>)"),
)
_WORDS = {"noon": time(12), "midnight": time(23, 59)}
_MINUTES = {"半": 30, "一刻": 15, "三刻": 45}


def clock(text: str) -> tuple[int, int, time] | None:
    """Return the first time of day named, with its span."""
    for pattern in _CLOCKS:
        match = pattern.search(text)
        if match is None:
            continue
        at = _WORDS.get(match["half"].casefold()) or _time(match)
        if at is not None:
            return match.start(), match.end(), at
    return None


def _time(match: re.Match[str]) -> time | None:
    hour, half, said = count(match["hour"]), match["half"].casefold(), match["minute"] or "0"
    if (half in ("p", "下午", "傍晚", "晚上", "晚") and hour < NOON) or (
        half == "中午" and hour < EARLY_AFTERNOON
    ):
        hour += NOON
    elif half in ("a", "凌晨") and hour == NOON:
        hour = 0
    minute = _MINUTES.get(said) or count(said.removesuffix("分"))
    try:
        return time(hour, minute)
    except ValueError:
        return None


def count(word: str) -> int:
    """Read a number up to 99 in digits, English or Chinese words; 0 when it is none."""
    word = word.casefold()
    if word.isdigit():
        return int(word)
    tens, ten, ones = word.rpartition("十")
    if ten:
        return 10 * _COUNTS.get(tens or "一", 0) + _COUNTS.get(ones, 0)
    return _COUNTS.get(word, 0)
