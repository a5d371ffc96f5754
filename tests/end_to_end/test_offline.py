"""No network, an empty home: everything works, and nothing is written where it should not be."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cli import SCRIPT


def can_unshare() -> bool:
    program = shutil.which("unshare")
    if program is None or os.geteuid() != 0:
        return False
    return subprocess.run([program, "-n", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="cutting the network off needs unshare and root")
def test_the_demo_and_a_recall_run_without_network_and_leave_the_home_alone(
    tmp_path: Path,
) -> None:
    home, scratch = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    scratch.mkdir()
    root, cache = tmp_path / "root", tmp_path / "cache"
    environment = {
        "HOME": str(home), "TMPDIR": str(scratch), "MUNIMENT_CACHE": str(cache),
        "PATH": "/usr/bin:/bin",
    }  # fmt: skip

    demo = subprocess.run(
        ["unshare", "-n", str(SCRIPT), "demo", "--keep", str(root)],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    recall = subprocess.run(
        ["unshare", "-n", str(SCRIPT), "--root", str(root), "recall", "--semantic",
         "What is the confirmation code of the inn?"],
        env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip

    assert demo.returncode == 0, demo.stderr
    assert (recall.returncode, "WL-48213" in recall.stdout) == (0, True), recall.stderr
    assert sorted(home.rglob("*")) == []
    assert sorted(scratch.rglob("*")) == []
    assert {path.name for path in tmp_path.iterdir()} == {"home", "tmp", "root", "cache"}
