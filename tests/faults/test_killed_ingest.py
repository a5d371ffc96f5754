"""An ingest that is killed at any moment is finished by running it again: same content."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from support.cli import SCRIPT, execute
from support.contents import contents_of

from muniment.store.layout import Root, Scope

NOTES = 120
SEED = 20_261_130
KILLS = 10


def environment(folder: Path) -> dict[str, str]:
    return {"MUNIMENT_ROOT": str(folder / "root"), "MUNIMENT_CACHE": str(folder / "cache")}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """Notes, a chat, a picture and a scan: every lane but speech, in a few seconds."""
    folder = tmp_path_factory.mktemp("inputs")
    for number in range(NOTES):
        (folder / f"note-{number:03}.txt").write_text(f"Note {number}: the number is {number * 7}.")
    for name in ("chat-zh.txt", "whiteboard.png", "letter-scan.pdf"):
        (folder / name).write_bytes((samples / name).read_bytes())
    return folder


def ingest(inputs: Path) -> list[str]:
    return [str(SCRIPT), "-q", "ingest", str(inputs), "--no-embeddings", "--me", "林梅"]


def test_ten_kills_at_random_moments_end_in_the_same_content(inputs: Path, tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    started = time.monotonic()
    assert subprocess.run(ingest(inputs), env=environment(whole), check=False).returncode == 0
    took = time.monotonic() - started
    moments = random.Random(SEED)

    for _ in range(KILLS):
        process = subprocess.Popen(ingest(inputs), env=environment(killed), start_new_session=True)
        time.sleep(moments.uniform(0.05, took * 0.8))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert subprocess.run(ingest(inputs), env=environment(killed), check=False).returncode == 0

    scope = Scope()
    assert contents_of(Root(killed / "root"), scope) == contents_of(Root(whole / "root"), scope)
    assert execute("verify", environment=environment(killed)).code == 0
    again = execute("--json", "ingest", inputs, "--no-embeddings", environment=environment(killed))
    assert (again.json["registered"], again.json["observed"], again.json["episodes"]) == (0, 0, 0)


def test_sigterm_ends_with_143_and_loses_nothing_that_was_done(
    inputs: Path, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        ingest(inputs), env=environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    time.sleep(2.5)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)

    assert process.returncode in {143, 0}
    assert "Traceback" not in said
    assert execute("verify", environment=environment(tmp_path)).code == 0
