"""Long work on stored bytes: its progress on stderr, and the time that it may take."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from muniment.pipeline.progress import ProgressLine
from muniment.store.errors import MunimentError

if TYPE_CHECKING:
    from muniment.pipeline.options import Session


class Pace:
    """Counts steps, and tells when the time is up; ``seconds`` null sets no limit."""

    def __init__(self, line: ProgressLine, seconds: float | None) -> None:
        self._line = line
        self._deadline = None if seconds is None else time.monotonic() + seconds

    def step(self) -> None:
        """Count one step; raise ``MunimentError`` when the time is up."""
        if not self.go_on():
            raise MunimentError(
                "the time limit is reached, and no snapshot was made",
                code="time_limit",
                hint="run the same command again: what was copied stays",
            )

    def go_on(self) -> bool:
        """Count one step, and tell whether there is time for it."""
        self._line.advance()
        return self._deadline is None or time.monotonic() < self._deadline


@contextmanager
def paced(session: "Session", stage: str, seconds: float | None) -> Iterator[Pace]:
    """Yield the pace of a command; the line on stderr ends with it."""
    settings = session.settings
    line = ProgressLine(sys.stderr, "never" if settings["quiet"] else settings["progress"])
    line.start(stage)
    try:
        yield Pace(line, seconds)
    finally:
        line.finish()
