"""Contacts (vCard 2.1 to 4.0): one ``contact`` observation a person."""

import base64
import binascii
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from muniment.adapters.formats.decoded import DecodedSource
from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.magic import by_magic
from muniment.adapters.formats.mail.content_lines import ContentLine, content_lines, fields
from muniment.adapters.ports import Derived, Draft, Finding, Outcome, Source, Tools

if TYPE_CHECKING:
    from muniment.store.records import MessageLocator

MAX_LINES = 2000
_LABELS = {
    "NICKNAME": "Nickname",
    "ORG": "Organisation",
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "Email",
    "ADR": "Address",
    "URL": "Web",
    "IMPP": "Messenger",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "CATEGORIES": "Groups",
    "NOTE": "Note",
}
_STRUCTURED = frozenset(("ORG", "ADR", "N"))
_KINDS = frozenset(("HOME", "WORK", "CELL", "FAX", "PAGER", "MAIN", "OTHER", "MOBILE"))


class ContactReader:
    """Read vcf (kind ``contact``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield each contact and its picture; ends ``partial`` when the last one is cut off."""
        text = DecodedSource(source, tools.limits.max_text_bytes)
        cards = _Cards()
        index = 0
        for card in cards.of(content_lines(text.blocks())):
            if draft := _draft(card, index, text):
                yield draft
                yield from _picture(card, _locator(index))
                index += 1
        outcome = text.outcome(found=True)
        if outcome is None and not index:
            outcome = Outcome("empty", "no_contacts", "no contact stands in it")
        if cards.cut_off and index and outcome is None:
            outcome = Outcome("partial", "truncated", "the last contact is not whole")
        if outcome:
            yield outcome


class _Cards:
    """Cuts the lines of a file into contacts."""

    def __init__(self) -> None:
        self.cut_off = False

    def of(self, lines: Iterable[ContentLine]) -> Iterator[list[ContentLine]]:
        card: list[ContentLine] | None = None
        for line in lines:
            mark = (line.name, line.value.strip().upper())
            if mark == ("BEGIN", "VCARD"):
                if card:
                    yield card
                card = []
            elif mark == ("END", "VCARD"):
                if card:
                    yield card
                card = None
            elif card is not None and len(card) < MAX_LINES:
                card.append(line)
        if card:
            self.cut_off = True
            yield card


def _draft(card: list[ContentLine], index: int, text: DecodedSource) -> Draft | None:
    name = _name(card)
    lines = [name] if name else []
    facts: dict[str, Any] = {"name": name} if name else {}
    for line in card:
        label = _LABELS.get(line.name)
        value = _value(line) if label else ""
        if label and value:
            lines.append(f"{label}{_kind(line)}: {value}")
            facts.setdefault(line.name.lower(), []).append(value)
    if not lines:
        return None
    words = "\n".join(dict.fromkeys(lines))
    return Draft(
        kind="contact",
        text=words,
        locator=_locator(index),
        confidence=text.confidence,
        language=script_language(words),
        attributes={**text.attributes(), **facts},
    )


def _name(card: list[ContentLine]) -> str:
    for line in card:
        if line.name == "FN" and line.text.strip():
            return " ".join(line.text.split())
    for line in card:
        if line.name == "N":
            family, given, *rest = (*fields(line.decoded), "", "")
            middle = rest[0] if rest else ""
            return " ".join(" ".join((given, middle, family)).split())
    return next((line.text.strip() for line in card if line.name == "ORG"), "")


def _value(line: ContentLine) -> str:
    pieces = fields(line.decoded) if line.name in _STRUCTURED else [line.text]
    return ", ".join(" ".join(piece.split()) for piece in pieces if piece.strip())


def _kind(line: ContentLine) -> str:
    kinds = [kind for kind in line.parameters.get("TYPE", "").upper().split(",") if kind in _KINDS]
    return f" ({', '.join(kind.lower() for kind in kinds)})" if kinds else ""


def _picture(card: list[ContentLine], where: "MessageLocator") -> Iterator[Derived]:
    for line in card:
        coded = line.value.partition("base64,")[2] if "base64," in line.value[:64] else ""
        if line.parameters.get("ENCODING", "").upper() in {"B", "BASE64"}:
            coded = line.value
        if line.name in {"PHOTO", "LOGO"} and coded:
            try:
                data = base64.b64decode("".join(coded.split()))
            except (ValueError, binascii.Error):
                continue
            if by_magic(data, b""):
                yield Derived("embedded_image", where, line.name.lower(), data=data)


def _locator(index: int) -> "MessageLocator":
    from muniment.store.records import MessageLocator

    return MessageLocator(index=index)
