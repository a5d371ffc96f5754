"""The reading process: takes tasks from one pipe, gives back findings, dies with its parent."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from muniment.adapters.models.references import referring
from muniment.adapters.ports import Draft, Finding, Limits, ModelCall
from muniment.pipeline.processes import attach
from muniment.pipeline.tasks import Failure, ReaderSetup, Task, failure_of

if TYPE_CHECKING:
    from muniment.adapters.ports import Reader, Tools

BATCH = 256


class Readers:
    """The readers and models of one process, each loaded at its first use and kept."""

    def __init__(self, setup: ReaderSetup) -> None:
        self.calls: list[ModelCall] = []  # audit rows that nobody has taken yet
        self._setup = setup
        self._tools: Tools | None = None
        self._loaded: dict[str, Reader] = {}

    def read(self, task: Task) -> Iterator[Finding]:
        """Yield the findings of a task; whatever its reader raises passes through."""
        source = task.source
        if task.elsewhere is not None:
            path = task.elsewhere.fetch(source.asset, source.scratch)
            source = replace(source, path=path)
        with referring(source.asset):
            yield from self._reader(task).read(source, self._toolbox())

    def take_calls(self) -> list[ModelCall]:
        """Return the audit rows since the last time."""
        calls, self.calls[:] = list(self.calls), []
        return calls

    def _reader(self, task: Task) -> "Reader":
        target = task.reader.target
        if target not in self._loaded:
            from muniment.adapters import registry

            self._loaded[target] = registry.load(task.reader)
        return self._loaded[target]

    def _toolbox(self) -> "Tools":
        if self._tools is None:
            from muniment.adapters.tools import LocalTools

            self._tools = LocalTools(
                models=self._setup.models,
                limits=self._setup.limits,
                languages=self._setup.languages,
                threads=1,
                audit=self.calls.append,
            )
        return self._tools


def serve(connection: Connection) -> None:
    """Answer tasks until the connection ends.

    Each task gives ``("begin",)``, any number of ``("batch", findings, calls)`` and one
    ``("end", failure, stays)``.
    """
    setup = connection.recv()
    _limit(setup.limits)
    readers = Readers(setup)
    stays = True
    while stays:
        task = connection.recv()
        connection.send(("begin",))
        failure = _answer(connection, readers, task)
        stays = failure is None or failure.code != "memory_limit"
        connection.send(("end", failure, stays))


def _answer(connection: Connection, readers: Readers, task: Task) -> Failure | None:
    """Send the findings of a task in batches; the last one goes out even when reading fails."""
    batch: list[Finding] = []
    failure = None
    try:
        task.source.scratch.mkdir(mode=0o700, exist_ok=True)
        for finding in readers.read(task):
            if isinstance(finding, Draft):
                _ = finding.locator.canonical  # worked out here, so that the one writer need not
            batch.append(finding)
            if len(batch) >= BATCH:
                connection.send(("batch", batch, readers.take_calls()))
                batch = []
    except BaseException as error:  # a reader may raise anything, SystemExit included
        failure = failure_of(error)
    try:
        connection.send(("batch", batch, readers.take_calls()))
    except OSError:
        raise  # the parent is gone
    except Exception as error:  # a finding that can't be pickled, by whatever its class raises
        failure = failure or failure_of(error)
    return failure


def _limit(limits: Limits) -> None:
    """Cap private memory and file size.

    Not the address space: model runtimes reserve far more of it than they ever touch.
    """
    import resource

    for what, most in (
        (resource.RLIMIT_DATA, limits.worker_memory_bytes),
        (resource.RLIMIT_FSIZE, limits.max_unpacked_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (soft, hard))


def main() -> None:
    """Serve the connection named on the command line."""
    connection = attach()
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        serve(connection)
    os._exit(0)  # libraries' own exit handlers have been seen to hang; nothing here needs them


if __name__ == "__main__":
    main()
