"""What is asked of an executor and what it answers: values that cross a process border."""

import errno
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from muniment.adapters.ports import Finding, Limits, ModelCall, ReaderSpec, Source
from muniment.store.errors import InputError, MunimentError

if TYPE_CHECKING:
    from muniment.adapters.models.settings import ModelSettings
    from muniment.store.asset_places import Elsewhere

MESSAGE_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class ReaderSetup:
    """What every reading process of a run is given: models, budgets, languages (ISO 639-1)."""

    models: "ModelSettings"
    limits: Limits = field(default_factory=Limits)
    languages: tuple[str, ...] = ("en", "zh")


@dataclass(frozen=True, slots=True)
class Task:
    """One asset to be read by one reader; ``key`` is the caller's own and comes back.

    ``elsewhere``, where it is set, is what the reading process gets the bytes from.
    """

    key: str
    reader: ReaderSpec
    source: Source
    seconds: float | None = None  # the time limit; null takes the limits' ``item_seconds``
    elsewhere: "Elsewhere | None" = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an asset was not read to its end; ``transient`` asks the next run to try again."""

    code: str
    message: str
    status: str = "failed"
    transient: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What one task gave; with a failure, the findings are those that came before it.

    ``calls`` are the audit rows of the remote calls that it made.
    """

    key: str
    findings: list[Finding]
    failure: Failure | None
    seconds: float
    calls: list[ModelCall] = field(default_factory=list)


class Executor(Protocol):
    """Run tasks somewhere: in this process, in processes of this machine, on a cluster."""

    def run(self, tasks: Iterable[Task]) -> Iterator[TaskResult]:
        """Yield one result a task as each ends, in any order; pull ``tasks`` only as needed.

        A task that fails is a result, never an exception. Leaving the iterator early stops what
        is running.
        """
        ...

    def close(self) -> None:
        """Let go of processes and models; closing twice is harmless."""
        ...


def failure_of(error: BaseException) -> Failure:
    """Name what a reader raised: a stable code and one line, never a traceback."""
    if isinstance(error, InputError):
        return Failure(
            error.code, _one_line(error.message), error.status, error.transient, error.hint
        )
    if isinstance(error, MunimentError):
        # A missing tool, a damaged model, a wrong setting: not the file's fault.
        return Failure(error.code, _one_line(error.message), transient=True, hint=error.hint)
    if isinstance(error, MemoryError):
        return Failure("memory_limit", "needs more memory than a reader may use")
    if isinstance(error, OSError) and error.errno is not None:
        return _failure_of_system(error)
    return Failure("reader_error", _one_line(f"{type(error).__name__}: {error}"))


def _failure_of_system(error: OSError) -> Failure:
    """Tell a full disk and a machine's fault apart; libraries' own OSErrors carry no number."""
    code = "no_space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "io_error"
    return Failure(code, error.strerror or type(error).__name__, transient=True)


def _one_line(text: str) -> str:
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= MESSAGE_CHARACTERS else words[: MESSAGE_CHARACTERS - 1] + "…"
