"""The policy gate (CONTRACT 4.2): what becomes memory by itself, and what waits for approval."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.pipeline import keys
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.guards import reject_reason

if TYPE_CHECKING:
    from muniment.store.records import CandidateStatus

# the forms whose explicit statements by the owner activate; the part after the language
SUPPORTED_RULES = frozenset(
    {
        "remember",
        "form_of_address",
        "name",
        "preference",
        "favourite",
        "allergy",
        "birthday",
        "home",
        "address",
        "job",
        "employer",
        "promise",
        "reminder",
        "task",
        "lesson",
    }
)
# what a policy may name besides: how somebody stands to the user, and what else they are called
OFFERED_RULES = SUPPORTED_RULES | {"kin", "alias"}
LEAST_CONFIDENCE = 0.9


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the owner lets activate unasked: proposals of a proposer, kind and origin, sure enough.

    ``proposer``, ``kind`` and ``origin`` may be ``*``.
    """

    proposer: str
    kind: str = "*"
    least_confidence: float = LEAST_CONFIDENCE
    origin: str = "*"

    def covers(self, candidate: CandidateDraft, origin: str | None = None) -> bool:
        """Tell whether a candidate falls under it; unknown confidence never does."""
        return (
            self.proposer in ("*", candidate.proposer)
            and self.kind in ("*", candidate.kind)
            and self.origin in ("*", origin)
            and candidate.confidence > 0.0
            and candidate.confidence >= self.least_confidence
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The owner's choices; the default lets nothing but supported explicit statements through."""

    rules: frozenset[str] = SUPPORTED_RULES
    allowances: tuple[Allowance, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """The status that a candidate gets, and why, as a stable word."""

    status: "CandidateStatus"
    reason: str


def decide(candidate: CandidateDraft, policy: Policy, origin: str | None = None) -> Decision:
    """Decide on a candidate that has passed the guards; ``origin`` is its source's.

    A name or form of address activates by the owner's own instruction only, whatever the policy
    allows.
    """
    explicit = candidate.basis == "user_statement" and candidate.proposer in ("rules", "remember")
    if candidate.key in keys.NAMING and not (explicit and candidate.instructed):
        return Decision("pending", "name_needs_instruction")
    # How people are related is kept as it was asked to be; in talk it is said by the way.
    asked = candidate.kind == "relation" and candidate.instructed
    rule = "remember" if asked else candidate.rule.rpartition(".")[2]
    if explicit and rule in policy.rules:
        return Decision("active", "explicit_statement")
    if any(allowance.covers(candidate, origin) for allowance in policy.allowances):
        return Decision("active", "policy_allows")
    if explicit:
        return Decision("pending", "rule_not_supported")
    return Decision("pending", f"{candidate.basis}_needs_approval")


def judge(candidate: CandidateDraft, passage: Passage, policy: Policy) -> Decision:
    """Run the guards, then the policy: rejected with the guard's reason, else as decided."""
    reason = reject_reason(candidate, passage)
    if reason is not None:
        return Decision("rejected", reason)
    return decide(candidate, policy, passage.origin)
