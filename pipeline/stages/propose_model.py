"""Propose by a model where one is configured: batches, failures that stay pending, audit rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.reading import take_named
from muniment.pipeline.proposers.base import CandidateDraft, Passage
from muniment.pipeline.proposers.model import (
    Answered,
    ModelProposer,
    batches,
    worth_reading,
)
from muniment.pipeline.stages.propose import STAGE, Proposals, passage_of
from muniment.pipeline.stages.run import Run
from muniment.store.errors import InputError, MissingToolError

if TYPE_CHECKING:
    from muniment.adapters.ports import Chat, ModelCall
    from muniment.store.rows import ObservationRow

ROWS = 200
MOST_IN_A_ROW = 3  # a service that failed so often is left alone until the next run
_MESSAGE_CHARACTERS = 300


class ModelReading:
    """One run of the model proposer over what is new, and over what failed before."""

    def __init__(
        self, run: Run, proposals: Proposals, load: "Callable[[Callable[[ModelCall], None]], Chat]"
    ) -> None:
        self._calls: list[ModelCall] = []
        self._proposer = ModelProposer(load(self._calls.append))
        self._proposals = proposals
        self._identities = Identities(run.ledger)
        self._run = run
        self._failed_in_a_row = 0
        self.failed = 0

    def read(self) -> None:
        """Ask about every batch; one that fails is kept for the next run with what was wrong."""
        audit, fingerprint = self._run.ledger.audit, self._proposer.fingerprint
        for first, last in audit.pending(fingerprint):
            if not self._go_on:
                return
            rows = self._run.ledger.evidence.between(first, last)
            self._take([passage_of(row) for row in rows], (first, last), None)
        attempts = self._run.ledger.attempts
        mark = attempts.mark(STAGE, fingerprint)
        while self._go_on and (rows := self._run.ledger.evidence.after(mark, ROWS)):
            mark = self._read_on(rows, mark)

    @property
    def _go_on(self) -> bool:
        return self._failed_in_a_row < MOST_IN_A_ROW and not self._run.out_of_time

    def _read_on(self, rows: "Sequence[ObservationRow]", mark: int) -> int:
        """Read rows batch by batch and move the mark with each; return it."""
        numbers = {row.id: row.seq for row in rows}
        passages = [one for row in rows if worth_reading(one := passage_of(row))]
        for batch in batches(passages):
            if not self._go_on:
                return mark
            first, last = (numbers[batch[at].observation] for at in (0, -1))
            self._take(batch, (first, last), last)
            mark = last
        with self._run.ledger.unit():
            self._run.ledger.attempts.set_mark(STAGE, rows[-1].seq, self._proposer.fingerprint)
        return rows[-1].seq

    def _take(self, batch: list[Passage], span: tuple[int, int], mark: int | None) -> None:
        """Ask about one batch and keep what came of it, with its audit rows, in one unit."""
        batch = [passage for passage in batch if worth_reading(passage)]
        code = message = None
        answer = Answered([], [])
        try:
            answer = self._proposer.ask(batch) if batch else answer
        except (InputError, MissingToolError) as error:
            code, message = error.code, error.message[:_MESSAGE_CHARACTERS]
        fingerprint, ledger = self._proposer.fingerprint, self._run.ledger
        before = self._proposals.candidates
        with ledger.unit():
            self._keep_calls()
            passages = {passage.observation: passage for passage in batch}
            drafts = [one for one in answer.drafts if not _is_decided(one, passages)]
            self._proposals.take(drafts, passages)
            take_named(self._identities, answer.named, passages)
            ledger.audit.add_attempt(
                fingerprint, *span, candidates=self._proposals.candidates - before, code=code,
                message=message,
            )  # fmt: skip
            if mark is not None:
                ledger.attempts.set_mark(STAGE, mark, fingerprint)
        self._failed_in_a_row = 0 if code is None else self._failed_in_a_row + 1
        self.failed += code is not None

    def _keep_calls(self) -> None:
        for call in self._calls:
            self._run.ledger.audit.add_call(**asdict(call))
        self._calls.clear()


def _is_decided(draft: CandidateDraft, passages: Mapping[str, Passage]) -> bool:
    """Tell whether a claim was decided when its words were said; a name in them is no claim."""
    return passages[draft.evidence.observation].decided
