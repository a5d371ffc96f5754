"""The rules proposer: explicit statements, English and Chinese, found without a model.

Precision first. A form counts only at the start of a clause and in the speaker's own voice, so
that what is asked, supposed, quoted, told of others or long past makes no claim.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.pipeline import keys
from muniment.pipeline.proposers.base import USER, CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.forms import Clause, Language, Made, Rule, fold
from muniment.pipeline.proposers.rules_en import ENGLISH
from muniment.pipeline.proposers.rules_zh import CHINESE

if TYPE_CHECKING:
    from muniment.store.records import Basis

CONFIDENCE = 0.9
INSTRUCTED_CONFIDENCE = 1.0
LEAST_KEPT_CHARACTERS = 4
TRANSCRIBED = frozenset({"asr", "subtitle", "ocr", "visual", "page_text"})

_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]*[>|].*$", re.MULTILINE)
_SENTENCE = re.compile(r"[^。！？!?\n]*?(?:[。！？!?]+[”」』\"']?|\.+(?=\s|$|[”\"])|\n|$)", re.DOTALL)
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|vs|etc|e\.g|i\.e|No|[A-Z])\.$")
_QUOTATIONS = re.compile(r"“[^”\n]*”?|「[^」\n]*」?|『[^』\n]*』?|\"[^\"\n]*\"|(?<!\w)'[^'\n]{3,}'(?!\w)")
_SPEAKER = re.compile(r"^\s*(?:\[[^\]\n]{1,40}\]\s*)?[\w .'-]{1,40}[:：]\s")
_KEEPING = re.compile(
    r"^\s*(?:please\s+|ok,?\s+)?(?:remember|note|reminder|fyi|btw|p\.?s|important|me)\b", re.IGNORECASE
)
_END = " \t\r\n.。!！,，;；:："


class RulesProposer:
    """Propose what the rules recognise; each language reads the sentences it speaks."""

    name = "rules"
    version = "1"

    def __init__(self, languages: Sequence[Language] = (ENGLISH, CHINESE)) -> None:
        self._languages = languages

    def propose(self, passages: Iterable[Passage]) -> Iterator[CandidateDraft]:
        """Yield the claims of passages of the owner, and of third parties about themselves."""
        for passage in passages:
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
                for rule, made, quote in _statements(reading, language, start, end):
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
        for match in _SENTENCE.finditer(self.folded):
            if _ABBREVIATION.search(self.folded, begun, match.end()):
                continue
            if self.folded[begun : match.end()].strip():
                yield begun, match.end()
            begun = match.end()

    def quotes(self, at: int) -> bool:
        """Tell whether an offset lies within quotation marks."""
        return any(start < at < end for start, end in self._quotations)

    def clause(self, start: int, end: int, *, instructed: bool = False) -> Clause:
        """Cut a clause out, without the marks at its end."""
        while end > start and self.folded[end - 1] in _END:
            end -= 1
        shown = self.passage.text[start:end]
        return Clause(self.folded[start:end], shown, start, self.passage, instructed)


Statement = tuple[str, Made, Quote]


def _statements(
    reading: _Reading, language: Language, start: int, end: int
) -> Iterator[tuple[Rule | None, Made, Quote]]:
    """Yield what one sentence states in one language."""
    vetoes = {
        name for name, veto in language.vetoes.items() if veto.search(reading.folded, start, end)
    }
    if _SPEAKER.match(reading.folded[start:end]) and not _KEEPING.match(reading.folded[start:end]):
        vetoes.add("reported")
    kept = _kept(reading, language, (start, end), vetoes)
    if kept is None:
        yield from _clauses(reading, language, (start, end), vetoes)
        return
    whole = reading.clause(start, end)
    offset = len(whole.shown) - len(whole.shown.lstrip())
    quote = _quote(whole, offset)
    found = [
        (rule, replace(made, instructed=True), quote)
        for rule, made, _ in _clauses(reading, language, kept, vetoes, instructed=True)
    ]
    yield from found
    rest = reading.clause(*kept).shown.strip()
    if not found and len(rest) >= LEAST_KEPT_CHARACTERS:
        yield None, Made("semantic", "fact", salience=0.7, instructed=True), quote


def _kept(
    reading: _Reading, language: Language, span: tuple[int, int], vetoes: set[str]
) -> tuple[int, int] | None:
    """Return the span of what a sentence asks to be remembered, or null."""
    begun = _after_lead(reading, language, *span)
    match = language.remember.match(reading.folded, begun, span[1])
    if match is None or vetoes & {"question", "reported"} or reading.quotes(begun):
        return None
    return match.span("rest")


def _clauses(
    reading: _Reading,
    language: Language,
    span: tuple[int, int],
    vetoes: set[str],
    *,
    instructed: bool = False,
) -> Iterator[tuple[Rule | None, Made, Quote]]:
    """Yield what the clauses of a span state; a rule that reads on ends the search."""
    start, end = span
    cuts = [match.end() for match in language.breaks.finditer(reading.folded, start, end)]
    for begun, until in zip([start, *cuts], [*cuts, end], strict=True):
        at = _after_lead(reading, language, begun, until)
        if reading.quotes(at):
            continue
        told = language.reported.search(reading.folded, start, at) is not None
        against = vetoes | ({"reported"} if told else set())
        for rule in language.rules:
            if against - rule.allows:
                continue
            clause = reading.clause(at, end if rule.whole else until, instructed=instructed)
            match = rule.pattern.match(clause.folded)
            found = list(rule.build(clause, match)) if match else []
            yield from ((rule, made, _quote(clause, 0)) for made in found)
            if found:
                break
        else:
            continue
        if rule.whole:
            return


def _after_lead(reading: _Reading, language: Language, start: int, end: int) -> int:
    """Return where a clause begins once greetings and the like are passed over."""
    match = language.lead.match(reading.folded, start, end)
    return match.end() if match else start


def _quote(clause: Clause, offset: int) -> Quote:
    shown = clause.shown[offset:]
    start = clause.start + offset
    return Quote(clause.passage.observation, shown, start, start + len(shown))


def _counts(rule: Rule | None, made: Made, passage: Passage, basis: "Basis") -> bool:
    """Tell whether a statement counts for this speaker and kind of passage."""
    if basis != "user_statement":
        return rule is not None and rule.about_self
    if made.key in keys.NAMING and (passage.kind in TRANSCRIBED or not made.instructed):
        return False
    return rule is None or not rule.to_assistant or passage.role == "user"


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
        subject=subject,
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
