"""What ``memory_read`` returns: one record for each kind of object."""

from typing import Annotated, Any, Literal, Union

from pydantic import Field, TypeAdapter

from muniment.pipeline.serving.returns import (
    Count,
    NextOffset,
    Returned,
    SessionBrief,
    Timed,
    Untitled,
)

Objects = list[dict[str, Any]]


class Object(Returned):
    """What every object has."""

    ref: str
    next_offset: NextOffset


class Text(Object):
    """An object with a text, of which this is a page."""

    text: str | None
    text_characters: Count


class ObservationRead(Text):
    """Something recorded from an asset; ``instant`` is when, as it sorts."""

    object: Literal["observation"]
    id: str
    asset: str
    kind: str
    locator: dict[str, Any]
    producer: dict[str, Any]
    confidence: float
    origin: str
    role: str | None
    language: str | None
    author: str | None
    thread: str | None
    occurred: Timed | None
    instant: str | None
    attributes: dict[str, Any]
    live: bool
    misread: dict[str, Any] | None
    corrects: str | None
    name: str | None
    media_type: str | None
    episode: str | None


class Claim(Text):
    """What records and candidates share."""

    id: str
    type: str
    kind: str
    subject: str | None
    key: str | None
    value: str | None
    valid_at: Timed | None
    invalid_at: Timed | None
    due_at: Timed | None
    basis: str
    sensitivity: str
    risk: str
    salience: float
    confidence: float
    proposer: str
    status: str
    evidence: Objects


class RecordRead(Claim):
    """A version of a durable claim, with what happened to the record."""

    object: Literal["record"]
    version: Count
    candidate: str | None
    importance: float
    recorded_at: str
    closed_at: str | None
    pinned: bool
    executable: Literal[False]
    grants_permissions: Literal[False]
    related: list[str]
    revisions: Objects


class CandidateRead(Claim):
    """A proposed claim with the decision on it."""

    object: Literal["candidate"]
    operation: str
    reason: str | None
    actor: str | None
    created_at: str
    decided_at: str | None


class EventRead(Text):
    """A submitted message."""

    object: Literal["event"]
    id: str
    session: str
    asset: str | None
    role: str | None
    unfinished: bool
    taken_in_at: str
    observations: list[str]


class SessionEvent(Returned):
    """A message of a session; of a text longer than the page this is the beginning.

    ``corrected`` tells that some of it was taken back since.
    """

    event_id: str
    observation: str
    role: str | None
    text: str
    text_characters: Count
    author: str | None
    time: str | None
    category: str | None
    corrected: bool


class SessionRead(SessionBrief, Object):
    """A session with a page of its messages, and its unfinished speech in ``working``."""

    object: Literal["session"]
    gist: str | None
    gist_basis: str | None
    digest: str | None
    working: Objects
    events: list[SessionEvent]


class EpisodeRead(Object):
    """Related observations; ``members`` are a page of them."""

    object: Literal["episode"]
    id: str
    anchor: str
    rule: str
    version: Count
    created_at: str
    kind: str
    title: str | None
    gist: str | None
    gist_basis: str | None
    start: Timed | None
    end: Timed | None
    participants: list[str]
    place: dict[str, Any] | None
    source: str | None
    status: str
    members: list[str]
    context: list[str]


class AssetRead(Object):
    """Immutable bytes, where they were seen; ``observations`` are a page of what was read."""

    object: Literal["asset"]
    id: str
    name: str
    size: Count
    media_type: str | None
    family: str | None
    storage: str
    derived: bool
    captured: dict[str, Any] | None
    captured_claims: Objects
    place: dict[str, Any] | None
    links: Objects
    near_duplicates: Objects
    sightings: Objects
    attempts: Objects
    derived_assets: Objects
    observations: list[str]


class EntityRead(Object):
    """A person, place, organisation or thing."""

    object: Literal["entity"]
    id: str
    kind: str
    own: bool
    name: str | None
    names: Objects
    uses: Count
    merged: list[Any]
    relations: Objects
    proposals: Objects
    episodes: list[str]
    evidence: Objects


class PersonaRead(Text):
    """A version of who the assistant is for the user."""

    object: Literal["persona"]
    id: str
    user: str
    version: Count
    restores: int | None
    actor: str | None
    reason: str | None
    at: str | None


class RunRead(Object):
    """One run of a command, with what it counted."""

    object: Literal["run"]
    id: str
    command: str
    started_at: str
    ended_at: str | None
    exit_code: int | None
    counts: dict[str, Any] | None


class TombstoneRead(Object):
    """What a forget left: how many of each it took, and how many came back."""

    object: Literal["tombstone"]
    id: str
    mode: Literal["soft", "hard"]
    counts: dict[str, Any]
    actor: str
    at: str
    members: Count
    lifted: Count
    unfinished: Count


class TopicRead(Object):
    """Entities that belong together, and the episodes that say so."""

    object: Literal["topic"]
    id: str
    label: str
    label_basis: str
    entities: Objects
    count: Count
    episodes: list[str]


Read = Annotated[
    Union[  # noqa: UP007 (the bar would make it one of pydantic's metaclass)
        ObservationRead, RecordRead, CandidateRead, EventRead, SessionRead, EpisodeRead,
        AssetRead, EntityRead, PersonaRead, RunRead, TombstoneRead, TopicRead,
    ],
    Field(discriminator="object"),
]  # fmt: skip
ADAPTER: TypeAdapter[Any] = TypeAdapter(Read)


def read_schema() -> dict[str, Any]:
    """Return the JSON schema of an object: one of those, by its ``object``."""
    schema = ADAPTER.json_schema(by_alias=True, schema_generator=Untitled)
    schema.pop("discriminator", None)  # no keyword of JSON Schema
    return {"type": "object", **schema}
