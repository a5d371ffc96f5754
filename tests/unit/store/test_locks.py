import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from muniment.store import locks
from muniment.store.errors import ExitCode, LockedError, MunimentError

HOLDER = """
import sys, time
from pathlib import Path
from muniment.store import locks
with locks.hold(Path(sys.argv[2]), shared=sys.argv[3] == "shared"):
    print("held", flush=True)
    time.sleep(float(sys.argv[4]))
"""


@contextmanager
def holder(path: Path, how: str = "alone", seconds: float = 60) -> Iterator[subprocess.Popen[str]]:
    """Hold a lock in another process for the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, "ingest", str(path), how, str(seconds)],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process, pytest.raises(LockedError) as caught, locks.hold(path):
        pass

    assert caught.value.message == f"locked by process {process.pid} (-c ingest)"
    assert caught.value.exit_code is ExitCode.LOCKED
    assert "--lock-wait" in caught.value.hint
    assert caught.value.path == str(path)


def test_a_killed_holder_frees_the_lock_at_once(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()

        with locks.hold(path):
            pass


def test_the_note_of_a_dead_holder_names_nobody(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert b"pid" in path.read_bytes()

    with locks.hold(path, shared=True), pytest.raises(LockedError) as caught, locks.hold(path):
        pass

    assert caught.value.message == "locked by another process"


def test_waiting_ends_when_the_holder_does(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path, seconds=0.3), locks.hold(path, wait_seconds=30):
        pass


def test_waiting_gives_up_after_its_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path):
        start = time.monotonic()
        with pytest.raises(LockedError), locks.hold(path, wait_seconds=0.2):
            pass
        assert 0.2 <= time.monotonic() - start < 10


def test_shared_holders_do_not_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    hold = locks.hold
    with holder(path, "shared"), hold(path, shared=True), pytest.raises(LockedError), hold(path):
        pass


def test_the_note_goes_with_the_lock_and_its_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    before = os.umask(0)
    try:
        with locks.hold(path):
            assert str(os.getpid()).encode() in path.read_bytes()
    finally:
        os.umask(before)

    assert path.read_bytes() == b""
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("note", [b"", b"{", b"[]", b"\xff\xfe", b'{"pid": "x", "command": 1}'])
def test_a_note_that_makes_no_sense_is_no_matter(tmp_path: Path, note: bytes) -> None:
    path = tmp_path / "lock"
    path.write_bytes(note)

    refused = pytest.raises(LockedError, match="another process")
    with locks.hold(path, shared=True), refused, locks.hold(path):
        pass


def test_a_file_that_was_replaced_while_waiting_is_locked_anew(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path, seconds=1):
        path.unlink()
        with locks.hold(path), pytest.raises(LockedError), locks.hold(path):
            pass


def test_a_lock_on_a_full_disk_is_still_a_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)

    refused = pytest.raises(LockedError, match="another process")
    with locks.hold(tmp_path / "lock"), refused, locks.hold(tmp_path / "lock"):
        pass


def test_a_lock_in_a_folder_that_is_gone_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(MunimentError) as caught, locks.hold(tmp_path / "absent" / "lock"):
        pass

    assert caught.value.code == "io"


def test_a_folder_can_be_held(tmp_path: Path) -> None:
    with locks.hold(tmp_path), pytest.raises(LockedError), locks.hold(tmp_path):
        pass

    assert not list(tmp_path.iterdir())
