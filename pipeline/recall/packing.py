"""Pack what a recall under way has found: judge it, fill the budget, say what is unknown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muniment.pipeline.recall.items import Item
from muniment.pipeline.recall.pack import Describe, PackBuilder
from muniment.pipeline.recall.query import as_asked
from muniment.pipeline.recall.run import Recall
from muniment.pipeline.recall.select import Candidates, Selection
from muniment.pipeline.recall.tokens import Counter, estimate

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

UNREACHABLE = "the store of the assets can't be reached: what it would prove is left out"
LEXICAL_ONLY = "lexical only: semantic search was not used; add --semantic"
_MOST_UNKNOWN = 8


@dataclass(slots=True)
class Trail:
    """What became of the candidates of one recall, for ``explain``."""

    candidates: Candidates
    relevant: Candidates | None = None
    chosen: list[Item] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Packed:
    """A pack as plain values and as Markdown; ``is_full`` says that it has no room for more."""

    pack: dict[str, Any]
    markdown: str
    trail: Trail
    is_full: bool = False


def packed(run: Recall, notes: Sequence[str] = (), count: Counter = estimate) -> Packed:
    """Pack the best candidates, and look at the others only where those leave something open."""
    packing = _Packing(run, notes, count)
    for candidates in run.candidates():
        done = packing.pack(candidates)
        if done.is_full:
            break
    return done


class _Packing:
    """Packs candidates; what does not depend on them is read once."""

    def __init__(self, run: Recall, notes: Sequence[str], count: Counter) -> None:
        self._run = run
        self._notes = notes
        self._count = count
        self._describe = Describe(run.ledger.evidence.producer_of, _capture_time(run.ledger))
        self._standing: list[Item] | None = None

    def pack(self, candidates: Candidates) -> Packed:
        """Return the pack of these candidates."""
        run, trail = self._run, Trail(candidates)
        if self._standing is None:
            self._standing = run.standing()
        candidates.standing = self._standing
        if run.judge(candidates.answers()).coverage == "none":
            return self._unanswered(trail)
        builder, selection = self._begun()
        trail.relevant = candidates.narrowed(run.similarities.partial)
        selection.fill(trail.relevant, run.around)
        trail.chosen = selection.chosen
        judged = run.judge(selection.chosen)
        if judged.coverage == "none":
            return self._unanswered(trail)
        missing = run.gauge.missing_from(selection.chosen) if judged.coverage == "partial" else ()
        if missing:
            builder.add("unknowns", _unknown(as_asked(run.query.text, missing)))
        omitted = selection.omitted + candidates.unseen
        pack, markdown = builder.finish(judged.coverage, omitted, run.resolver.failed)
        return Packed(pack, markdown, trail, is_full=selection.omitted > 0)

    def _unanswered(self, trail: Trail) -> Packed:
        builder, selection = self._begun()
        selection.fill_pinned(trail.candidates.standing)
        return Packed(*builder.finish("none", 0, self._run.resolver.failed), trail)

    def _begun(self) -> tuple[PackBuilder, Selection]:
        run, request = self._run, self._run.request
        unreachable = [UNREACHABLE] if run.resolver.gate.unreachable else []
        told = [*self._notes, *_signal_notes(run), *unreachable]
        scope = run.ledger.scope.as_dict()
        builder = PackBuilder(request, scope, told, self._describe, self._count)
        weights, budget = run.scale.weights, request.token_budget
        faded = run.faded if request.fade else None
        return builder, Selection(builder, run.query, weights, budget, self._count, faded)


def _signal_notes(run: Recall) -> list[str]:
    if run.embedder is None:
        return [LEXICAL_ONLY]
    if run.lacking:
        return [f"{run.lacking} of {run.index.count()} texts have no vectors yet: muniment index"]
    return []


def _capture_time(ledger: "Ledger") -> Callable[[str], str | None]:
    def captured_at(asset: str) -> str | None:
        times = ledger.evidence.times(asset)
        return (times[0]["utc"] or times[0]["local"]) if times else None

    return captured_at


def _unknown(missing: Sequence[str]) -> Item:
    return Item(
        ref="",
        plane="unknown",
        kind="unknown",
        text=f"Nothing was found about: {', '.join(missing[:_MOST_UNKNOWN])}",
        time=None,
        proofs=[],
    )
