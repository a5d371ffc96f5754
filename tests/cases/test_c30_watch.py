"""A watched folder: half-written files wait, renames read nothing again, Ctrl-C ends well (C30)."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli import SCRIPT
from support.ingesting import Store

SECONDS = 60.0


class Follower:
    """A watching process."""

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self.process = subprocess.Popen(
            [str(SCRIPT), "--root", str(store.root), "--json", "ingest", "--watch", "--settle",
             "0.8", "--no-embeddings", str(folder)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def until(self, texts: set[str]) -> None:
        """Wait until the store holds these texts."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if (self._store.root / "muniment.json").exists() and texts <= set(self._texts()):
                return
            time.sleep(0.3)
        raise AssertionError(f"{texts} were not taken in time")

    def _texts(self) -> list[str]:
        try:
            return self._store.texts()
        except KeyError:  # no store yet
            return []

    def end(self, number: int = signal.SIGINT) -> tuple[int, dict[str, object]]:
        """Interrupt it; return its exit code and its one answer."""
        self.process.send_signal(number)
        out, _ = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, json.loads(out)


@pytest.fixture
def follower(store: Store, folder: Path) -> Iterator[Follower]:
    made = Follower(store, folder)
    yield made
    if made.process.poll() is None:
        made.process.kill()
        made.process.communicate()


def test_files_are_taken_whole_once_and_an_interrupt_ends_with_its_code(
    follower: Follower, store: Store, folder: Path
) -> None:
    with (folder / "slow.txt").open("w") as slow:
        for part in ("The boiler ", "was serviced ", "in May."):
            slow.write(part)
            slow.flush()
            time.sleep(0.4)
    (folder / "copy.txt.part").write_text("The spare key ")
    follower.until({"The boiler was serviced in May."})
    (folder / "copy.txt.part").write_text("The spare key hangs in the shed.")
    (folder / "copy.txt.part").replace(folder / "copy.txt")
    follower.until({"The spare key hangs in the shed."})
    (folder / "slow.txt").replace(folder / "renamed.txt")
    time.sleep(3)

    code, said = follower.end()

    assert code == 130
    assert (said["registered"], said["failed"]) == (2, [])
    assert len(store.items()) == 2
    assert sorted(store.texts()) == [
        "The boiler was serviced in May.",
        "The spare key hangs in the shed.",
    ]


def test_a_terminated_watch_says_so(follower: Follower, folder: Path) -> None:
    (folder / "note.txt").write_text("The lease ends in June.")
    follower.until({"The lease ends in June."})

    assert follower.end(signal.SIGTERM)[0] == 143


@pytest.mark.parametrize("extra", [["-"], ["--dry-run", "."], ["--files-from", "list"]])
def test_what_can_not_be_followed_is_a_usage_error(store: Store, extra: list[str]) -> None:
    from support.cli import invoke

    assert invoke("--root", store.root, "ingest", "--watch", *extra).code == 2
