"""What the machine may refuse: room, rights, file handles, a clock that goes forward."""

import errno
import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.cli import SCRIPT, Answer, execute, invoke

from muniment.store import files
from muniment.store.layout import Root, Scope
from muniment.store.ledger import audit, memory

NOTES = 40


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(NOTES):
        (folder / f"note-{number}.txt").write_text(f"Note {number}: the heron has {number} nests.")
    (folder / "long.txt").write_text(
        "\n".join(f"Leaf {n} floats to the sea." for n in range(9_000))
    )
    return folder


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    made = {"MUNIMENT_ROOT": str(tmp_path / "root"), "MUNIMENT_CACHE": str(tmp_path / "cache")}
    for name, value in made.items():
        monkeypatch.setenv(name, value)
    return made


def limited(limit: int, value: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(limit, (value, value))


def run_under(
    limit: int, value: int, environment: dict[str, str], *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(SCRIPT), *map(str, arguments)], env=environment, capture_output=True, text=True,
        preexec_fn=limited(limit, value), check=False, timeout=120,
    )  # fmt: skip


def sound(environment: dict[str, str], inputs: Path) -> None:
    """Check that what is there holds, and that the same command finishes the work."""
    if Root(Path(environment["MUNIMENT_ROOT"])).scope(Scope()).ledger.exists():
        assert execute("verify", environment=environment).code == 0
    again = execute("--json", "ingest", inputs, "--no-embeddings", environment=environment)
    assert again.code == 0
    found = execute("--json", "list", "assets", environment=environment)
    assert found.json["count"] == NOTES + 1


@pytest.mark.parametrize("handles", [10, 14, 24])
def test_few_file_handles_end_in_success_or_one_line(
    handles: int, inputs: Path, environment: dict[str, str]
) -> None:
    done = run_under(resource.RLIMIT_NOFILE, handles, environment, "ingest", inputs,
                     "--no-embeddings", "--jobs", "1")  # fmt: skip

    assert done.returncode in {0, 1, 3, 14}
    assert "Traceback" not in done.stderr
    sound(environment, inputs)


@pytest.mark.parametrize("size", [32 * 1024, 150 * 1024])
def test_files_that_may_not_grow_end_in_one_line_and_lose_nothing(
    size: int, inputs: Path, environment: dict[str, str]
) -> None:
    done = run_under(resource.RLIMIT_FSIZE, size, environment, "ingest", inputs, "--no-embeddings")

    assert done.returncode in {1, 13}
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    sound(environment, inputs)


def test_a_full_disk_says_13_and_the_same_command_goes_on(
    inputs: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        with files.space_errors():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_chunk", full)
        done = invoke("--json", "ingest", inputs, "--no-embeddings")

    assert (done.code, done.json["error"]["code"]) == (13, "no_space")
    sound(environment, inputs)


def test_no_room_for_the_second_copy_leaves_an_erasing_to_be_finished(
    inputs: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0

    def full(*_: Any, **__: Any) -> None:
        with files.space_errors():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(files, "publish", full)
        # The key of the forget list is published, too: it was made before.
        Root(Path(environment["MUNIMENT_ROOT"])).forget_key.write_bytes(os.urandom(32))
        done = invoke("--json", "forget", "--hard", "--yes", inputs / "note-7.txt")
    assert (done.code, done.json["error"]["code"]) == (13, "no_space")
    notes = invoke("--json", "verify").json["findings"]
    assert "forget_unfinished" in {one["code"] for one in notes}

    finished = invoke("--json", "forget", "--resume")

    assert (finished.code, finished.json["status"], finished.json["clean"]) == (0, "resumed", True)
    assert invoke("--json", "verify").json["findings"] == []


def test_a_root_that_can_not_be_written_is_read_and_refuses_to_change(
    inputs: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0

    def refused(*_: Any, **__: Any) -> None:
        with files.space_errors():
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    for door in ("make_directory", "create_temporary", "make_private", "write_chunk"):
        monkeypatch.setattr(files, door, refused)

    for command in (("ingest", inputs, "--no-embeddings"), ("remember", "I like tea."),
                    ("forget", "--hard", "--yes", inputs)):  # fmt: skip
        done = invoke("--json", *command)
        assert (done.code, done.json["error"]["code"]) == (1, "io"), command
    assert invoke("--json", "list", "assets").json["count"] == NOTES + 1


def test_a_clock_that_jumps_back_loses_no_order(
    inputs: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert invoke("-q", "remember", "I live in Berlin.").code == 0
    note = inputs / "note-3.txt"
    assert invoke("-q", "ingest", inputs, "--no-embeddings").code == 0
    with monkeypatch.context() as patch:
        for module in (memory, audit):
            patch.setattr(module, "now", lambda: "1999-01-01T00:00:00.000000Z")
        assert invoke("-q", "forget", note).code == 0
        assert recalled("nests").count("Note 3:") == 0
        assert invoke("-q", "unforget", note).code == 0

    assert recalled("heron has 3 nests").count("Note 3:") > 0
    assert execute("verify", environment=environment).code == 0


def recalled(query: str) -> str:
    answer: Answer = invoke("recall", query)
    return answer.out
