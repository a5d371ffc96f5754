"""Loops, odd files, two spellings, read-only sources, filters (C31, C32, C42)."""

import os
import socket
import threading
from pathlib import Path

import pytest
from support.cli import invoke
from support.ingesting import Store


def test_a_folder_that_links_to_itself_is_walked_once(store: Store, folder: Path) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    (folder / "self").symlink_to(".")
    (folder / "sub").mkdir()
    (folder / "sub" / "up").symlink_to("..")
    (folder / "sub" / "outside").symlink_to("/etc")
    (folder / "broken").symlink_to("nowhere")

    said = store.ingest(folder)

    assert (said["exit"], said["registered"]) == (0, 1)
    assert {one["reason"] for one in said["skipped"]} == {"symlink"}
    assert len(said["skipped"]) == 4


def test_pipes_sockets_and_devices_are_left_out_at_once(store: Store, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    before = Path.cwd()
    os.chdir(folder)
    try:
        listener.bind("socket")
    finally:
        os.chdir(before)
    (folder / "note.txt").write_text("The boiler was serviced in May.")

    said = store.ingest(folder, "/dev/null", folder / "pipe")
    listener.close()

    assert (said["exit"], said["registered"]) == (0, 1)
    assert [one["reason"] for one in said["skipped"]] == ["special_file"] * 4


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_what_can_not_be_read_is_named_and_the_rest_is_done(store: Store, folder: Path) -> None:
    (folder / "closed.txt").write_text("x")
    (folder / "closed.txt").chmod(0)
    (folder / "note.txt").write_text("The boiler was serviced in May.")

    said = store.ingest(folder)

    assert (said["exit"], [one["code"] for one in said["failed"]]) == (3, ["unreadable"])


def test_a_file_that_changes_while_it_is_read_is_named_and_taken_by_the_next_run(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muniment.store import assets

    path = folder / "log.txt"
    path.write_text("one line")
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    real = assets._read

    def grow(stream: object, size: int) -> bytes:
        data = real(stream, size)  # type: ignore[arg-type]  # the stream that it was given
        if data.startswith(b"one line"):
            with path.open("a") as log:
                log.write(" and another")
        return data

    with monkeypatch.context() as patch:
        patch.setattr(assets, "_read", grow)
        said = store.ingest(folder)

    assert (said["exit"], [one["code"] for one in said["failed"]]) == (3, ["changed"])
    assert store.texts() == ["The boiler was serviced in May."]
    assert store.ingest(folder)["registered"] == 1


def test_a_file_that_vanishes_is_named(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from muniment.store.assets import take_file

    (folder / "gone.txt").write_text("x")
    (folder / "note.txt").write_text("The boiler was serviced in May.")

    def take(path: bytes, *others: object) -> object:
        if path.endswith(b"gone.txt"):
            Path(os.fsdecode(path)).unlink()
        return take_file(path, *others)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr("muniment.pipeline.stages.register.take_file", take)
    said = store.ingest(folder)

    assert (said["exit"], [one["code"] for one in said["failed"]]) == (3, ["missing"])


def test_both_spellings_of_a_name_settle(store: Store, folder: Path) -> None:
    for name in ("\u00e9.txt", "e\u0301.txt"):
        (folder / name).write_text(f"spelt {len(name)}")

    runs = [store.ingest(folder) for _ in range(3)]

    assert [run["registered"] for run in runs] == [2, 0, 0]
    assert [run["unchanged"] for run in runs] == [0, 2, 2]


def test_a_source_that_can_not_be_written_to_is_read_and_left_as_it_was(
    store: Store, folder: Path
) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    (folder / "note.txt").chmod(0o400)
    folder.chmod(0o500)
    before = [(p, p.stat().st_mtime_ns, p.stat().st_ctime_ns) for p in (folder, *folder.iterdir())]
    try:
        assert store.ingest(folder)["registered"] == 1
        after = [(p, p.stat().st_mtime_ns, p.stat().st_ctime_ns)
                 for p in (folder, *folder.iterdir())]  # fmt: skip
    finally:
        folder.chmod(0o700)

    assert before == after


def test_size_age_and_kind_choose(store: Store, folder: Path) -> None:
    (folder / "small.txt").write_text("small")
    (folder / "large.txt").write_text("large " * 400)
    (folder / "old.txt").write_text("old")
    os.utime(folder / "old.txt", (1_600_000_000, 1_600_000_000))
    (folder / "named.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    dry = ("--dry-run", folder)

    def left(*options: str) -> dict[str, str]:
        said = store.ingest(*options, *dry)
        return {Path(one["path"]).name: one["reason"] for one in said["skipped"]}

    assert left("--max-size", "1K") == {"large.txt": "too_large"}
    assert left("--newer-than", "2021-01-01") == {"old.txt": "too_old"}
    assert left("--older-than", "30d").keys() == {"small.txt", "large.txt", "named.txt"}
    assert left("--type", "text") == {"named.txt": "other_type"}
    assert left("--type", "image", "--type", "audio").keys() == {
        "small.txt", "large.txt", "old.txt"
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong", [["--max-size", "big"], ["--newer-than", "lately"], ["--type", "things"]]
)
def test_a_bound_that_is_none_is_a_usage_error(
    store: Store, folder: Path, wrong: list[str]
) -> None:
    assert invoke("--root", store.root, "ingest", *wrong, folder).code == 2


def test_a_folders_own_ignore_file_holds_below_it(store: Store, folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / ".munimentignore").write_text("*.log\n!keep.log\n# a word\n/private/\n")
    (folder / "sub" / "private").mkdir()
    for name in ("a.log", "sub/b.log", "sub/keep.log", "sub/private/c.txt", "sub/d.txt"):
        (folder / name).write_text(name)

    store.ingest(folder, "--until", "register")

    assert {item["name"] for item in store.items()} == {"a.log", "keep.log", "d.txt"}


def test_two_runs_at_once_keep_both_whole(store: Store, folder: Path) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    said: list[int] = []
    threads = [threading.Thread(target=lambda: said.append(_run(store, folder))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(said) in ([0, 0], [0, 11])
    assert len(store.items()) == 1


def _run(store: Store, folder: Path) -> int:
    from support.cli import execute

    return execute("--root", store.root, "ingest", "--no-embeddings", folder).code
