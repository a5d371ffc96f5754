"""Processes of our own as their parent sees them, and the end of one with all that it started."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muniment.adapters.ports import Finding, ModelCall
    from muniment.pipeline.tasks import ReaderSetup, Task

ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OMP_WAIT_POLICY": "passive",
    "ORT_DISABLE_TELEMETRY": "1",
}


class Child:
    """A process that runs a module of ours, at the other end of a connection.

    It has a session of its own, and no way to our stdin and stdout. ``-P`` keeps the current
    folder, which may be full of somebody's files, off its path.
    """

    def __init__(self, module: str, *, show_errors: bool = False) -> None:
        self.connection, theirs = Pipe()
        reader, self._lifeline = os.pipe()
        command = [sys.executable, "-P", "-m", module, str(theirs.fileno()), str(reader)]
        try:
            self.process = subprocess.Popen(  # noqa: S603 (our own interpreter and module)
                command,
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


def attach() -> Connection:
    """Return the connection to the parent, in a process that it started; die with the parent.

    Two descriptors are named on the command line: a two-way connection, and the read end of a pipe
    that the parent never writes to. Its end means that the parent is gone or has no more use for
    this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    connection, lifeline = int(sys.argv[1]), int(sys.argv[2])
    for inherited in (connection, lifeline):
        os.set_inheritable(inherited, False)
    threading.Thread(target=_follow, args=(lifeline,), daemon=True).start()
    return Connection(connection)


def _follow(lifeline: int) -> None:
    """End this process and the programs it runs as soon as the lifeline ends."""
    while os.read(lifeline, 1):
        pass
    kill_tree(os.getpid())


class Worker(Child):
    """One reading process and the task in its hand."""

    def __init__(self, lane: str, setup: "ReaderSetup", *, show_errors: bool = False) -> None:
        super().__init__("muniment.pipeline.worker", show_errors=show_errors)
        self.lane = lane
        self.task: Task | None = None
        self.findings: list[Finding] = []
        self.calls: list[ModelCall] = []
        self.started = 0.0
        self.begun = False
        with contextlib.suppress(OSError):  # it died at once: its first task will tell
            self.connection.send(setup)

    def give(self, task: "Task") -> None:
        """Hand over a task; a process that is dead already shows when its answer is read."""
        self.task, self.findings, self.calls, self.begun = task, [], [], False
        self.started = time.monotonic()
        with contextlib.suppress(OSError):
            self.connection.send(task)


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
