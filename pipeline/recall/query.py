"""Understand a query: its words, and soft hints on medium, time and who spoke.

Hints nudge what was found by words or meaning; they find nothing by themselves.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.pipeline.recall.when import Span, spans_in
from muniment.store.text.query import analyse_query

if TYPE_CHECKING:
    from muniment.store.text.query import QueryAnalysis

# Word -> sniffed families (or observation kinds) that it may mean.
_MEDIA: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"photos?|pictures?|pics?|images?|snapshots?|照片|图片|相片|图像", ("image",)),
    (r"screen ?shots?|截图|截屏", ("image",)),
    (r"whiteboards?|posters?|白板|海报", ("image",)),
    (r"recordings?|voice (?:memo|note|message)s?|audio|podcasts?|录音|语音|音频", ("audio",)),
    (r"videos?|clips?|movies?|footage|视频|录像|影片", ("video",)),
    (r"scans?|scanned|pdfs?|扫描件?|扫描", ("document", "image")),
    (r"e-?mails?|邮件", ("mail",)),
)
_ASSISTANT = re.compile(
    r"\b(?:did|had|have|has|were|was)\s+(?:you|the (?:assistant|agent|model|ai|bot))\b"
    r"|\bwhat (?:you|the (?:assistant|agent|ai|bot)) (?:said|told|suggested|recommended|advised)"
    r"|\byou(?:r| ?'?ve)? (?:said|told|suggested|recommended|answer|advice|suggestion)"
    r"|\bthe (?:assistant|agent|ai|chatbot|bot)\b"
    r"|助手|智能体|机器人|你(?:之前|刚才|上次|曾经?|当时)?(?:说|讲|提|建议|推荐|告诉|回答)过?",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:i|me|my|mine|myself)\b|我", re.IGNORECASE)
# Words that ask for a kind of answer; evidence need not repeat them.
_FRAME = re.compile(
    r"\b(?:kinds?|types?|sorts?|many|much|long|often|times?|dates?|days?|years?|months?|ago|recently"
    r"|currently|ever|usually|name[ds]?|called|say|said|says|tell|told|mention(?:ed)?|talk(?:ed)?"
    r"|remember|recall|find|show|happen(?:ed)?|get|got|go|went|make|made|take|took|thing|things"
    r"|something|anything|does|did|use|used|good|new|might|would|likely|colou?rs?|flavou?rs?"
    r"|brands?)\b"
    r"|什么时候|时候|时间|日期|哪天|哪一天|几点|名字|叫做|说过|提到|提过|告诉|记得|多少|几|东西|事情|时|颜色"
    r"|哪一?[年月日条部个位种家所座次项支款本首场届类]|第几[次个届名]?|几[次个座位岁圈条届]"
    r"|请?介绍(?:一下)?|简述|能给|有着|怎样",
    re.IGNORECASE,
)
# A title before a name is written in many ways.
_TITLE = re.compile(r"\b(?:[Mm]rs?|[Mm]s|[Mm]iss|[Dd]r|[Dd]octor|[Pp]rof(?:essor)?)\b(?=\.? [A-Z])")
_TITLE_STOP = re.compile(r"(?<=\b(?:Mr|Ms|Dr|St))\.|(?<=\bMrs)\.|(?<=\bProf)\.")
_HAN = re.compile("[\u3400-\u9fff]")
_CLAUSE_END = re.compile(r"[,;?!，、；。？！\n]+|\.(?=\s|$)")
_MOST_CLAUSES = 12
# A word of a script with spaces; Han units stand for themselves.
_WORD = re.compile(r"[^\W_\u3400-\u9fff]+")
_ECHO_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Query:
    """A query understood.

    ``clauses`` are its parts when it asks several things, else empty. ``frame`` are its words that
    need no echo in the evidence, ``names`` those that look like names. ``asks_self`` says that it
    speaks of the one who asks.
    """

    text: str
    analysis: "QueryAnalysis"
    clauses: "tuple[QueryAnalysis, ...]"
    language: str
    families: tuple[str, ...]
    spans: tuple[Span, ...]
    asks_assistant: bool
    asks_self: bool
    frame: frozenset[str]
    names: frozenset[str]


def understand(text: str, now: str, cache: Path | None = None) -> Query:
    """Analyse a query; ``now`` is the UTC instant that relative times count from.

    ``cache`` holds the compiled dictionary that Chinese words are cut with, where there is one.
    """
    dictionary = None
    language = "zh" if _HAN.search(text) else "en"
    if cache is not None and language == "zh":
        from muniment.store.text.segment import open_dictionary

        dictionary = open_dictionary(cache)
    spans, time_words = spans_in(text, now)
    families, media_words = _media(text)
    hints = [*time_words, *media_words, *_FRAME.findall(text), *_TITLE.findall(text)]
    clauses = [part for part in _CLAUSE_END.split(text) if part.strip()][:_MOST_CLAUSES]
    # A question of one clause is that clause.
    parts = [analyse_query(part, dictionary) for part in clauses] if len(clauses) > 1 else []
    framed = {unit.text for hint in set(hints) for unit in analyse_query(hint, dictionary).units}
    return Query(
        text=text,
        analysis=analyse_query(text, dictionary),
        clauses=_telling(parts, framed),
        language=language,
        families=families,
        spans=spans,
        asks_assistant=_ASSISTANT.search(text) is not None,
        asks_self=_SELF.search(text) is not None,
        frame=frozenset(framed),
        names=_names(text),
    )


def shortened(text: str, limit: int = _ECHO_CHARACTERS) -> str:
    """Return a query for an echo in one line."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def as_asked(text: str, units: Iterable[str]) -> list[str]:
    """Return the words of a query that the given units (stems) stand for, in the query's order."""
    wanted = set(units)
    found = []
    for word in dict.fromkeys(_WORD.findall(text)):
        own = {unit.text for unit in analyse_query(word).units}
        if own & wanted:
            found.append(word)
            wanted -= own
    return found + sorted(wanted)


def _telling(parts: "list[QueryAnalysis]", framed: set[str]) -> "tuple[QueryAnalysis, ...]":
    """Return the parts that ask for something, when there are several."""
    telling = [part for part in parts if any(unit.text not in framed for unit in part.units)]
    return tuple(telling) if len(telling) > 1 else ()


def _media(text: str) -> tuple[tuple[str, ...], list[str]]:
    families: list[str] = []
    words: list[str] = []
    for pattern, meant in _MEDIA:
        found = [match.group() for match in re.finditer(_bounded(pattern), text, re.IGNORECASE)]
        if found:
            families += meant
            words += found
    return tuple(dict.fromkeys(families)), words


def _bounded(pattern: str) -> str:
    """Ask for word ends around Latin words; Han words stand inside others."""
    return rf"(?<![A-Za-z])(?:{pattern})(?![A-Za-z])"


def _names(text: str) -> frozenset[str]:
    """Return the units that look like names: capitals inside a sentence, numbers, identifiers."""
    text = _TITLE_STOP.sub("", text)
    found = re.findall(r"(?<=[^.!?。！？\s] )[\"“(]?([A-Z][\w'-]*)|(\d[\w.:/-]*)", text)
    words = " ".join(first or second for first, second in found)
    if not words:
        return frozenset()
    return frozenset(unit.text for unit in analyse_query(words, None).units)
