"""One run of one or more stages: its id, its counts, its progress, its time limit.

Stage plumbing stands here once; a command says which stages, a stage says what it does.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.adapters.ports import Limits
from muniment.pipeline.output import path_fields
from muniment.pipeline.progress import ProgressLine
from muniment.pipeline.settings import Settings
from muniment.store.errors import ExitCode
from muniment.store.ids import digest

if TYPE_CHECKING:
    from muniment.store.ledger import Ledger

COUNTS = (
    "scanned", "registered", "duplicates", "unchanged", "observed", "observations", "episodes",
    "candidates", "records", "entities", "indexed", "embedded",
)  # fmt: skip


@dataclass(slots=True)
class Tally:
    """What a run did; the fields of ``ingest --json`` (CONTRACT 6)."""

    run: str
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    failed: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    standing_failures: int = 0
    started: float = field(default_factory=time.monotonic)

    def add(self, name: str, count: int = 1) -> None:
        """Count something new."""
        self.counts[name] += count

    def fail(self, path: bytes, stage: str, code: str, message: str) -> None:
        """Note an input that failed in this run."""
        self.failed.append({**path_fields(path), "stage": stage, "code": code, "message": message})

    def skip(self, path: bytes, reason: str) -> None:
        """Note an input that was left out on purpose."""
        self.skipped.append({**path_fields(path), "reason": reason})

    @property
    def exit_code(self) -> ExitCode:
        """Return 3 when some inputs failed, 1 when nothing was usable, else 0."""
        if not self.failed:
            return ExitCode.DONE
        usable = ("registered", "duplicates", "unchanged", "observed")
        return ExitCode.PARTIAL if any(self.counts[name] for name in usable) else ExitCode.FAILED

    def document(self) -> dict[str, Any]:
        """Return the JSON answer."""
        return {
            "run": self.run,
            **self.counts,
            "failed": self.failed,
            "skipped": self.skipped,
            "standing_failures": self.standing_failures,
            "warnings": self.warnings,
            "elapsed_s": round(time.monotonic() - self.started, 3),
        }


@dataclass(slots=True)
class Run:
    """What every stage of one run is given."""

    ledger: "Ledger"
    settings: Settings
    tally: Tally
    progress: ProgressLine
    scratch: Path
    cache: Path
    limits: Limits
    retry_failed: bool = False
    embeddings: bool = True
    allow_forgotten: bool = False
    deadline: float | None = None
    stop: Callable[[], bool] = lambda: False
    warn: Callable[[str], None] = lambda _: None

    @property
    def id(self) -> str:
        """The id of the run."""
        return self.tally.run

    @property
    def out_of_time(self) -> bool:
        """Tell whether the run is to end behind the item in hand."""
        late = self.deadline is not None and time.monotonic() > self.deadline
        return late or self.stop()

    @property
    def ending(self) -> str:
        """Name why a run ends before everything is done."""
        return "interrupted" if self.stop() else "time_limit"


def new_run_id() -> str:
    """Return an id for a run; runs are events, so two never share one."""
    return f"run_{digest(time.time_ns(), os.getpid(), os.urandom(8).hex())}"
