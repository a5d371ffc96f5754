"""Run an outside program: no shell, no stdin, bounded in time, memory and output.

Limits are set on the started process with ``prlimit`` (Linux); other systems keep the wall clock.
"""

import contextlib
import os
import re
import resource
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from muniment.store.errors import InputError, MissingToolError

STDERR_KEPT_BYTES = 8 * 1024
CPU_GRACE_SECONDS = 5
USUAL_PLACES = ("/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
_LINE_END = re.compile(rb"[\r\n]+")


@dataclass(frozen=True, slots=True)
class RunLimits:
    """What a program may use; null means no limit."""

    wall_seconds: float = 600.0
    cpu_seconds: int | None = None
    memory_bytes: int | None = None
    file_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended; ``stderr`` is its last 8 KiB."""

    returncode: int
    stderr: str
    timed_out: bool


def find_program(name: str) -> str:
    """Return where ``name`` lies: ``MUNIMENT_<NAME>``, then PATH, then the usual places.

    Raises ``MissingToolError`` when it is nowhere.
    """
    variable = f"MUNIMENT_{name.upper()}"
    chosen = os.environ.get(variable)
    if chosen:
        found = shutil.which(chosen)
    else:
        found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(USUAL_PLACES))
    if found is None:
        raise MissingToolError(
            f"{chosen or name} was not found",
            hint=f"install {name} or set {variable} to where it lies",
        )
    return found


def clean_environment() -> dict[str, str]:
    """Return the environment that a child gets: nothing of the caller's but PATH and HOME."""
    return {
        "PATH": os.environ.get("PATH") or os.pathsep.join((*USUAL_PLACES, "/bin")),
        "LANG": "C.UTF-8",
        "HOME": os.environ.get("HOME", "/"),
    }


class Running:
    """A started program whose stdout is read as it comes."""

    def __init__(
        self,
        argv: Sequence[str],
        limits: RunLimits,
        *,
        cwd: Path | None = None,
        on_line: Callable[[str], bool] | None = None,
    ) -> None:
        self._program = Path(argv[0]).name
        self._on_line = on_line
        self._tail = b""
        self._timed_out = False
        self._process = _start(argv, cwd)
        _limit(self._process.pid, limits)
        self._timer = threading.Timer(limits.wall_seconds, self._give_up)
        self._timer.daemon = True
        self._timer.start()
        self._drain = threading.Thread(target=self._read_stderr, daemon=True)
        self._drain.start()

    @property
    def stdout(self) -> BinaryIO:
        """The program's output."""
        stream = self._process.stdout
        assert stream is not None
        return stream  # type: ignore[return-value]  # a pipe opened in binary mode

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes of stdout, or fewer at its end."""
        return self.stdout.read(size)

    def end(self) -> Ended:
        """Wait for the end and say how it came; a time-out raises ``InputError``."""
        self._process.wait()
        self._timer.cancel()
        self._drain.join(timeout=10)
        ended = Ended(
            self._process.returncode, self._tail.decode("utf-8", "replace"), self._timed_out
        )
        if ended.timed_out or ended.returncode == -signal.SIGXCPU:
            raise InputError(f"{self._program} ran out of time", code="time_limit", transient=True)
        if ended.returncode == -signal.SIGXFSZ:
            raise InputError(f"{self._program} wrote too much", code="output_limit")
        return ended

    def close(self) -> None:
        """Kill the program's whole group if it still runs, and release its pipes."""
        self._timer.cancel()
        self._kill()
        self._process.wait()
        self._drain.join(timeout=10)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe is not None:
                pipe.close()

    def _give_up(self) -> None:
        self._timed_out = True
        self._kill()

    def _kill(self) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _read_stderr(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        rest = b""
        # read1 returns what is there: a line must reach its listener while the program runs.
        while block := stream.read1(65536):  # type: ignore[attr-defined]  # a buffered pipe
            *lines, rest = _LINE_END.split(rest + block)
            for line in lines:
                self._keep(line)
            rest = rest[-STDERR_KEPT_BYTES:]
        self._keep(rest)

    def _keep(self, line: bytes) -> None:
        if not line:
            return
        if self._on_line is not None and self._on_line(line.decode("utf-8", "replace")):
            return
        self._tail = (self._tail + line + b"\n")[-STDERR_KEPT_BYTES:]


@contextlib.contextmanager
def running(
    argv: Sequence[str],
    limits: RunLimits,
    *,
    cwd: Path | None = None,
    on_line: Callable[[str], bool] | None = None,
) -> Iterator[Running]:
    """Start a program and kill its group on the way out, whatever happened.

    ``on_line`` sees each line of stderr (from another thread) and returns true to take it.
    """
    program = Running(argv, limits, cwd=cwd, on_line=on_line)
    try:
        yield program
    finally:
        program.close()


def run(
    argv: Sequence[str],
    limits: RunLimits,
    *,
    cwd: Path | None = None,
    max_output_bytes: int = 64 * 1024 * 1024,
) -> bytes:
    """Run a program to its end and return its stdout.

    Raises ``InputError``: ``tool_failed`` on a non-zero status, ``time_limit``, ``output_limit``.
    """
    with running(argv, limits, cwd=cwd) as program:
        output = program.read(max_output_bytes + 1)
        if len(output) > max_output_bytes:
            raise InputError(f"{Path(argv[0]).name} wrote too much", code="output_limit")
        ended = program.end()
    if ended.returncode != 0:
        raise InputError(
            last_line(ended.stderr) or f"{Path(argv[0]).name} failed", code="tool_failed"
        )
    return output


def last_line(stderr: str) -> str:
    """Return the last line with something in it, shortened."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _start(argv: Sequence[str], cwd: Path | None) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 (an argument list, no shell)
            list(argv),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=clean_environment(),
            start_new_session=True,
        )
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == os.fspath(cwd or ""):
            raise  # it is the folder that is missing
        raise MissingToolError(
            f"{argv[0]} can't be started", hint=f"install {Path(argv[0]).name}"
        ) from error


def _limit(pid: int, limits: RunLimits) -> None:
    prlimit = getattr(resource, "prlimit", None)
    if prlimit is None:
        return
    wanted = {
        resource.RLIMIT_CPU: limits.cpu_seconds,
        resource.RLIMIT_AS: limits.memory_bytes,
        resource.RLIMIT_FSIZE: limits.file_bytes,
        resource.RLIMIT_CORE: 0,
    }
    for name, value in wanted.items():
        if value is not None:
            # Gone already, or the caller's own limit is lower than ours: both are fine.
            with contextlib.suppress(ProcessLookupError, ValueError, PermissionError):
                # The grace lets the kernel's warning signal say why, before it kills.
                grace = CPU_GRACE_SECONDS if name == resource.RLIMIT_CPU else 0
                prlimit(pid, name, (value, value + grace))
