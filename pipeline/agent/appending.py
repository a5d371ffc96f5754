"""Take events in: each commits before any model runs, and a repeated one changes nothing."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Any

from muniment.pipeline.agent.events import Event
from muniment.pipeline.stages.run import new_run_id
from muniment.store.assets import take_stream
from muniment.store.errors import MunimentError, StateError
from muniment.store.ids import asset_id
from muniment.store.ledger.evidence import observation_id
from muniment.store.ledger.sessions import LEFT_OPEN
from muniment.store.records import MessageLocator, Moment, Observation, Producer
from muniment.store.times import now

if TYPE_CHECKING:
    from muniment.pipeline.options import Session
    from muniment.store.ledger import Ledger

MEDIA_TYPE = "application/x-events+ndjson"
FAMILY = "event"  # taken in here and read by no reader
SOURCE = "session"
STAGE = "session"
PRODUCER = Producer(adapter="session", version="1", role="event")
# A longer text is kept in parts, so that what is found and cited stays readable.
PART_CHARACTERS = 16_000


@dataclass(slots=True)
class Outcome:
    """What became of one event: ``appended, fragment, known, forgotten``, or ``failed`` and why."""

    event_id: str | None
    session: str | None
    status: str
    observation: str | None = None
    code: str | None = None
    message: str | None = None
    line: int | None = None

    @classmethod
    def refused(cls, event: Event, error: MunimentError) -> "Outcome":
        """Return what is told of an event that could not be taken in."""
        return cls(event.event_id, event.session, "failed", None, error.code, error.message)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in Outcome.__dataclass_fields__}


@dataclass(slots=True)
class Taking:
    """Events on their way into one ledger; ``host`` tags the sessions that they open."""

    ledger: "Ledger"
    host: str | None = None
    agent: str | None = None
    closed: list[str] = field(default_factory=list)
    _run: str = ""

    def take(self, events: Sequence[Event]) -> list[Outcome]:
        """Commit a batch; an event that can't be taken is told and keeps none from going in."""
        with self.ledger.unit():
            self._run = new_run_id()
            self.ledger.attempts.start_run(self._run, "session append")
            batch = {event.session for event in events}
            outcomes = [self._one(event, partial(self._new, batch)) for event in events]
            counts = Counter(outcome.status for outcome in outcomes)
            self.ledger.attempts.end_run(self._run, 3 if counts["failed"] else 0, dict(counts))
        return outcomes

    def foresee(self, events: Sequence[Event]) -> list[Outcome]:
        """Say what would become of a batch; nothing is written."""
        seen: dict[str, bytes] = {}

        def new(event: Event) -> tuple[str, None]:
            said = event.bytes(event.occurred_at)
            if seen.setdefault(event.event_id, said) is not said:
                if seen[event.event_id] != said:
                    raise _conflict(event)
                return "known", None
            return "fragment" if event.unfinished else "appended", None

        return [self._one(event, new) for event in events]

    def _one(self, event: Event, new: Callable[[Event], tuple[str, str | None]]) -> Outcome:
        try:
            status, observation = self._forgotten(event) or self._known(event) or new(event)
        except MunimentError as error:
            if not isinstance(error, StateError):
                raise
            return Outcome.refused(event, error)
        return Outcome(event.event_id, event.session, status, observation)

    def _forgotten(self, event: Event) -> tuple[str, None] | None:
        """Leave an event out that was erased: a host's replay does not bring it back."""
        erased = self.ledger.tombstones.blocks("event", event.event_id)
        return ("forgotten", None) if erased else None

    def _known(self, event: Event) -> tuple[str, str | None] | None:
        """Recognise a repeated event; raise where it says something else than the first time."""
        known = self.ledger.sessions.event(event.event_id)
        if known is None:
            return None
        occurred = event.occurred_at or known.occurred
        same = (
            known.fragment == event.fragment(occurred)
            if known.asset is None
            else known.asset == asset_id(event.bytes(occurred))
        )
        if not same:
            raise _conflict(event)
        found = None
        if known.asset is not None:
            found = next((row.id for row in self.ledger.evidence.of_asset(known.asset)), None)
        return "known", found

    def _new(self, batch: set[str | None], event: Event) -> tuple[str, str | None]:
        sessions = self.ledger.sessions
        session, fresh = sessions.open(event.session or "", host=self.host, agent=self.agent)
        if fresh:
            self._close_others(batch)
        if event.unfinished:
            sessions.add(
                session, event.event_id, asset=None, fragment=event.fragment(event.occurred_at),
                occurred=event.occurred_at, spoken=True,
            )  # fmt: skip
            return "fragment", None
        index = sessions.count_messages(session)
        asset, first = self._keep(event, index)
        sessions.add(
            session, event.event_id, asset=asset, fragment=None, occurred=event.occurred_at,
            spoken=event.spoken,
        )  # fmt: skip
        return "appended", first

    def _close_others(self, batch: set[str | None]) -> None:
        """Close what a crash of this host left open; what goes on is opened again by its events."""
        for number, session in self.ledger.sessions.left_open(self.host, self.agent):
            if session not in batch and self.ledger.sessions.end(number, LEFT_OPEN):
                self.closed.append(session)

    def _keep(self, event: Event, index: int) -> tuple[int, str]:
        """Write the asset, its sighting and its observations; return the first one's id."""
        ledger, data = self.ledger, event.bytes(event.occurred_at)
        taken = take_stream(BytesIO(data), ledger.assets.store, ledger.root.temporary)
        number, new = ledger.assets.add(taken)
        if new:
            ledger.assets.add_type(number, MEDIA_TYPE, FAMILY, "1")
        ledger.assets.see(
            (number, taken.asset), f"session:{event.session}/{event.event_id}".encode(),
            source=SOURCE, origin=event.origin, size=taken.size, run=self._run,
        )  # fmt: skip
        attempt = ledger.attempts.add(
            number, STAGE, PRODUCER.adapter, PRODUCER.fingerprint, status="ok", run=self._run
        )
        producer, fingerprint = ledger.evidence.producer(PRODUCER)
        observations = list(self._observations(event, taken.asset, index))
        ledger.evidence.add(observations, number, {fingerprint: producer}, attempt)
        return number, observations[0].id

    def _observations(self, event: Event, asset: str, index: int) -> Iterator[Observation]:
        arrived = now()
        said = event.moment or Moment(utc=arrived, zone_source="arrival", precision="microsecond")
        locator = MessageLocator(index=index, author=event.author, sent_at=said.utc or said.local)
        labels = {
            "event_id": event.event_id, "category": event.category, "source": event.source,
            "agent": self.agent, "host": self.host,
        }  # fmt: skip
        reference = event.origin == "external"
        for place, text in enumerate(parts(event.text)):
            yield Observation(
                id=observation_id(
                    asset, "message", {"event": event.event_id}, PRODUCER.fingerprint, place
                ),
                asset=asset,
                kind="message",
                text=text,
                locator=locator,
                producer=PRODUCER.fingerprint,
                confidence=1.0,
                origin=event.origin,
                role=None if reference else event.role,
                author=event.author,
                thread=event.session,
                occurred=said,
                attributes={name: label for name, label in labels.items() if label is not None},
                created_at=arrived,
            )


