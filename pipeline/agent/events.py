"""What a host submits: one message with its role and time, checked and put into one form."""

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from muniment.store.errors import UsageError
from muniment.store.ids import canonical_text, storable, storable_value
from muniment.store.records import Moment, Origin

MOST_CHARACTERS = 1_000_000
ID_CHARACTERS = 256
LABEL_CHARACTERS = 256
VOICE = "voice_fragment"
DEFAULT_SESSION = "default"

Role = Literal["user", "assistant", "tool", "system"]
Id = Annotated[str, Field(min_length=1, max_length=ID_CHARACTERS)]
Label = Annotated[str, Field(max_length=LABEL_CHARACTERS)]

# What a host puts before a model is nobody's statement; only a user's own words are the user's.
ORIGINS: dict[str, Origin] = {
    "user": "user", "assistant": "agent", "tool": "tool", "system": "tool",
}  # fmt: skip
# Material that was handed over to be read, not said: archived, never mined as lived experience.
REFERENCE = frozenset({"reference", "document", "knowledge", "persona"})


class Event(BaseModel):
    """One submitted message.

    A repeated ``event_id`` must carry the same fields; a time that is left out keeps the first
    one. ``category`` ``voice_fragment`` marks speech that is still being recognised until one comes
    with ``final`` true.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    event_id: Id
    role: Role
    text: Annotated[str, Field(max_length=MOST_CHARACTERS)]
    occurred_at: str | None = None
    category: Label | None = None
    source: Label | None = None
    author: Label | None = None
    session: Id | None = None
    final: bool | None = None

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the text is empty")
        return text

    @field_validator("occurred_at")
    @classmethod
    def _is_a_time(cls, text: str | None) -> str | None:
        if text is not None:
            _moment(text)
        return text

    @property
    def spoken(self) -> bool:
        """Tell whether it is speech as it was recognised."""
        return self.category == VOICE

    @property
    def unfinished(self) -> bool:
        """Tell whether it is speech that will still change."""
        return self.spoken and not self.final

    @property
    def origin(self) -> Origin:
        """Whose words they are."""
        return "external" if self.category in REFERENCE else ORIGINS[self.role]

    @property
    def moment(self) -> Moment | None:
        """When it was said, null when the host did not say."""
        return None if self.occurred_at is None else _moment(self.occurred_at)

    def payload(self, occurred_at: str | None) -> dict[str, Any]:
        """Return the fields that a repetition must carry, with the time that was given first."""
        fields = self.model_dump(exclude={"occurred_at"})
        return {**fields, "final": not self.unfinished, "occurred_at": occurred_at}

    def bytes(self, occurred_at: str | None) -> bytes:
        """Return the payload in its one form: one line of JSON."""
        return canonical_text(self.payload(occurred_at)).encode() + b"\n"

    def fragment(self, occurred_at: str | None) -> str:
        """Return the payload of an unfinished fragment as text."""
        return canonical_text(self.payload(occurred_at))


def read_event(fields: Any, session: str | None) -> Event:
    """Check one event; ``session`` stands in where it names none. Raises ``UsageError``.

    Half a character, such as one of a pair of surrogates, becomes U+FFFD.
    """
    if not isinstance(fields, dict):
        raise UsageError("an event is a JSON object", code="bad_event", hint=_HINT)
    fields = storable_value(fields)
    if not fields.get("session"):
        fields = {**fields, "session": session or DEFAULT_SESSION}
    try:
        return Event.model_validate(fields)
    except ValidationError as error:
        raise UsageError(_said(error), code="bad_event", hint=_HINT) from None


def read_line(line: str | bytes, session: str | None) -> Event:
    """Read one line of JSON as an event. Raises ``UsageError``."""
    return read_event(_fields(line), session)


def named_in(line: str | bytes) -> str | None:
    """Return the id that a line names which is no event; null where there is none."""
    try:
        fields = _fields(line)
    except UsageError:
        return None
    name = fields.get("event_id") if isinstance(fields, dict) else None
    return storable(name) if isinstance(name, str) else None


def _fields(line: str | bytes) -> Any:
    text = line.decode("utf-8", "replace") if isinstance(line, bytes) else line
    try:
        return json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        raise UsageError("the line is not JSON", code="bad_event", hint=_HINT) from None


_HINT = (
    "one object a line: event_id, role, text, and occurred_at, category, source, author, session"
)


def _said(error: ValidationError) -> str:
    """Say which field is at fault, never what stood in it."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}"


def _moment(text: str) -> Moment:
    from muniment.adapters.formats.moments import iso_moment

    found = iso_moment(text)
    if found is None:
        raise ValueError("not an ISO 8601 time")
    return found
