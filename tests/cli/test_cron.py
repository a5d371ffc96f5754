"""The recipe for cron, run as cron runs it: by ``/bin/sh -c`` and next to no environment."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from support.cli import SCRIPT

LINE = re.compile(r"^(?:[\d*/,-]+\s+){5}(?P<command>.*\bmuniment\b.*)$", re.MULTILINE)


def test_the_lines_of_the_recipe_run_under_an_empty_environment(
    checkout: Path, tmp_path: Path
) -> None:
    page = (checkout / "docs" / "how-to" / "cron.md").read_text("utf-8")
    for name, words in (("photos", "My name is Ada."), ("notes", "The heron stands.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.txt").write_text(words)
    commands = [found["command"] for found in LINE.finditer(page)]
    assert len(commands) >= 2

    for command in commands:
        done = subprocess.run(
            ["/usr/bin/env", "-i", f"PATH={SCRIPT.parent}:/usr/bin:/bin", f"HOME={tmp_path}",
             "/bin/sh", "-c", command.replace("/srv/", f"{tmp_path}/")],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), command

    said = subprocess.run(
        ["/usr/bin/env", "-i", str(SCRIPT), "--root", str(tmp_path / "memory"), "--json", "status"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(said.stdout)["counts"]["assets"] == 2


@pytest.mark.parametrize("page", ["cron.md", "backup.md"])
def test_no_line_has_a_bare_percent_sign_which_cron_takes_for_a_line_end(
    page: str, checkout: Path
) -> None:
    text = (checkout / "docs" / "how-to" / page).read_text("utf-8")
    blocks = text.split("```cron\n")[1:]

    assert blocks
    assert not any(re.search(r"(?<!\\)%", block.split("```")[0]) for block in blocks)
