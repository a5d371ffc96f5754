"""Turn one reader's findings about one asset into ledger rows, all of them or none."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from muniment.adapters import registry
from muniment.adapters.formats.sniff import SNIFFER_VERSION
from muniment.adapters.models.settings import ModelSettings
from muniment.adapters.ports import (
    Derived,
    Draft,
    Finding,
    Outcome,
    PlaceClaim,
    Print,
    ReaderSpec,
    TimeClaim,
)
from muniment.pipeline.stages.admission import Admission
from muniment.pipeline.stages.capture import RANKS, time_in_name
from muniment.pipeline.stages.run import Run
from muniment.pipeline.stages.sniffing import type_of
from muniment.pipeline.tasks import Failure
from muniment.store.assets import Taken, take_stream
from muniment.store.ids import canonical, digest
from muniment.store.ledger.evidence import observation_id_at
from muniment.store.records import Observation, Producer
from muniment.store.rows import AssetRow
from muniment.store.times import now, sort_key

# The model roles that make a kind; every other kind is the reader's own reading.
KIND_ROLES = {"ocr": ("ocr",), "asr": ("transcribe",), "visual": ("describe", "label")}
# Text out of pictures and sound is data about the world, whoever handed the file in.
MEDIA_KINDS = frozenset({"ocr", "asr", "visual", "subtitle", "chapter", "metadata"})
STAGE = "observe"


@dataclass(frozen=True, slots=True)
class Channel:
    """Who makes one kind of observation in this run: for its id and for what it supersedes."""

    producer: Producer
    role: str
    fingerprint: str  # the producer's, worked out once for the many that it made


@dataclass(slots=True)
class Channels:
    """The producers of every kind that a reader covers.

    ``preferred`` is the fingerprint of the models that were chosen, where the machine does not bear
    them now: what they have read already need not be read by lesser ones.
    """

    reader: ReaderSpec
    fingerprint: str
    preferred: str | None = None
    by_kind: dict[str, list[Channel]] = field(default_factory=dict)

    @classmethod
    def of(cls, reader: ReaderSpec, models: ModelSettings, me: tuple[str, ...]) -> "Channels":
        """Work out who produces what, without loading any model."""
        # Whose messages are the user's own is part of how a chat is read.
        own = digest(me) if "message" in reader.kinds and me else ""
        made_by, preferred = digest(registry.fingerprint(reader, models), own), None
        if models.preferred is not None:
            preferred = digest(registry.fingerprint(reader, models.preferred), own)
        channels = cls(reader, made_by, preferred if preferred != made_by else None)
        for kind in reader.kinds:
            roles = [role for role in KIND_ROLES.get(kind, ()) if role in reader.roles]
            for role in roles:
                if registry.model_spec(role, models) is not None:
                    model = registry.producer(role, models)
                    own_hash = digest(model.params_hash, reader.name, reader.version)
                    channels._add(kind, model.model_copy(update={"params_hash": own_hash}))
            if not roles:
                made = Producer(
                    adapter=reader.name, version=reader.version, role="read", params_hash=own
                )
                channels._add(kind, made)
        return channels

    @property
    def finished_by(self) -> tuple[str, ...]:
        """The fingerprints whose reading leaves nothing to do."""
        return (self.fingerprint, *filter(None, (self.preferred,)))

    @property
    def mark(self) -> str:
        """The name of the mark below which all is finished."""
        return digest(*self.finished_by) if self.preferred else self.fingerprint

    def _add(self, kind: str, producer: Producer) -> None:
        made = Channel(producer, producer.role, producer.fingerprint)
        self.by_kind.setdefault(kind, []).append(made)

    def of_draft(self, draft: Draft) -> Channel:
        """Return who made a draft: of several, the one whose role the draft names."""
        channels = self.by_kind[draft.kind]
        role = draft.producer.role if draft.producer is not None else ""
        return next((one for one in channels if one.role == role), channels[0])


class ReadingWriter:
    """Write what one reader found in one asset."""

    def __init__(self, run: Run, channels: Channels) -> None:
        self._run = run
        self._channels = channels
        self._me = frozenset(run.ledger.evidence.own_names())
        self._admission = Admission(run.ledger, allow=run.allow_forgotten)

    def prepare(self, findings: Iterable[Finding], failure: Failure | None = None) -> "Prepared":
        """Sort findings out and make the bytes of derived assets durable; no row is written."""
        found = Prepared.of(findings, failure)
        found.kept = [self._keep(derived) for derived in found.derived]
        return found

    def write(self, asset: AssetRow, found: "Prepared", milliseconds: int) -> str:
        """Append an attempt with all that it found, inside a unit; return its status."""
        ledger, evidence = self._run.ledger, self._run.ledger.evidence
        status, code, message, transient = found.end()
        attempt = ledger.attempts.add(
            asset.seq, STAGE, self._channels.reader.name, self._channels.fingerprint,
            status=status, code=code, message=message, transient=transient,
            milliseconds=milliseconds, run=self._run.id,
        )  # fmt: skip
        if status != "failed" and not transient:
            added = self._observations(asset, found.drafts, attempt)
            self._run.tally.add("observations", added)
        for claim in found.times:
            evidence.add_time(
                asset.seq, claim.moment.model_dump(), claim.source, RANKS[claim.source],
                claim.confidence, attempt=attempt,
            )  # fmt: skip
        for place in found.places:
            position = (place.latitude, place.longitude, place.altitude)
            evidence.add_place(asset.seq, position, place.source, attempt)
        for one in found.prints:
            ledger.duplicates.add(asset.seq, one.kind, one.value, attempt)
        for derived, taken in zip(found.derived, found.kept, strict=True):
            if self._admission.admits_asset(taken.asset):
                self._derive(asset, derived, taken, attempt)
        return status

    def _observations(self, asset: AssetRow, drafts: list[Draft], attempt: int) -> int:
        numbers: dict[str, int] = {}
        covered = []
        for kind, channels in self._channels.by_kind.items():
            for channel in channels:
                number, fingerprint = self._run.ledger.evidence.producer(channel.producer)
                numbers[fingerprint] = number
                covered.append((kind, channel.role, number))
        self._run.ledger.attempts.cover(asset.seq, attempt, covered)
        made_at = now()
        made = [self._observation(asset, draft, made_at) for draft in drafts]
        kept = [one for one in made if self._admits(one)]
        return self._run.ledger.evidence.add(kept, asset.seq, numbers, attempt)

    def _admits(self, found: Observation) -> bool:
        occurred = None if found.occurred is None else sort_key(found.occurred.model_dump())
        return self._admission.admits_observation(found, occurred)

    def discard(self) -> None:
        """Remove the bytes of what was forgotten and not let in; call it after the unit."""
        self._admission.discard()

    def _observation(self, asset: AssetRow, draft: Draft, made_at: str) -> Observation:
        fingerprint = self._channels.of_draft(draft).fingerprint
        return Observation(
            id=observation_id_at(
                asset.id, draft.kind, draft.locator, fingerprint, draft.occurrence
            ),
            asset=asset.id,
            kind=draft.kind,
            text=draft.text,
            locator=draft.locator,
            producer=fingerprint,
            confidence=draft.confidence,
            origin=self._origin(asset, draft),
            role=draft.role,
            language=draft.language,
            author=draft.author,
            # A log without a thread of its own is one thread.
            thread=draft.thread or (asset.id if draft.kind == "message" else None),
            occurred=draft.occurred,
            attributes=dict(draft.attributes),
            created_at=made_at,
        )

    def _origin(self, asset: AssetRow, draft: Draft) -> Any:
        if draft.kind in MEDIA_KINDS:
            return "media"
        if draft.author in self._me:
            return "user"
        return draft.origin or asset.origin

    def _keep(self, derived: Derived) -> Taken:
        """Make a derived asset's bytes durable before any row names them."""
        ledger = self._run.ledger
        if derived.path is None:
            return take_stream(BytesIO(derived.data or b""), ledger.assets.store, self._run.scratch)
        with derived.path.open("rb") as stream:
            return take_stream(stream, ledger.assets.store, self._run.scratch)

    def _derive(self, asset: AssetRow, derived: Derived, taken: Taken, attempt: int) -> None:
        assets = self._run.ledger.assets
        number, new = assets.add(taken, derived=True)
        if new or derived.observe:
            kind = type_of(self._run.ledger, taken, derived.name)
            assets.add_type(number, kind.media_type, kind.family, SNIFFER_VERSION)
        locator = derived.locator
        assets.derive(
            number, asset.seq, attempt, relation=derived.relation, name=derived.name,
            locator=None if locator is None else canonical(locator.model_dump()).decode(),
            observe=derived.observe,
        )  # fmt: skip
        if derived.observe:
            self._date(number, derived, attempt)

    def _date(self, number: int, derived: Derived, attempt: int) -> None:
        """Record what a name and a container say of the time of capture, as of any file."""
        told = time_in_name(derived.name, datetime.now(UTC))
        if told is not None:
            self._run.ledger.evidence.add_time(
                number, told, "file_name", RANKS["file_name"], 0.6, attempt=attempt
            )
        if derived.modified is not None:
            # Less sure than a file's own, which it may have been copied from.
            self._run.ledger.evidence.add_time(
                number, derived.modified.model_dump(), "mtime", RANKS["mtime"], 0.2, attempt=attempt
            )


