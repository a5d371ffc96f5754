"""A few points of ``make torture``: every way to fail, from the first write to the last sweep."""

import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).parent.parent / "torture" / "run.py"


def test_a_run_that_fails_anywhere_keeps_its_word_and_completes(tmp_path: Path) -> None:
    # The first of the three lies in the ingest, the last in the sweep of the erasing.
    done = subprocess.run(
        [sys.executable, str(RUNNER), "--every", "560", "--first", "240", "--folder",
         str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout
