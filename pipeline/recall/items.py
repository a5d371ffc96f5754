"""What recall carries from a hit to a line of the pack."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

    from muniment.store.ledger.changes import AssetFacts
    from muniment.store.rows import ObservationRow
    from muniment.store.text.holding import Line


class Proof(NamedTuple):
    """One piece of live evidence: ``quote`` is an exact part of the observation's text."""

    row: "ObservationRow"
    asset: "AssetFacts"
    quote: str


@dataclass(slots=True)
class Item:
    """One claim that may enter the pack, with the evidence that passed the gate.

    ``coverage`` is the share of the query's weight that it holds, ``together`` that with what
    stands around it, ``clauses`` that of each of its clauses, ``similarity`` its cosine to the
    query where vectors were used. ``parts`` is what each signal and hint adds to the score,
    ``scores`` are the signals' own. ``status``, ``subject`` and ``key`` are a record's; an
    observation that answers in part alone is not ``whole``. ``lines`` are its text as it was read
    to measure it, those of another text not taken over.
    """

    ref: str
    plane: str
    kind: str
    text: str
    time: str | None
    proofs: list[Proof]
    score: float = 0.0
    signals: dict[str, int] = field(default_factory=dict)
    group: str | None = None
    asset: str | None = None
    status: str = "active"
    whole: bool = True
    subject: str | None = None
    key: str | None = None
    pinned: bool = False
    importance: float = 0.5
    coverage: float = 0.0
    together: float = 0.0
    parts: dict[str, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    clauses: tuple[float, ...] = ()
    similarity: float | None = None
    duplicates: int = 0
    lines: "Collection[Line]" = field(default=(), init=False, repr=False, compare=False)
