"""What continuous integration runs beside the tests, where a part of it can't be had."""

import os
import shutil
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent


def test_the_browser_is_left_out_and_said_so_where_it_cannot_be_installed(tmp_path: Path) -> None:
    for name in ("bash", "dirname", "id"):
        found = shutil.which(name)
        assert found is not None
        (tmp_path / name).symlink_to(found)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(tmp_path / "bash"), str(CHECKOUT / ".ci" / "browser.sh"), *arguments],
            env={**os.environ, "PATH": str(tmp_path)}, capture_output=True, text=True, check=False,
        )  # fmt: skip

    smoke, whole = run("--smoke"), run()

    assert (smoke.returncode, whole.returncode) == (0, 1)
    assert "skipped" in smoke.stderr
    assert "apt-get install chromium" in whole.stderr
