"""A real disk that is small, fills up, or can only be read; skipped where none can be mounted."""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import Answer, execute

MIB = 1024 * 1024


class Disk:
    """A mounted file system in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def change(self, options: str) -> None:
        """Mount it anew with other options."""
        _mount("-o", f"remount,{options}", str(self.path))


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Mount 3 MiB."""
    place = tmp_path / "disk"
    place.mkdir()
    _mount("-t", "tmpfs", "-o", "size=3m,mode=700", "tmpfs", str(place))
    try:
        yield Disk(place)
    finally:
        subprocess.run(["umount", "-l", str(place)], check=False, capture_output=True)


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Make 4 MiB of notes that no compression would shrink."""
    folder, words = tmp_path / "in", random.Random(7)
    folder.mkdir()
    for number in range(8):
        lines = (f"{words.getrandbits(400):x}" for _ in range(5 * 1024))
        (folder / f"note-{number}.txt").write_text(f"Heron {number}.\n" + "\n".join(lines))
    (folder / "small.txt").write_text("The heron stands in the reeds.")
    return folder


def run(root: Path, *arguments: str | Path) -> Answer:
    return execute("--root", root, "--json", *arguments)


def told(answer: Answer) -> tuple[int, str]:
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) <= 1, answer.err
    return answer.code, answer.json["error"]["code"]


def is_sound(root: Path) -> None:
    done = run(root, "verify")
    assert (done.code, done.json["damaged"]) == (0, False), done.out


def test_a_disk_that_fills_up_says_13_and_the_same_command_goes_on(
    disk: Disk, inputs: Path
) -> None:
    root = disk.path / "root"

    assert told(run(root, "register", inputs)) == (13, "no_space")
    if (root / "store").exists():
        is_sound(root)
    disk.change("size=64m")

    done = run(root, "register", inputs)
    assert done.code == 0, done
    assert run(root, "list", "assets").json["count"] == 9
    is_sound(root)


def test_a_full_backup_disk_says_13_and_keeps_the_snapshots_it_has(
    disk: Disk, inputs: Path, tmp_path: Path
) -> None:
    root, repository = tmp_path / "root", disk.path / "repo"
    assert run(root, "register", inputs / "small.txt").code == 0
    assert run(root, "backup", "create", repository).code == 0
    assert run(root, "register", inputs).code == 0

    assert told(run(root, "backup", "create", repository)) == (13, "no_space")

    assert run(root, "backup", "verify", repository).code == 0
    assert run(root, "backup", "list", repository).json["count"] == 1
    disk.change("size=64m")
    assert run(root, "backup", "create", repository).code == 0
    assert run(root, "backup", "verify", repository).code == 0


def test_a_restore_without_room_says_13_and_leaves_the_store_that_was_there(
    disk: Disk, inputs: Path, tmp_path: Path
) -> None:
    root, small = tmp_path / "root", disk.path / "root"
    assert run(root, "register", inputs).code == 0
    assert run(root, "backup", "create", tmp_path / "repo").code == 0
    assert run(small, "register", inputs / "small.txt").code == 0

    assert told(run(small, "restore", tmp_path / "repo", "--replace")) == (13, "no_space")

    assert run(small, "list", "assets").json["count"] == 1
    is_sound(small)
    disk.change("size=64m")
    assert run(small, "restore", tmp_path / "repo", "--replace").code == 0
    assert run(small, "list", "assets").json["count"] == 9


def test_a_disk_that_can_only_be_read_is_read_and_refuses_to_change(
    disk: Disk, inputs: Path, tmp_path: Path
) -> None:
    root = disk.path / "root"
    assert run(root, "ingest", inputs / "small.txt", "--no-embeddings").code == 0
    disk.change("ro")

    for command in (
        ["ingest", inputs / "small.txt", "--no-embeddings"], ["remember", "I like tea."],
        ["forget", "--hard", "--yes", "scope:."], ["verify", "--repair"],
    ):  # fmt: skip
        assert told(run(root, *command)) == (1, "io"), command
    assert run(root, "list", "assets").json["count"] == 1
    assert run(root, "recall", "heron", "--no-semantic").json["coverage"] == "supported"
    is_sound(root)
    assert run(root, "backup", "create", tmp_path / "repo").code == 0
    assert run(root, "backup", "verify", tmp_path / "repo").code == 0
