"""A reading process as its parent sees it, and the end of a process with all that it started."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from multiprocessing.connection import Pipe
from pathlib import Path
from typing import Any

from muniment.adapters.ports import Finding, ModelCall
from muniment.pipeline.tasks import ReaderSetup, Task

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "ORT_DISABLE_TELEMETRY": "1",
}


class Worker:
    """One reading process and the task in its hand."""

    def __init__(self, lane: str, setup: ReaderSetup, *, show_errors: bool = False) -> None:
        self.lane = lane
        self.task: Task | None = None
        self.findings: list[Finding] = []
        self.calls: list[ModelCall] = []
        self.started = 0.0
        self.begun = False
        self._start(show_errors=show_errors)
        with contextlib.suppress(OSError):  # it died at once: its first task will tell
            self.connection.send(setup)

    def _start(self, *, show_errors: bool) -> None:
        """Start the process in a session of its own, with no way to our stdin and stdout.

        ``-P`` keeps the current folder, which may be full of somebody's files, off its path.
        """
        self.connection, theirs = Pipe()
        reader, self._lifeline = os.pipe()
        command = [sys.executable, "-P", "-m", "muniment.pipeline.worker"]
        try:
            self.process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                [*command, str(theirs.fileno()), str(reader)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=None if show_errors else subprocess.DEVNULL,
                env={**os.environ, **ENVIRONMENT},
                pass_fds=(theirs.fileno(), reader),
                start_new_session=True,
            )
        finally:
            theirs.close()
            os.close(reader)

    def give(self, task: Task) -> None:
        """Hand over a task; a process that is dead already shows when its answer is read."""
        self.task, self.findings, self.calls, self.begun = task, [], [], False
        self.started = time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(task)

    def receive(self) -> tuple[Any, ...] | None:
        """Return the next message, or null when the process has ended."""
        try:
            message: tuple[Any, ...] = self.connection.recv()
        except (EOFError, OSError):
            return None
        return message

    def end(self) -> int:
        """End the process with all that it started; return its exit status, negative a signal."""
        if self.process.returncode is None:  # not waited for yet, so the number is still its own
            kill_tree(self.process.pid)
        status = self.process.wait()
        self.connection.close()
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1
        return status


def kill_tree(pid: int) -> None:
    """Kill the leader of a session with its group and descendants, those in other sessions too.

    It is stopped first where it is another process, so that it starts no more of them meanwhile.
    """
    if pid != os.getpid():
        _send(pid, signal.SIGSTOP)
    for child in descendants(pid):
        _send(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """List the processes that a process started, directly or not; none without ``/proc``."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # the name in parentheses may hold spaces and parentheses of its own
            parent = int(entry.read_bytes().rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.parent.name))
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def _send(pid: int, what: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, what)