def _conflict(event: Event) -> StateError:
    return StateError(
        f"event {event.event_id!r} was taken in with other fields",
        code="event_conflict",
        hint="give a new event an id of its own",
    )


def parts(text: str, most: int = PART_CHARACTERS) -> Iterator[str]:
    """Cut a text at line ends, else at spaces, so that the parts together are the text."""
    begun = 0
    while len(text) - begun > most:
        end = begun + most
        cut = max(text.rfind("\n", begun + most // 2, end), -1)
        cut = cut if cut >= 0 else text.rfind(" ", begun + most // 2, end)
        cut = end if cut < 0 else cut + 1
        yield text[begun:cut]
        begun = cut
    yield text[begun:]


def follow_up(session: "Session", stop: Callable[[], bool] = lambda: False) -> dict[str, Any]:
    """Group what is new and let proposers read it; what can't be done now stays to be done.

    So does what is left when ``stop`` says that nobody waits any more.
    """
    from muniment.pipeline.flow import Orders, perform

    try:
        tally, _ = perform(session, Orders("session follow-up", ("group", "propose"), stop=stop))
    except MunimentError as error:
        return {"candidates": 0, "records": 0, "pending": error.code}
    counts = tally.counts
    return {"candidates": counts["candidates"], "records": counts["records"], "pending": None}


def append(
    session: "Session", events: Sequence[Event], *, host: str | None = None, dry_run: bool = False
) -> tuple[list[Outcome], list[str]]:
    """Commit events as the scope's one writer; return what became of each, and what was closed."""
    if dry_run:
        with session.workspace().planning() as ledger:
            return Taking(ledger, host, session.settings["agent"]).foresee(events), []
    with session.workspace().writing() as ledger:
        taking = Taking(ledger, host, session.settings["agent"])
        return taking.take(events), taking.closed
