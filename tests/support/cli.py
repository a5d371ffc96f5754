"""Run commands as a person would: in this process for speed, as a process of their own for real."""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from muniment.pipeline import cli

SCRIPT = Path(sys.executable).parent / "muniment"


class Answer(NamedTuple):
    """What a command said and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)


def invoke(*arguments: str | Path, stdin: bytes = b"") -> Answer:
    """Run a command in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    real = sys.stdin
    sys.stdin = given
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run([str(argument) for argument in arguments])
    finally:
        sys.stdin = real
    return Answer(int(code), _read(out), _read(err))


def execute(
    *arguments: str | bytes | Path,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    timeout: float = 300,
) -> Answer:
    """Run the installed script as a process, in an environment of its own when one is given."""
    done = subprocess.run(
        [os.fspath(SCRIPT), *(os.fspath(argument) for argument in arguments)],
        input=stdin,
        capture_output=True,
        env=None if environment is None else dict(environment),
        timeout=timeout,
        check=False,
    )
    return Answer(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")
