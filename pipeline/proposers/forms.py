"""What the rules of every language share: clauses, the claims made of them, folding, lists."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.pipeline import keys
from muniment.pipeline.proposers.base import Passage
from muniment.pipeline.proposers.dates import When, find_date

if TYPE_CHECKING:
    from muniment.store.records import MemoryKind, MemoryType


class Clause(NamedTuple):
    """A stretch of a passage: ``folded`` has the same length as ``shown`` and is matched on.

    ``start`` is its offset in the passage.
    """

    folded: str
    shown: str
    start: int
    passage: Passage

    def part(self, match: re.Match[str], group: str) -> str:
        """Return a group's text as it was written, without quotation marks around it."""
        start, end = match.span(group)
        return self.shown[start:end].strip(" \t\"“”'‘’「」『』《》").strip()

    @property
    def said(self) -> Mapping[str, Any] | None:
        """Return the moment it was said."""
        return self.passage.occurred


@dataclass(frozen=True, slots=True)
class Made:
    """What a rule makes of a clause, before quote, subject and basis are added.

    ``subject`` names whom it is about where that is not the speaker.
    """

    type: "MemoryType"
    kind: "MemoryKind"
    key: str | None = None
    value: str | None = None
    due_at: Mapping[str, Any] | None = None
    valid_at: Mapping[str, Any] | None = None
    sensitive: bool = False
    salience: float = 0.6
    instructed: bool = False
    subject: str | None = None


Build = Callable[[Clause, re.Match[str]], Iterator[Made]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A form of explicit statement.

    ``allows``: vetoes of the sentence that do not stop it (``question, hypothetical, reported,
    past, sarcasm``). ``whole``: it reads on to the sentence's end. ``about_self``: it says
    something of its speaker, whoever that is; the others count from the owner alone.
    ``to_assistant``: it counts in a turn addressed to the assistant only.
    """

    name: str
    pattern: re.Pattern[str]
    build: Build
    allows: frozenset[str] = field(default_factory=frozenset)
    whole: bool = False
    about_self: bool = False
    to_assistant: bool = False


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of one language and how its sentences are read.

    ``vetoes`` are looked for in the whole sentence; ``reported`` only before the clause.
    ``breaks`` cut a sentence into clauses, ``lead`` is skipped at a clause's start.
    ``remember`` has a group ``rest``, the statement to keep.
    """

    name: str
    speaks: re.Pattern[str]
    rules: tuple[Rule, ...]
    vetoes: Mapping[str, re.Pattern[str]]
    reported: re.Pattern[str]
    breaks: re.Pattern[str]
    lead: re.Pattern[str]
    remember: re.Pattern[str]


def one(key: str, *, group: str = "value", sensitive: bool = False, salience: float = 0.7) -> Build:
    """Return a builder of a fact with one value."""

    def build(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
        value = clause.part(match, group)
        if value:
            yield Made("semantic", "fact", key, value, sensitive=sensitive, salience=salience)

    return build


def liking(polarity: Callable[[str], str]) -> Build:
    """Return a builder of a preference; ``polarity`` reads the verb as like, dislike or prefer."""

    def build(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
        topic = clause.part(match, "value")
        if topic:
            key = keys.topical(keys.PREFERENCE, topic)
            yield Made("semantic", "preference", key, polarity(match["verb"].casefold()))

    return build


def favourite(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make a favourite of its kind: one value each."""
    key = keys.topical(keys.FAVOURITE, clause.part(match, "what"))
    yield Made("semantic", "preference", key, clause.part(match, "value"))


def allergies(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make one claim for each thing of a list."""
    for value in listed(clause.part(match, "value")):
        yield Made("semantic", "fact", keys.ALLERGY, value, sensitive=True, salience=0.9)


def task(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make a reminder, due when a date is named."""
    due = find_date(clause.folded, clause.said)
    value = clause.part(match, "value")
    yield Made("prospective", "task", value=value, due_at=_moment(due), salience=0.7)


def dated_task(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make a task only when a date is named."""
    yield from (made for made in task(clause, match) if made.due_at is not None)


def promise(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make an agreement, due when a date is named."""
    due = find_date(clause.folded, clause.said)
    value = clause.part(match, "value")
    yield Made("prospective", "agreement", value=value, due_at=_moment(due))


def dated_promise(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make an agreement only when a date is named."""
    yield from (made for made in promise(clause, match) if made.due_at is not None)


def lesson(clause: Clause, match: re.Match[str]) -> Iterator[Made]:
    """Make an instruction for how the assistant should work; it is never executable."""
    yield Made("procedural", "lesson", value=clause.part(match, "value"), salience=0.8)


def listed(text: str) -> list[str]:
    """Cut a list such as ``nuts, milk and eggs`` or ``花生、海鲜和牛奶`` into its things."""
    parts = re.split(
        r"\s*[,，、/;]\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+|和|以及|还有|跟|与", text
    )
    return [thing for part in parts if (thing := re.sub(r"^(?:both|the|any)\s+", "", part.strip()))]


def _moment(found: When | None) -> Mapping[str, Any] | None:
    return None if found is None else found.moment


_TRADITIONAL = (
    "請記歡討厭應該過對們個會愛號點週禮後從務總遠時複寫別讓開發給師醫護設計當職業證諾現長熱還沒麼嗎喚稱呼為"
    "幫說訴問覺認聽話這裡兩搬內麥種國際東車書買見講"
)
_SIMPLIFIED = (
    "请记欢讨厌应该过对们个会爱号点周礼后从务总远时复写别让开发给师医护设计当职业证诺现长热还没么吗唤称呼为"
    "帮说诉问觉认听话这里两搬内麦种国际东车书买见讲"
)
_FOLDED = str.maketrans("’‘　" + _TRADITIONAL, "'' " + _SIMPLIFIED)


def fold(text: str) -> str:
    """Fold quotes, widths and traditional characters that rules look for; the length stays."""
    return text.translate(_FOLDED)
