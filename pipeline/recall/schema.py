"""The pack as a validated record: for tests, documentation and servers, never built by recall."""

from typing import Annotated, Any, Literal

from pydantic import Field, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from muniment.store.records import Locator, Origin, Strict, Unit

SectionName = Literal[
    "profile", "records", "conflicts", "episodes", "observations", "working", "unknowns"
]


class PackScope(Strict):
    """The scope that was asked."""

    tenant: str
    user: str
    namespace: str


class PackItem(Strict):
    """One claim. ``signals`` holds its rank in each signal; an unknown has no ref."""

    ref: str | None
    text: str
    kind: str
    time: str | None
    score: float
    signals: dict[str, Annotated[int, Field(ge=1)]]
    citations: list[str]
    duplicates: Annotated[int, Field(ge=0)]


class PackSection(Strict):
    """One section; all are present, in the order of the contract."""

    name: SectionName
    items: list[PackItem]


class PackContainer(Strict):
    """A container that what is cited was taken out of, and where in it the next one lies."""

    asset: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    name: str
    member: str


class PackCitation(Strict):
    """Where a claim comes from; ``quote`` is an exact part of the observation's text."""

    id: Annotated[str, Field(pattern=r"^c[1-9][0-9]*$")]
    ref: Annotated[str, Field(pattern=r"^observation:")]
    asset: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
    name: str
    within: list[PackContainer]
    media_type: str
    locator: Locator
    quote: str
    origin: Origin
    producer: str
    confidence: Unit
    captured_at: str | None


class PackOmitted(Strict):
    """What was left out, and why."""

    budget: Annotated[int, Field(ge=0)]
    evidence_gate: Annotated[int, Field(ge=0)]


class MemoryPack(Strict):
    """The answer of a recall (CONTRACT 5)."""

    schema_: Annotated[Literal["muniment.pack/1"], Field(alias="schema")]
    scope: PackScope
    query: str
    as_of: str | None
    token_budget: Annotated[int, Field(ge=256)]
    tokens_used: Annotated[int, Field(ge=0)]
    coverage: Literal["supported", "partial", "none"]
    sections: list[PackSection]
    citations: list[PackCitation]
    omitted: PackOmitted
    warnings: list[str]


class ServedPack(MemoryPack):
    """A pack whose JSON schema says of sections and citations only that they are lists.

    A client holds every answer that it gets against the schema of the tool; of each item and
    citation, too, that takes as long as half of the recall. Of what they are the lists tell who
    reads the schema, in a keyword that nothing is held against; that recall makes nothing else is
    what the tests hold it to.
    """

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Return the schema."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        schema["description"] = MemoryPack.__doc__
        return lists_only(schema, "sections", "citations")


def lists_only(schema: dict[str, Any], *names: str) -> dict[str, Any]:
    """Let a schema hold nothing against the items of some lists, and still tell what they are."""
    for name in names:
        said = schema["properties"][name]
        said["x-items"] = said.pop("items")
    return schema


def json_schema() -> dict[str, Any]:
    """Return the JSON schema of a pack."""
    return MemoryPack.model_json_schema(by_alias=True)
