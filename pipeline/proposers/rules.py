"""The rules proposer: explicit statements, English and Chinese, found without a model.

Precision first. A form counts only at the start of a clause and in the speaker's own voice, so
that what is asked, supposed, quoted, told of others or long past makes no claim.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from muniment.pipeline import keys
from muniment.pipeline.keys import USER
from muniment.pipeline.proposers.base import MEDIA_KINDS, CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.forms import Clause, Language, Made, Rule, fold
from muniment.pipeline.proposers.rules_en import ENGLISH
from muniment.pipeline.proposers.rules_zh import CHINESE

if TYPE_CHECKING:
    from muniment.store.records import Basis

CONFIDENCE = 0.9
INSTRUCTED_CONFIDENCE = 1.0
LEAST_KEPT_CHARACTERS = 4
LONGEST_ABBREVIATION = len(" Prof.")
LONGEST_SENTENCE = 2_000  # an explicit statement is short; a longer run is not one

_NOT_KEPT = frozenset({"question", "reported", "sarcasm"})  # whatever is asked to be remembered
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_ENDS = re.compile(r"[。！？!?]+[”」』\"']?|(?<!\.)\.++(?=\s|$|[”\"])|\n")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|[A-Z])\.$")
_QUOTATIONS = re.compile(
    r"“[^”\n]*”?|「[^」\n]*」?|『[^』\n]*』?|\"[^\"\n]*\"|(?<!\w)'[^'\n]{3,}'(?!\w)"
)
_SPEAKER = re.compile(r"^\s*(?:\[[^\]\n]{1,40}\]\s*)?[\w .'-]{1,40}(?::\s|：)")
_KEEPING = re.compile(
    r"^\s*(?:(?:please\s+|ok,?\s+)?(?:remember|make a note|keep in mind|reminder|fyi|"
    r"btw|p\.?s|me)\b|"
    r"(?:请|麻烦|帮我|给我|你|一定要?)*(?:记住|记得|记一下|记下|提醒|注意|备注|对了|别忘))",
    re.IGNORECASE,
)
_END = re.compile(
    r"(?:[\s.。!！,，;；:：?？~～…]|[:;]-?[)(DPp]|[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d])+\Z"
)


class RulesProposer:
    """Propose what the rules recognise; each language reads the sentences it speaks."""

    name = "rules"
    version = "2"

    def __init__(self, languages: Sequence[Language] = (ENGLISH, CHINESE)) -> None:
        self._languages = languages

    def propose(self, passages: Iterable[Passage]) -> Iterator[CandidateDraft]:
        """Yield the claims of the owner's passages, and of third parties about themselves.

        Text read out of media makes none: it is not known who said it.
        """
        for passage in passages:
            spoken = (language.speaks.search(passage.text) for language in self._languages)
            if passage.kind in MEDIA_KINDS or not any(spoken):
                continue
            if passage.origin == "user":
                yield from self._read(passage, USER, "user_statement")
            elif passage.origin == "third_party" and passage.author:
                yield from self._read(passage, passage.author, "third_party")

    def _read(self, passage: Passage, subject: str, basis: "Basis") -> Iterator[CandidateDraft]:
        reading = _Reading(passage)
        for start, end in reading.sentences():
            for language in self._languages:
                if language.speaks.search(reading.folded, start, end) is None:
                    continue
                for rule, made, quote in _statements(_Sentence(reading, language, (start, end))):
                    if _counts(rule, made, passage, basis):
                        yield _draft(rule, made, quote, (subject, basis))


class _Reading:
    """A passage, folded, with what is not its speaker's own voice known."""

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        blanked = _CODE.sub(_blank, passage.text)
        self.folded = fold(_QUOTED_LINE.sub(_blank, blanked))
        self._quotations = [match.span() for match in _QUOTATIONS.finditer(self.folded)]

    def sentences(self) -> Iterator[tuple[int, int]]:
        """Yield spans; a full stop after an abbreviation does not end one."""
        begun = 0
        for end in [*(match.end() for match in _ENDS.finditer(self.folded)), len(self.folded)]:
            if _ABBREVIATION.search(self.folded, max(begun, end - LONGEST_ABBREVIATION), end):
                continue
            if end - begun <= LONGEST_SENTENCE and not self.folded[begun:end].isspace():
                yield begun, end
            begun = end

    def quotes(self, at: int) -> bool:
        """Tell whether an offset lies within quotation marks."""
        before = bisect_left(self._quotations, (at, 0)) - 1
        return before >= 0 and at < self._quotations[before][1]

    def clause(self, start: int, end: int) -> Clause:
        """Cut a clause out, without the marks at its end."""
        tail = _END.search(self.folded[start:end])
        end = end if tail is None else start + tail.start()
        shown = self.passage.text[start:end]
        return Clause(self.folded[start:end], shown, start, self.passage)


Stated: TypeAlias = tuple[Rule | None, Made, Quote]


