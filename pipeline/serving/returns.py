"""What each tool returns, as validated records: their JSON schemas are served, tests hold both.

No answer is made of them: whoever answers gives plain documents.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema

from muniment.pipeline.recall.schema import PackCitation, PackScope, ServedPack, lists_only

Count = Annotated[int, Field(ge=0)]
NextOffset = Annotated[int | None, Field(description="Where the next page begins; null: none.")]


class Returned(BaseModel):
    """A document that a tool returns; later versions may add fields."""

    model_config = ConfigDict(frozen=True)


class Timed(Returned):
    """A time as exactly as it is known; ``utc`` is null for a wall time without a zone."""

    utc: str | None
    local: str | None = None
    offset: str | None = None
    zone_source: str | None = None
    precision: str


# --- memory_timeline, persona_read --------------------------------------------------------------


class Span(Returned):
    """What held from when until when."""

    ref: str
    kind: str
    subject: str | None
    key: str | None
    value: str | None
    text: str
    from_: Annotated[Timed | None, Field(alias="from")]
    until: Timed | None
    status: str
    words: str


class Timeline(Returned):
    """A page of what held when, oldest first; ``count`` counts all pages."""

    about: str
    spans: list[Span]
    count: Count
    next_offset: NextOffset


class PersonaVersion(Returned):
    """A version of the persona, without its text."""

    version: Count
    restores: int | None
    actor: str | None
    reason: str | None
    at: str | None


class Persona(PersonaVersion):
    """Who the assistant is for the user; ``default`` where nobody has said."""

    text: str
    default: bool
    user: str
    versions: list[PersonaVersion]


# --- what changes memory ------------------------------------------------------------------------


class Remembered(Returned):
    """Where a statement is kept, and the records in force that rest on it."""

    status: Literal["created", "known"]
    observation: str
    records: list[str]


class ProposalOutcome(Returned):
    """What became of one proposal: the state of its candidate, or ``failed`` and why."""

    text: str | None
    status: Literal["pending", "active", "rejected", "failed"]
    ref: str | None
    reason: str | None
    operation: str | None
    code: str | None
    message: str | None
    hint: str | None
    line: int | None


class ProposedAll(Returned):
    """What became of each proposal, in their order."""

    candidates: list[ProposalOutcome]


class Corrected(Returned):
    """``record`` says it now; ``corrects`` is what was named."""

    status: Literal["corrected", "unchanged"]
    record: str
    corrects: str


class Forgotten(Returned):
    """How much was hidden, and the tombstone that brings it back."""

    status: Literal["forgotten", "unchanged"]
    mode: Literal["soft"]
    tombstone: str | None
    assets: Count
    observations: Count
    candidates: Count
    records: Count
    fragments: Count
    claims_changed: Count
    dry_run: bool


# --- sessions, turns, checkpoints ---------------------------------------------------------------


class EventOutcome(Returned):
    """What became of one event, in its place; ``known`` changed nothing."""

    event_id: str | None
    session: str | None
    status: Literal["appended", "fragment", "known", "forgotten", "failed"]
    observation: str | None
    code: str | None
    message: str | None
    line: int | None


class Appended(Returned):
    """What became of each event, and what the proposers made of them.

    ``pending`` says why they could not read them yet; ``closed`` are sessions left open before.
    """

    events: list[EventOutcome]
    closed: list[str]
    candidates: Count
    records: Count
    pending: str | None


class TurnDone(Appended):
    """What became of each event and each proposal of a turn."""

    proposals: list[ProposalOutcome]


class SessionBrief(Returned):
    """What is told of a session wherever it is named; ``new`` before anything was said in it."""

    ref: str
    id: str
    title: str | None
    status: Literal["new", "open", "ended"]
    reason: str | None
    host: str | None
    agent: str | None
    messages: Count
    started_at: str | None
    last_at: str | None
    ended_at: str | None


class ResumeItem(Returned):
    """One line of a component; what is not ``trusted`` is quoted, and no instruction.

    ``version`` is of a persona, ``strength`` of an emotion.
    """

    trusted: bool
    ref: str | None
    duplicates: Count
    kind: str
    text: str
    time: str | None
    citations: list[str]
    version: int | None = None
    strength: float | None = None


class ResumeComponent(Returned):
    """One component, whole."""

    name: Literal["persona", "checkpoint", "agreements", "memories", "emotion", "events"]
    items: list[ResumeItem]


class Resumed(Returned):
    """The context to go on with a session; ``omitted`` names components that did not fit.

    Its schema says of components and citations only that they are lists, as that of a pack does.
    """

    schema_: Annotated[Literal["muniment.resume/1"], Field(alias="schema")]
    scope: PackScope
    session: SessionBrief
    token_budget: Count
    tokens_used: Count
    status: Literal["ok", "insufficient_budget"]
    components: list[ResumeComponent]
    citations: list[PackCitation]
    omitted: list[str]

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        return lists_only(schema, "components", "citations")


class Prepared(Returned):
    """Pack and resume context under one budget."""

    schema_: Annotated[Literal["muniment.turn/1"], Field(alias="schema")]
    session: str
    token_budget: Count
    tokens_used: Count
    resume: Resumed
    pack: ServedPack


class CheckpointSaved(Returned):
    """The checkpoint that is kept; ``known`` where the newest one says the same."""

    checkpoint: str
    session: str
    status: Literal["created", "known"]


class Untitled(GenerateJsonSchema):
    """Makes schemas whose fields have no titles: those would only say their names again."""

    def field_title_should_be_set(self, schema: object) -> bool:
        """Return false."""
        return False


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of what a tool returns."""
    return model.model_json_schema(by_alias=True, schema_generator=Untitled)