@dataclass(slots=True)
class Prepared:
    """Findings by what they are, and how reading ended."""

    drafts: list[Draft] = field(default_factory=list)
    derived: list[Derived] = field(default_factory=list)
    times: list[TimeClaim] = field(default_factory=list)
    places: list[PlaceClaim] = field(default_factory=list)
    prints: list[Print] = field(default_factory=list)
    outcome: Outcome | None = None
    failure: Failure | None = None
    kept: list[Taken] = field(default_factory=list)

    @classmethod
    def of(cls, findings: Iterable[Finding], failure: Failure | None = None) -> "Prepared":
        """Sort findings, keeping their order."""
        found = cls(failure=failure)
        for finding in findings:
            match finding:
                case Draft():
                    found.drafts.append(finding)
                case Derived():
                    found.derived.append(finding)
                case TimeClaim():
                    found.times.append(finding)
                case PlaceClaim():
                    found.places.append(finding)
                case Print():
                    found.prints.append(finding)
                case Outcome():
                    found.outcome = finding
        return found

    def end(self) -> tuple[str, str | None, str | None, bool]:
        """Return status, code, message and whether another run should try again."""
        failure = self.failure
        if failure is not None:
            salvaged = self.drafts and failure.status == "failed" and not failure.transient
            status = "partial" if salvaged else failure.status
            return status, failure.code, failure.message, failure.transient
        if self.outcome is not None:
            return self.outcome.status, self.outcome.code, self.outcome.message, False
        return ("ok" if self.drafts else "empty"), None, None, False
