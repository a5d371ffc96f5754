"""Calendars: one ``event`` observation an appointment or task, with times as they were meant."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from muniment.adapters.formats.decoded import DecodedSource
from muniment.adapters.formats.languages import script_language
from muniment.adapters.formats.mail.calendar_times import Zones, recurrence_words, time_words
from muniment.adapters.formats.mail.content_lines import ContentLine, content_lines
from muniment.adapters.ports import Draft, Finding, Outcome, Source, Tools

if TYPE_CHECKING:
    from muniment.store.records import Moment

MAX_LINES = 5000
_ITEMS = frozenset(("VEVENT", "VTODO", "VJOURNAL"))
_MAX_PEOPLE = 100


class _Item(NamedTuple):
    """An appointment's own lines, without those of its alarms."""

    kind: str
    lines: list[ContentLine]

    def first(self, name: str) -> ContentLine | None:
        return next((line for line in self.lines if line.name == name), None)

    def text(self, name: str) -> str:
        line = self.first(name)
        return line.text.strip() if line else ""

    def all(self, name: str) -> list[ContentLine]:
        return [line for line in self.lines if line.name == name]


class CalendarReader:
    """Read ics (kind ``event``)."""

    def read(self, source: Source, tools: Tools) -> Iterator[Finding]:
        """Yield each item in order; ends ``partial`` when some have no readable time."""
        text = DecodedSource(source, tools.limits.max_text_bytes)
        items = _Items()
        index, flaws = 0, 0
        for item in items.of(content_lines(text.blocks())):
            draft, whole = _draft(item, index, text, items.zones)
            flaws += not whole
            if draft:
                yield draft
                index += 1
        outcome = text.outcome(found=True)
        if outcome is None and not index:
            outcome = Outcome("empty", "no_events", "no event stands in it")
        if outcome is None and (flaws or items.cut_off):
            outcome = Outcome("partial", "broken_events", "some events could not be read whole")
        if outcome:
            yield outcome


class _Items:
    """Cuts the lines of a file into items, and keeps the zones that it defines."""

    def __init__(self) -> None:
        self.zones = Zones()
        self.cut_off = False

    def of(self, lines: Iterable[ContentLine]) -> Iterator[_Item]:
        item: _Item | None = None
        inside: list[str] = []
        for line in lines:
            word = line.value.strip().upper() if line.name in {"BEGIN", "END"} else ""
            if line.name == "BEGIN":
                inside.append(word)
                item = _Item(word, []) if word in _ITEMS else item
            if "VTIMEZONE" in inside:
                self.zones.see(line)
            if line.name == "END":
                if item is not None and word == item.kind:
                    yield item
                    item = None
                del inside[_last(inside, word) :]
            elif item is not None:
                self._keep(line, item, inside)
        if item is not None and item.lines:
            self.cut_off = True
            yield item

    def _keep(self, line: ContentLine, item: _Item, inside: list[str]) -> None:
        if inside[-1:] == [item.kind] and line.name != "BEGIN" and len(item.lines) < MAX_LINES:
            item.lines.append(line)


def _last(names: list[str], wanted: str) -> int:
    for at in range(len(names) - 1, -1, -1):
        if names[at] == wanted:
            return at
    return len(names)


def _draft(item: _Item, index: int, text: DecodedSource, zones: Zones) -> tuple[Draft | None, bool]:
    """Return an item's observation, and whether all of it could be read."""
    from muniment.store.records import MessageLocator

    start = zones.read(item.first("DTSTART") or item.first("DUE"))
    end = zones.read(item.first("DTEND") or item.first("DUE"))
    summary = item.text("SUMMARY")
    lines = [*filter(None, [summary]), *_lines(item, start, end)]
    whole = start is not None or item.first("DTSTART") is None
    if not lines:
        return None, whole
    words = "\n".join(lines)
    draft = Draft(
        kind="event",
        text=words,
        locator=MessageLocator(index=index, sent_at=(start.utc or start.local) if start else None),
        confidence=text.confidence,
        language=script_language(words),
        occurred=start,
        attributes={**text.attributes(), **_facts(item, start, end)},
    )
    return draft, whole


def _lines(item: _Item, start: "Moment | None", end: "Moment | None") -> Iterator[str]:
    if start is not None:
        yield f"When: {time_words(start, end, item.text('DURATION'))}"
    if repeats := recurrence_words([line.value for line in item.all("RRULE")]):
        yield f"Repeats: {repeats}"
    for label, name in (("Where", "LOCATION"), ("Status", "STATUS"), ("Link", "URL")):
        if words := " ".join(item.text(name).split()):
            yield f"{label}: {words}"
    if organiser := _people(item, "ORGANIZER"):
        yield f"Organiser: {organiser[0]}"
    if attendees := _people(item, "ATTENDEE"):
        yield f"Attendees: {', '.join(attendees)}"
    if description := item.text("DESCRIPTION"):
        yield description


def _people(item: _Item, name: str) -> list[str]:
    found = []
    for line in item.all(name)[:_MAX_PEOPLE]:
        address = line.text.strip()
        address = address[7:] if address.lower().startswith("mailto:") else address
        found.append(line.parameters.get("CN", "").strip() or address)
    return [person for person in found if person]


def _facts(item: _Item, start: "Moment | None", end: "Moment | None") -> dict[str, Any]:
    facts: dict[str, Any] = {"type": item.kind.removeprefix("V").lower()}
    for name in ("UID", "SUMMARY", "LOCATION", "STATUS"):
        if words := item.text(name):
            facts[name.lower()] = words
    for name, moment in (("start", start), ("end", end)):
        if moment is not None:
            facts[name] = moment.utc or moment.local
    for name, key in (("ORGANIZER", "organizer"), ("ATTENDEE", "attendees")):
        if people := _people(item, name):
            facts[key] = people
    if rules := [line.value for line in item.all("RRULE")]:
        facts["rrule"] = rules
    return facts
