"""Some calls of ``make soak``: every tool, parallel callers, one server process."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp")  # an extra

RUNNER = Path(__file__).parent.parent / "torture" / "soak.py"


def test_many_calls_at_once_leave_no_error_and_no_open_file() -> None:
    done = subprocess.run(
        [sys.executable, str(RUNNER), "--calls", "60", "--transport", "stdio"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout
