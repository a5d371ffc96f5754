"""The proposer of what stands in files: calendar events, contacts and receipts.

Nobody said these; they wait for an approval (CONTRACT 4.2).
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any

from muniment.pipeline import keys
from muniment.pipeline.keys import USER
from muniment.pipeline.proposers.base import MEDIA_KINDS, CandidateDraft, Passage, Quote
from muniment.pipeline.proposers.dates import birthday
from muniment.pipeline.proposers.receipts import Receipt, find_receipt, lines_of

if TYPE_CHECKING:
    from muniment.store.records import Basis

EMAIL, PHONE, TITLE = "email", "phone", "title"
_PRINTED = frozenset({"ocr", "page_text", "message"})
# The contact's field, the label that its line begins with, and the key of the claim.
_FIELDS = (
    ("email", "Email", EMAIL),
    ("tel", "Phone", PHONE),
    ("bday", "Birthday", keys.BIRTHDAY),
    ("org", "Organisation", keys.EMPLOYER),
    ("title", "Title", TITLE),
    ("adr", "Address", keys.ADDRESS),
)
_SENSITIVE = frozenset({PHONE, keys.ADDRESS, keys.BIRTHDAY})


class FoundProposer:
    """Propose appointments and tasks of calendars, the details of contacts, and receipts."""

    name = "found"
    version = "1"

    def propose(self, passages: Iterable[Passage]) -> Iterator[CandidateDraft]:
        """Yield candidates; passages of one asset come one after the other."""
        passages = (one for one in passages if one.origin != "agent")
        for (asset, kind), group in groupby(passages, key=lambda one: (one.asset, one.kind)):
            if kind == "event":
                for passage in group:
                    yield from _event(passage)
            elif kind == "contact":
                for passage in group:
                    yield from _contact(passage)
            elif kind in _PRINTED:
                yield from _receipts(list(group), apart=kind == "message" or asset is None)


def basis_of(passage: Passage) -> "Basis":
    """Return whose words a passage is: another person's, the user's own, or nobody's."""
    if passage.origin == "third_party":
        return "third_party"
    own = passage.origin == "user" and passage.kind not in MEDIA_KINDS
    return "user_statement" if own else "media"


def _event(passage: Passage) -> Iterator[CandidateDraft]:
    """Make an appointment, or a task of a calendar's to-do list; its time is when it is due."""
    facts = passage.attributes
    summary = str(facts.get("summary") or "").strip()
    if not summary or not passage.text.startswith(summary):
        return
    if str(facts.get("status", "")).upper() in {"CANCELLED", "COMPLETED"}:
        return
    lines = passage.text.split("\n")
    end = passage.text.find("\n", len(summary) + 1)
    dated = len(lines) > 1 and passage.text[len(summary) + 1 :].startswith("When: ")
    quote = passage.text[: (end if end > 0 else None) if dated else len(summary)]
    is_task = facts.get("type") == "todo"
    yield CandidateDraft(
        type="prospective" if is_task else "episodic",
        kind="task" if is_task else "event",
        text=" · ".join(quote.split("\n")),
        evidence=Quote(passage.observation, quote, 0, len(quote)),
        basis=basis_of(passage),
        proposer=FoundProposer.name,
        rule="calendar",
        subject=USER,
        value=summary[:300],
        due_at=passage.occurred if facts.get("start") or is_task else None,
        confidence=passage.confidence,
        salience=0.6,
    )


def _contact(passage: Passage) -> Iterator[CandidateDraft]:
    facts = passage.attributes
    name = str(facts.get("name") or "").strip()
    for field, label, key in _FIELDS if name else ():
        for value in _values(facts, field):
            quote = _line_with(passage, label, value)
            claimed = birthday(value) if key == keys.BIRTHDAY else value
            if quote is None or claimed is None:
                continue
            yield CandidateDraft(
                type="semantic",
                kind="fact",
                text=f"{name}: {quote.quote}",
                evidence=quote,
                basis=basis_of(passage),
                proposer=FoundProposer.name,
                rule="contact",
                subject=name,
                key=key,
                value=claimed[:300],
                sensitive=key in _SENSITIVE,
                confidence=passage.confidence,
                salience=0.5,
            )


def _values(facts: Mapping[str, Any], field: str) -> list[str]:
    found = facts.get(field)
    values = found if isinstance(found, list) else [found] if found else []
    return [str(value) for value in values]


def _line_with(passage: Passage, label: str, value: str) -> Quote | None:
    """Quote the line that a field of a contact stands in."""
    at = 0
    for line in passage.text.split("\n"):
        if line.startswith(label) and line.endswith(value):
            return Quote(passage.observation, line, at, at + len(line))
        at += len(line) + 1
    return None


def _receipts(passages: list[Passage], *, apart: bool) -> Iterator[CandidateDraft]:
    """Make a receipt of a document's lines; each message is a document of its own."""
    for document in [[one] for one in passages] if apart else [passages]:
        found = find_receipt(lines_of(document))
        if found is not None:
            yield _receipt(found)


def _receipt(found: Receipt) -> CandidateDraft:
    merchant, date_line = found.merchant, found.date_line
    said = [merchant.text] if merchant else []
    others = [line for line in (merchant, date_line) if line is not None]
    passage = found.total_line.passage
    day = (found.date or {}).get("local")
    text = f"Receipt: {', '.join([*said, found.total, *([day[:10]] if day else [])])}"
    quotes = dict.fromkeys(line.quote for line in others)
    quotes.pop(found.total_line.quote, None)
    return CandidateDraft(
        type="episodic",
        kind="event",
        text=text,
        evidence=found.total_line.quote,
        basis=basis_of(passage),
        proposer=FoundProposer.name,
        rule="receipt",
        subject=USER,
        value=found.total,
        valid_at=found.date,
        confidence=min(line.passage.confidence for line in (found.total_line, *others)),
        salience=0.5,
        also=tuple(quotes),
    )
