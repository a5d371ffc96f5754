"""Read entities from what says who it is: authors, mail headers, contacts, calendars, claims."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muniment.pipeline.entities.identity import (
    KINDS,
    ORGANISATION,
    PERSON,
    Called,
    Identities,
    written,
)
from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.proposers.base import Named
from muniment.store.ids import storable
from muniment.store.ledger.entities import Use
from muniment.store.text.names import folded_name, stands_in

if TYPE_CHECKING:
    from muniment.pipeline.proposers.base import Passage
    from muniment.pipeline.stages.run import Run
    from muniment.store.ledger import Ledger
    from muniment.store.rows import ObservationRow

STAGE, VERSION = "entities", "entities/1"
BATCH = 1_000
# A mail to more people is a circular: it says little of any of them.
MOST_RECIPIENTS = 12
_PROGRAMS = frozenset({"assistant", "tool", "system"})


def read(run: "Run", identities: Identities) -> None:
    """Take entities from every observation that is new, then from every new claim."""
    reading = Reading(run.ledger, identities)
    attempts = run.ledger.attempts
    mark = attempts.mark(STAGE, VERSION)
    while not run.out_of_time and (rows := run.ledger.evidence.after(mark, BATCH)):
        mark = rows[-1].seq
        with run.ledger.unit():
            reading.take(rows)
            attempts.set_mark(STAGE, mark, VERSION)
    relations = Relations(run.ledger, identities)
    with run.ledger.unit():
        relations.read()
    run.tally.add("entities", identities.new)


class Reading:
    """Takes the people of observations into a ledger, inside the caller's unit."""

    def __init__(self, ledger: "Ledger", identities: Identities) -> None:
        self._identities = identities
        self._own = frozenset(name.casefold() for name in ledger.evidence.own_names())

    def take(self, rows: "Iterable[ObservationRow]") -> None:
        """Keep who is named by each observation."""
        for row in rows:
            if row.kind == "contact":
                self._contact(row)
            elif row.kind == "event":
                self._people(row, ("organizer", "attendees"))
            elif row.kind == "message" and row.origin not in ("agent", "tool"):
                self._message(row)

    def _message(self, row: "ObservationRow") -> None:
        if isinstance(row.attributes.get("from"), list):
            self._people(row, ("from",), via="author")
            self._people(row, ("to", "cc"))
        elif row.author and row.role not in _PROGRAMS:
            own = row.origin == "user" or row.author.casefold() in self._own
            self._identities.person(
                Called(row.author), row.id, "author", thread=row.thread or row.asset, own=own
            )

    def _people(self, row: "ObservationRow", fields: Sequence[str], via: str = "recipient") -> None:
        people = [str(one) for name in fields for one in _listed(row.attributes.get(name))]
        if len(people) > MOST_RECIPIENTS:
            return
        for person in people:
            called = written(storable(person))
            names = {name.casefold() for name in (called.name or "", *called.emails)}
            own = bool(names & self._own) or (via == "author" and row.origin == "user")
            self._identities.person(called, row.id, via, thread=row.thread, own=own)

    def _contact(self, row: "ObservationRow") -> None:
        facts = row.attributes
        name = str(facts.get("name") or "")
        organisations = [str(one).partition(",")[0] for one in _listed(facts.get("org"))]
        if name in organisations:
            use = _use(row, name, "contact")
            self._identities.named(ORGANISATION, name, use)
            return
        called = Called(name, _texts(facts, "email"), _texts(facts, "tel"))
        found = self._identities.person(called, row.id, "contact", starts=_starts(row.text, called))
        for nickname in _texts(facts, "nickname") if found is not None else ():
            use = _use(row, nickname, "contact")
            if use.folded and found is not None:
                self._identities.take(PERSON, [use], found)


def take_named(
    identities: Identities, named: "Iterable[Named]", passages: "Mapping[str, Passage]"
) -> None:
    """Keep what a model says is named, where the words stand in what it was given, as a name."""
    for one in named:
        passage = passages.get(one.observation)
        folded = folded_name(one.name)
        if passage is None or one.kind not in KINDS or not folded:
            continue
        start = passage.text.find(one.name)
        if start < 0 or not stands_in(folded_text(passage.text), folded):
            continue
        use = Use(one.observation, one.name, folded, "name", "model", start, start + len(one.name))
        identities.named(one.kind, one.name, use)


def folded_text(text: str) -> str:
    """Return a text as names are looked for in it."""
    from muniment.store.text.fold import fold

    return " ".join(fold(text).split())


def _use(row: "ObservationRow", name: str, via: str) -> Use:
    at = row.text.find(name)
    start, end = (None, None) if at < 0 else (at, at + len(name))
    return Use(row.id, name, folded_name(name), "name", via, start, end)


def _starts(text: str, called: Called) -> list[tuple[str, int]]:
    words = (called.name or "", *called.emails, *called.phones)
    return [(word, at) for word in words if word and (at := text.find(word)) >= 0]


def _texts(facts: Mapping[str, Any], name: str) -> tuple[str, ...]:
    return tuple(str(one) for one in _listed(facts.get(name)))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []
