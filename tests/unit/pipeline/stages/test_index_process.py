import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.asking import Asker
from support.index_contents import contents
from support.stores import TinyStore

from muniment.pipeline.processes import descendants
from muniment.pipeline.stages import index as stage
from muniment.pipeline.stages import index_process
from muniment.pipeline.stages.follow import Follower
from muniment.pipeline.stages.index import refresh
from muniment.pipeline.stages.index_process import IndexProcess, IndexProcessError
from muniment.store.index.documents import Document
from muniment.store.index.fts import TextIndex


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


@pytest.fixture
def index(tmp_path: Path) -> Iterator[TextIndex]:
    opened = TextIndex(tmp_path / "fts.sqlite3")
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _little_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage, "MANY", 2)


@pytest.fixture(autouse=True)
def _no_process_is_left() -> Iterator[None]:
    others = set(descendants(os.getpid()))  # servers of other tests, say
    yield
    assert set(descendants(os.getpid())) <= others


def fill(store: TinyStore) -> str:
    messages = [
        ("Ann", f"heron number {number}", f"2026-02-01T10:{number:02d}:00Z") for number in range(40)
    ]
    told = store.chat(messages, name="chat.txt", thread="thread")
    note = store.note("两只白鹭在湖边")
    store.episode(told[:5], title="Birds")
    store.record("Likes herons", note, "白鹭", kind="preference")
    return note


def note(number: int) -> Document:
    return Document(f"n{number}", "text", f"heron {number}")


def test_another_process_writes_the_same_index(store: TinyStore, tmp_path: Path) -> None:
    first = fill(store)
    both = []
    for jobs in (1, 2):
        folder = tmp_path / f"index-{jobs}"
        done = refresh(store.ledger, folder, tmp_path / "cache", jobs=jobs)
        assert done.indexed == 43  # forty messages, a note, an episode and a record
        both.append(contents(folder / "gen-1" / "fts.sqlite3"))
    assert both[0] == both[1]
    assert any(token == "白鹭" for _, token, _ in both[1]["posting"])

    store.observe_again(first, "一只苍鹭")
    store.notes(["one", "two", "three"])
    for jobs in (1, 2):
        folder = tmp_path / f"index-{jobs}"
        done = refresh(store.ledger, folder, tmp_path / "cache", jobs=jobs)
        assert (done.indexed, done.removed) == (4, 1)
        both[jobs - 1] = contents(folder / "gen-1" / "fts.sqlite3")
    assert both[0] == both[1]


def test_what_the_process_writes_can_be_asked_at_once(store: TinyStore) -> None:
    fill(store)
    asker = Asker(store)
    refresh(store.ledger, store.paths.index, asker.cache, jobs=2)
    assert asker.refresh().indexed == 0
    assert asker.texts("白鹭") == ["两只白鹭在湖边"]


def test_little_is_written_without_another_process(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(index_process, "Child", refuse)
    store.note("one")
    assert refresh(store.ledger, tmp_path / "index", tmp_path / "cache", jobs=2).indexed == 1


def test_where_no_process_can_be_started_all_is_written_in_here(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "too many processes")

    monkeypatch.setattr(index_process, "Child", refuse)
    fill(store)
    assert refresh(store.ledger, tmp_path / "index", tmp_path / "cache", jobs=2).indexed == 43


def test_when_the_process_fails_the_rest_is_written_in_here(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    new, batches = Follower._new, []

    def dying(self: Follower, counts: Any) -> None:
        written = self._index
        if isinstance(written, IndexProcess):
            batches.append(written)
            with written.transaction():
                written.add([note(1)])
            os.kill(written._child.process.pid, signal.SIGKILL)
        new(self, counts)

    monkeypatch.setattr(Follower, "_new", dying)
    folder = tmp_path / "index"
    assert refresh(store.ledger, folder, tmp_path / "cache", jobs=2).indexed == 43
    assert len(batches) == 1
    assert refresh(store.ledger, folder, tmp_path / "cache", jobs=2).indexed == 0


def test_an_interrupt_leaves_no_process_and_no_half_of_a_batch(index: TextIndex) -> None:
    with suppress(KeyboardInterrupt), IndexProcess(index, None) as written:
        with written.transaction():
            written.add([note(1), note(2)])
            written.set_mark("observation", 2)
        assert written.remove(["n1"]) == 1
        assert written.get_mark("observation") == 2
        with written.transaction():
            written.add([note(3)])
            raise KeyboardInterrupt
    assert set(index.rows_of(["n1", "n2", "n3"])) == {"n2"}
    assert index.get_mark("observation") == 2


def test_an_error_in_the_process_is_told_at_the_end(index: TextIndex, tmp_path: Path) -> None:
    index.set_mark("analyser", "another")
    with pytest.raises(IndexProcessError), IndexProcess(index, None) as written:
        assert written.get_mark("observation") == 0


def test_the_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path;"
        "from muniment.store.index.fts import TextIndex;"
        "from muniment.pipeline.stages.index_process import IndexProcess;"
        "written = IndexProcess(TextIndex(Path(sys.argv[1])), None);"
        "print(written._child.process.pid, flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "fts.sqlite3")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 20
    while _runs(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
