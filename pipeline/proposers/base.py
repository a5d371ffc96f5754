"""What proposers take and give, and the protocol that they share."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from muniment.store.ids import made

if TYPE_CHECKING:
    from muniment.store.records import Basis, MemoryKind, MemoryType

# what was read out of media: nobody's statement, whatever the origin of the file (invariant 4)
MEDIA_KINDS = frozenset(
    {"asr", "subtitle", "ocr", "visual", "page_text", "metadata", "event", "contact"}
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One observation as a proposer sees it.

    ``origin`` and ``role`` are the observation's (role ``user`` marks a turn addressed to the
    assistant). ``occurred`` holds the fields of its moment: relative dates count from it.
    ``confidence`` is how surely it was read. ``decided`` says that it was made to be claims, which
    were taken when it was said: what is read in it since is no new one.
    """

    observation: str
    text: str
    kind: str
    origin: str
    role: str | None = None
    author: str | None = None
    occurred: Mapping[str, Any] | None = None
    instant: str | None = None
    language: str | None = None
    asset: str | None = None
    confidence: float = 0.0
    attributes: Mapping[str, Any] = field(default_factory=dict)
    decided: bool = False


def is_guess(passage: Passage) -> bool:
    """Tell a classifier's guess at what a photo shows: nobody said or wrote it."""
    return passage.attributes.get("said_by") == "classifier"


@dataclass(frozen=True, slots=True)
class Quote:
    """The words that support a claim: ``text[start:end] == quote``, in code points."""

    observation: str
    quote: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CandidateDraft:
    """A proposed claim before the guards and the policy have seen it.

    ``rule`` names the form that was recognised, empty for a model's proposals. ``instructed``
    says that the speaker asked for it to be kept or used (``call me``, ``remember``). The three
    times are fields of a moment. ``also`` are further quotes that the claim rests on.
    """

    type: "MemoryType"
    kind: "MemoryKind"
    text: str
    evidence: Quote
    basis: "Basis"
    proposer: str
    rule: str = ""
    subject: str | None = None
    key: str | None = None
    value: str | None = None
    valid_at: Mapping[str, Any] | None = None
    invalid_at: Mapping[str, Any] | None = None
    due_at: Mapping[str, Any] | None = None
    sensitive: bool = False
    salience: float = 0.5
    confidence: float = 0.0
    instructed: bool = False
    also: tuple[Quote, ...] = ()

    @property
    def id(self) -> str:
        """Return the id: where it was said and what was made of it, so that a rerun adds none."""
        quote = self.evidence
        claim = (self.kind, self.subject, self.key, self.value, self.text)
        return made(
            "cand", self.proposer, self.rule, quote.observation, quote.start, quote.end, *claim
        )


@dataclass(frozen=True, slots=True)
class Named:
    """A name that a model found in an observation, and what kind of thing it names."""

    observation: str
    name: str
    kind: str


class Proposer(Protocol):
    """Propose claims from passages; equal passages give equal candidates, in order."""

    name: str
    version: str

    def propose(self, passages: Iterable[Passage]) -> Iterator[CandidateDraft]:
        """Yield candidates; a passage that supports nothing yields nothing."""
        ...
