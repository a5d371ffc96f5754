"""The nouns: what is kept and passed on, as validated, frozen records.

Two bases: :class:`Strict` for what we write, :class:`Lenient` for what other versions, tools and
models hand us. Reading paths use plain rows instead and never import this module.
"""

from functools import cached_property
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from muniment.store.ids import canonical, digest

Origin: TypeAlias = Literal["user", "agent", "tool", "external", "media", "third_party"]
Status: TypeAlias = Literal[
    "ok", "partial", "empty", "encrypted", "unsupported", "skipped", "failed"
]
Precision: TypeAlias = Literal[
    "year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond"
]
Unit: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0)]


class Strict(BaseModel):
    """A record of ours: no coercion, no unknown field, no change after birth."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON of this record, worked out once; it travels with a pickled record."""
        return canonical(self.model_dump()).decode("utf-8", "surrogatepass")

    def model_copy(self, **how: Any) -> Self:
        """Return a copy, changed as asked; what was worked out of the original stays behind."""
        copied = super().model_copy(**how)
        copied.__dict__.pop("canonical", None)
        return copied


class Lenient(BaseModel):
    """A record from elsewhere: unknown fields dropped, numbers as strings accepted."""

    model_config = ConfigDict(frozen=True, extra="ignore")


# --- locators: where in the asset (CONTRACT 3.3) -----------------------------------------------


class Box(Strict):
    """A rectangle of the upright picture or displayed page: origin top left, 0..1 of each side."""

    x: Unit
    y: Unit
    w: Unit
    h: Unit


class CharLocator(Strict):
    """A span of the decoded text: code points, half-open; lines count from 1, both included."""

    type: Literal["char"] = "char"
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    line_start: Annotated[int, Field(ge=1)]
    line_end: Annotated[int, Field(ge=1)]


class PageLocator(Strict):
    """A page (from 1) of the displayed document, and a box on it where known."""

    type: Literal["page"] = "page"
    page: Annotated[int, Field(ge=1)]
    bbox: Box | None = None


class BboxLocator(Strict):
    """A box of the upright image; ``quad`` holds four corners (x, y) when text runs askew.

    ``page`` is the frame or page (from 1) of an image file that has several.
    """

    type: Literal["bbox"] = "bbox"
    x: Unit
    y: Unit
    w: Unit
    h: Unit
    quad: tuple[tuple[Unit, Unit], ...] | None = None
    page: Annotated[int, Field(ge=1)] | None = None


class TimeLocator(Strict):
    """A span of the container's timeline in milliseconds, half-open."""

    type: Literal["time"] = "time"
    start_ms: Annotated[int, Field(ge=0)]
    end_ms: Annotated[int, Field(ge=0)]


class FrameLocator(Strict):
    """One video frame, by its presentation time in milliseconds."""

    type: Literal["frame"] = "frame"
    at_ms: Annotated[int, Field(ge=0)]
    bbox: Box | None = None
    index: Annotated[int, Field(ge=0)] | None = None


class MessageLocator(Strict):
    """One message (from 0) of a conversation or mailbox."""

    type: Literal["message"] = "message"
    index: Annotated[int, Field(ge=0)]
    author: str | None = None
    sent_at: str | None = None


class CellLocator(Strict):
    """A range such as ``B2:D9`` of a named sheet."""

    type: Literal["cell"] = "cell"
    sheet: str
    range: str


class MemberLocator(Strict):
    """A member of a container, and where inside that member."""

    type: Literal["member"] = "member"
    path: str
    inner: "Locator | None" = None


Locator: TypeAlias = Annotated[
    CharLocator
    | PageLocator
    | BboxLocator
    | TimeLocator
    | FrameLocator
    | MessageLocator
    | CellLocator
    | MemberLocator,
    Field(discriminator="type"),
]
MemberLocator.model_rebuild()


# --- evidence plane ----------------------------------------------------------------------------


class Moment(Strict):
    """A time as it is known (CONTRACT 3.2).

    ``utc``: ``YYYY-MM-DDTHH:MM:SS.ffffffZ`` or null when the zone is unknown. ``local``: wall time
    ``YYYY-MM-DDTHH:MM:SS.ffffff`` (cut at ``precision`` when coarser than a second is known).
    ``offset``: ``+08:00``. ``zone_source``: where the zone came from, e.g. ``exif``, ``utc``.
    """

    utc: str | None = None
    local: str | None = None
    offset: str | None = None
    zone_source: str | None = None
    precision: Precision = "second"

    @model_validator(mode="after")
    def _one_is_known(self) -> "Moment":
        if self.utc is None and self.local is None:
            raise ValueError("a moment needs utc or local time")
        return self


