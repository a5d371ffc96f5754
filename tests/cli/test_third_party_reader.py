"""A reader in a package of its own: installed, found, used."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import execute

TITLE, LYRIC = b"\xff\x03", b"\xff\x05"


def event(kind: bytes, words: str) -> bytes:
    data = words.encode()
    return b"\x00" + kind + bytes([len(data)]) + data


@pytest.fixture
def installed(tmp_path: Path, checkout: Path) -> Path:
    """Install the example into a folder of its own, from a copy, without any index."""
    package, target = tmp_path / "package", tmp_path / "site"
    shutil.copytree(checkout / "tests" / "fixtures" / "muniment_midi", package)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
         "--no-build-isolation", "--disable-pip-version-check", "--target", target, package],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return target


def test_an_installed_reader_reads_its_files_and_leaves_others(
    installed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    track = event(TITLE, "Harbour waltz") + event(LYRIC, "the ferry leaves at dawn")
    header = b"MThd\x00\x00\x00\x06\x00\x00\x00\x01\x00\x60"
    (folder / "tune.mid").write_bytes(
        header + b"MTrk" + len(track).to_bytes(4, "big") + track + bytes(32)
    )
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 16)
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(installed),
        "MUNIMENT_ROOT": str(tmp_path / "root"),
        "MUNIMENT_CACHE": str(tmp_path / "cache"),
    }

    said = execute("--json", "ingest", "--no-embeddings", folder, environment=environment)

    assert (said.code, said.json["failed"]) == (0, [])
    pack = execute("recall", "When does the ferry leave?", environment=environment)
    assert "the ferry leaves at dawn" in pack.out
    items = execute("--json", "list", "assets", environment=environment).json["items"]
    assert {item["name"]: item["reasons"] for item in items}["noise.bin"] == {"midi": "not_midi"}