class _Sentence:
    """One sentence as one language reads it; its vetoes are looked for when a rule matches."""

    def __init__(self, reading: _Reading, language: Language, span: tuple[int, int]) -> None:
        self.reading = reading
        self.language = language
        self.start, self.end = span

    @cached_property
    def vetoes(self) -> frozenset[str]:
        """Return what is against taking the sentence at its word."""
        folded = self.reading.folded
        found = {
            name
            for name, veto in self.language.vetoes.items()
            if veto.search(folded, self.start, self.end)
        }
        shown = folded[self.start : self.end]
        labelled = _SPEAKER.match(shown) and not _KEEPING.match(shown)
        return frozenset(found | {"reported"} if labelled else found)

    def against(self, at: int) -> frozenset[str]:
        """Return the vetoes of a clause that begins at an offset."""
        told = self.language.reported.search(self.reading.folded, self.start, at)
        return self.vetoes | {"reported"} if told else self.vetoes

    def after_lead(self, start: int, end: int) -> int:
        """Return where a clause begins once greetings and the like are passed over."""
        match = self.language.lead.match(self.reading.folded, start, end)
        return match.end() if match else start

    def kept(self) -> tuple[int, int] | None:
        """Return the span of what the sentence asks to be remembered, or null."""
        begun = self.after_lead(self.start, self.end)
        match = self.language.remember.match(self.reading.folded, begun, self.end)
        if match is None or self.reading.quotes(begun) or self.vetoes & _NOT_KEPT:
            return None
        return match.span("rest")

    def clauses(self, span: tuple[int, int]) -> Iterator[Stated]:
        """Yield what the clauses of a span state; a rule that reads on ends the search."""
        start, end = span
        folded = self.reading.folded
        cuts = [match.end() for match in self.language.breaks.finditer(folded, start, end)]
        for begun, until in zip([start, *cuts], [*cuts, end], strict=True):
            at = self.after_lead(begun, until)
            if self.reading.quotes(at):
                continue
            found = self._first(self.reading.clause(at, until), self.reading.clause(at, end))
            yield from found
            if found and found[0][0] is not None and found[0][0].whole:
                return

    def _first(self, clause: Clause, onward: Clause) -> list[Stated]:
        """Return what the first rule that matches makes of a clause."""
        for rule in self.language.rules:
            read = onward if rule.whole else clause
            match = rule.pattern.match(read.folded)
            if match is None or self.against(read.start) - rule.allows:
                continue
            found: list[Stated] = [
                (rule, made, _quote(read, 0)) for made in rule.build(read, match)
            ]
            if found:
                return found
        return []


def _statements(sentence: _Sentence) -> Iterator[Stated]:
    """Yield what one sentence states; one that asks to be remembered is quoted whole."""
    reading, kept = sentence.reading, sentence.kept()
    if kept is None:
        yield from sentence.clauses((sentence.start, sentence.end))
        return
    whole = reading.clause(sentence.start, sentence.end)
    quote = _quote(whole, len(whole.shown) - len(whole.shown.lstrip()))
    found = [(rule, made, quote) for rule, made, _ in sentence.clauses(kept)]
    told = any(made.kind != "relation" for _, made, _ in found)
    if not told and len(reading.clause(*kept).shown.strip()) >= LEAST_KEPT_CHARACTERS:
        found += [(None, Made("semantic", "fact", salience=0.7), quote)]
    for rule, made, words in found:
        yield rule, replace(made, instructed=True), words


def _quote(clause: Clause, offset: int) -> Quote:
    shown = clause.shown[offset:]
    start = clause.start + offset
    return Quote(clause.passage.observation, shown, start, start + len(shown))


def _counts(rule: Rule | None, made: Made, passage: Passage, basis: "Basis") -> bool:
    """Tell whether a statement counts for this speaker and kind of passage.

    What says something of its speaker counts anywhere; what asks for something (a reminder, to be
    called so) only in a message; what asks the assistant only in a turn addressed to it.
    """
    if rule is not None and rule.about_self:
        return True
    if basis != "user_statement":
        return False
    if made.key in keys.NAMING and not made.instructed:
        return False
    to_assistant = rule is not None and rule.to_assistant
    return passage.role == "user" or (passage.kind == "message" and not to_assistant)


def _draft(
    rule: Rule | None, made: Made, quote: Quote, voice: tuple[str, "Basis"]
) -> CandidateDraft:
    subject, basis = voice
    return CandidateDraft(
        type=made.type,
        kind=made.kind,
        text=quote.quote,
        evidence=quote,
        basis=basis,
        proposer=RulesProposer.name,
        rule=rule.name if rule is not None else "remember",
        subject=made.subject or subject,
        key=made.key,
        value=made.value,
        valid_at=made.valid_at,
        due_at=made.due_at,
        sensitive=made.sensitive,
        salience=made.salience,
        confidence=INSTRUCTED_CONFIDENCE if made.instructed else CONFIDENCE,
        instructed=made.instructed,
    )


def _blank(match: re.Match[str]) -> str:
    """Replace a stretch by spaces of the same length, lines kept."""
    return re.sub(r"[^\n]", " ", match.group())