class Producer(Strict):
    """Who made an observation or vector: the fingerprint of CONTRACT 3.4 in words.

    ``role`` is the channel that it works for (``text``, ``ocr``, ``transcribe``, ``supplied:x``):
    a later producer of the same role and kind supersedes an earlier one.
    """

    adapter: str
    version: str
    role: str
    model: str = ""
    params_hash: str = ""

    @property
    def fingerprint(self) -> str:
        """The digest that names this producer wherever something of its making is kept."""
        return digest(self.adapter, self.version, self.role, self.model, self.params_hash)


class Asset(Strict):
    """Immutable bytes inside one scope. ``id`` is ``sha256:`` and 64 hex digits."""

    id: str
    size: Annotated[int, Field(ge=0)]
    media_type: str
    family: str
    storage: Literal["inline", "file"]
    derived: bool = False
    created_at: str


class Sighting(Strict):
    """Where an asset was seen: a file, a member of an asset, or text handed in."""

    id: str
    asset: str
    path: bytes
    source: str
    origin: Origin
    size: int
    mtime_ns: int | None = None
    parent: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    seen_at: str


class Observation(Strict):
    """Something recorded from an asset (CONTRACT 3.4)."""

    id: str
    asset: str
    kind: str
    text: str
    locator: Locator
    producer: str
    confidence: Unit = 0.0
    origin: Origin
    role: str | None = None
    language: str | None = None
    author: str | None = None
    thread: str | None = None
    occurred: Moment | None = None
    attributes: dict[str, Any] = Field(default_factory=dict)
    created_at: str


class Episode(Strict):
    """Related observations placed in one range of time (CONTRACT 3.5)."""

    id: str
    version: int
    anchor: str
    rule: str
    kind: str
    title: str
    gist: str
    gist_basis: Literal["extractive", "model"]
    start: Moment | None
    end: Moment | None
    participants: tuple[str, ...] = ()
    place: dict[str, Any] | None = None
    source: str
    status: str = "open"
    members: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    created_at: str


# --- memory plane ------------------------------------------------------------------------------

MemoryType: TypeAlias = Literal["episodic", "semantic", "prospective", "procedural"]
MemoryKind: TypeAlias = Literal[
    "fact", "preference", "agreement", "event", "emotion", "growth", "task", "lesson", "relation"
]
Operation: TypeAlias = Literal["ADD", "REINFORCE", "SUPERSEDE", "CONFLICT", "IGNORE"]
Basis: TypeAlias = Literal[
    "user_statement", "assistant_expression", "media", "inference", "third_party"
]
CandidateStatus: TypeAlias = Literal["pending", "active", "rejected"]
RecordStatus: TypeAlias = Literal[
    "active", "superseded", "archived", "conflicted", "revoked", "invalidated"
]


class Evidence(Strict):
    """The words that support a claim: ``observation.text[start:end] == quote``."""

    observation: str
    quote: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]


class Claim(Strict):
    """The fields that a candidate and a record share."""

    type: MemoryType
    kind: MemoryKind
    text: str
    subject: str | None = None
    key: str | None = None
    value: str | None = None
    valid_at: Moment | None = None
    invalid_at: Moment | None = None
    due_at: Moment | None = None
    basis: Basis
    sensitivity: Literal["normal", "sensitive"] = "normal"
    risk: Literal["low", "medium", "high"] = "low"
    salience: Unit = 0.5
    confidence: Unit = 0.0
    evidence: Annotated[tuple[Evidence, ...], Field(min_length=1)]


class Candidate(Claim):
    """A proposed claim awaiting the policy gate (CONTRACT 4.1)."""

    id: str
    operation: Operation = "ADD"
    proposer: str
    status: CandidateStatus = "pending"
    reason: str | None = None
    created_at: str


class Record(Claim):
    """A versioned durable claim (CONTRACT 4.3)."""

    id: str
    version: Annotated[int, Field(ge=1)]
    candidate: str
    proposer: str
    status: RecordStatus = "active"
    pinned: bool = False
    importance: Unit = 0.5
    executable: Literal[False] = False
    grants_permissions: Literal[False] = False
    recorded_at: str
    closed_at: str | None = None
