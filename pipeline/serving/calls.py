"""A call that somebody waits for: told how far it is, and able to be taken back."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass

from muniment.pipeline.progress import ProgressLine


def _nothing(*_: object) -> None:
    """Do nothing: who asks from here neither waits for news nor takes back."""


@dataclass(frozen=True, slots=True)
class Call:
    """``report`` tells (done, total); ``check`` raises once the client has taken the call back.

    Work checks between its units, so that what was begun is whole and the rest is not begun.
    """

    report: Callable[[int, int], None] = _nothing
    check: Callable[[], None] = _nothing

    def is_gone(self) -> bool:
        """Tell whether nobody waits any more."""
        try:
            self.check()
        except asyncio.CancelledError:
            return True
        return False

    def progress(self) -> ProgressLine:
        """Return a progress line that draws nothing and tells the client."""
        return _Told(self)


class _Told(ProgressLine):
    """Counts the stages of a long call for who waits for it."""

    def __init__(self, call: Call) -> None:
        super().__init__(sys.stderr, "never")
        self._call = call
        self._done = self._total = 0

    def start(self, stage: str, total: int | None = None) -> None:
        super().start(stage, total)
        self._total += total or 0
        self._call.check()

    def advance(self, count: int = 1, *, failed: int = 0, note: str = "") -> None:
        super().advance(count, failed=failed, note=note)
        self._done += count
        self._call.check()
        self._call.report(self._done, max(self._total, self._done))


ALONE = Call()
