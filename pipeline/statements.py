"""What the user says to Muniment itself: kept as evidence like everything else."""

from itertools import count

from muniment.pipeline.proposers.base import Passage
from muniment.pipeline.stages.run import new_run_id
from muniment.store.assets import Taken
from muniment.store.ids import asset_id
from muniment.store.ledger import Ledger
from muniment.store.ledger.evidence import observation_id
from muniment.store.records import CharLocator, Moment, Observation, Producer
from muniment.store.times import now

FAMILY = "statement"  # read here and by no reader
PRODUCER = Producer(adapter="remember", version="1", role="statement")
STATED = PRODUCER.fingerprint


def statement_observation(
    text: str, said: str | None = None, *, occurrence: int = 0
) -> Observation:
    """Return the observation of a statement that is made now, or at the instant ``said``.

    ``occurrence`` tells those of the same words apart.
    """
    asset = asset_id(_bytes_of(text))
    lines = text.count("\n") + 1
    locator = CharLocator(start=0, end=len(text), line_start=1, line_end=lines)
    said = said or now()
    return Observation(
        id=observation_id(asset, "message", locator.model_dump(), PRODUCER.fingerprint, occurrence),
        asset=asset,
        kind="message",
        text=text,
        locator=locator,
        producer=PRODUCER.fingerprint,
        confidence=1.0,
        origin="user",
        role="user",
        occurred=Moment(utc=said, zone_source="utc", precision="microsecond"),
        created_at=said,
    )


def sayings(ledger: Ledger, text: str) -> list[str]:
    """Return the ids of the statements in these words that were made before, hidden or not."""
    found = ledger.database.execute(
        "SELECT o.id FROM observation o JOIN asset a ON a.seq = o.asset "
        "JOIN producer p ON p.seq = o.producer WHERE a.id = ? AND p.fingerprint = ? ORDER BY o.seq",
        (asset_id(_bytes_of(text)), PRODUCER.fingerprint),
    )
    return [str(row[0]) for row in found]


def said_anew(ledger: Ledger, text: str, said: str | None = None) -> Observation:
    """Return the observation of a statement; the same words at another time are another one."""
    before = sayings(ledger, text)
    made = (statement_observation(text, said, occurrence=n) for n in count(len(before)))
    return next(one for one in made if one.id not in before)


def add_statement(ledger: Ledger, observation: Observation, command: str) -> None:
    """Keep a statement with its bytes, inside the caller's unit; one that is kept stays.

    Said again by hand, it is neither forgotten nor hidden any more.
    """
    run = new_run_id()
    data = _bytes_of(observation.text)
    ledger.attempts.start_run(run, command)
    ledger.tombstones.admits("asset", observation.asset, allow=True)
    number, new = ledger.assets.add(Taken(observation.asset, len(data), data, data))
    if new:
        ledger.assets.add_type(number, "text/plain", FAMILY, "1")
    else:
        from muniment.pipeline.forgetting.hiding import bring_back

        bring_back(ledger, observation.asset)
    ledger.assets.see(
        (number, observation.asset), f"{command}:{observation.asset}".encode(),
        source=command, origin="user", size=len(data), run=run,
    )  # fmt: skip
    attempt = ledger.attempts.add(
        number, "remember", PRODUCER.adapter, PRODUCER.fingerprint, status="ok", run=run
    )
    producer, fingerprint = ledger.evidence.producer(PRODUCER)
    ledger.evidence.add([observation], number, {fingerprint: producer}, attempt)
    ledger.attempts.end_run(run, 0, {"remembered": 1})


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def statement_passage(observation: Observation) -> Passage:
    """Show a statement to proposers and guards."""
    said = observation.occurred
    return Passage(
        observation=observation.id,
        text=observation.text,
        kind="message",
        origin="user",
        role="user",
        occurred=None if said is None else said.model_dump(),
        instant=None if said is None else said.utc,
        confidence=observation.confidence,
    )
