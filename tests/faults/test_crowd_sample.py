"""Some seconds of ``make crowd``: writers, readers and backups on one scope at a time."""

import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).parent.parent / "torture" / "crowd.py"


def test_nobody_in_a_crowd_sees_half_a_unit_and_every_backup_restores(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(RUNNER), "--seconds", "8", "--folder", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout
    assert " restored and verified" in done.stdout
