"""What lacked a tool is read again by itself, a file's own fault only when asked for (C29)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.ingesting import Store

from muniment.adapters.formats.plain_text import TextReader
from muniment.adapters.ports import Finding, Source, Tools
from muniment.store.errors import InputError, MissingToolError

Read = TextReader.read


def refuse(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def read(self: TextReader, source: Source, tools: Tools) -> Iterator[Finding]:
        raise error

    monkeypatch.setattr(TextReader, "read", read)


def test_what_lacked_a_tool_is_read_by_the_next_run(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    with monkeypatch.context() as patch:
        refuse(patch, MissingToolError("the engine is not installed"))
        lacking = store.ingest(folder)

    again = store.ingest(folder)

    assert (lacking["exit"], len(lacking["failed"])) == (3, 1)
    assert (again["exit"], again["unchanged"], again["observed"]) == (0, 1, 1)
    assert store.texts() == ["The boiler was serviced in May."]


def test_a_files_own_fault_stands_until_a_retry_is_asked_for(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    with monkeypatch.context() as patch:
        refuse(patch, InputError("it makes no sense", code="nonsense"))
        first = store.ingest(folder)
        second = store.ingest(folder)

    third = store.ingest(folder)
    asked = store.ingest(folder, "--retry-failed")

    assert [one["code"] for one in first["failed"]] == ["nonsense"]
    assert (second["exit"], second["failed"], second["standing_failures"]) == (0, [], 1)
    assert (third["observed"], third["standing_failures"]) == (0, 1)
    assert (asked["observed"], asked["standing_failures"]) == (1, 0)
    assert store.texts() == ["The boiler was serviced in May."]


def test_what_was_read_well_is_not_read_again_by_a_retry(store: Store, folder: Path) -> None:
    (folder / "note.txt").write_text("The boiler was serviced in May.")
    store.ingest(folder)

    assert store.ingest(folder, "--retry-failed")["observed"] == 0


@pytest.mark.parametrize(
    ("name", "data", "status", "code"),
    [
        ("empty.txt", b"", "empty", "empty_file"),
        ("blank.txt", b" \n\t\n", "empty", "no_text"),
        ("noise.bin", bytes(range(256)) * 64, "unsupported", "no_reader"),
        ("cut.zip", b"PK\x03\x04" + bytes(200), "failed", None),
        ("cut.mp4", b"\x00\x00\x00\x18ftypmp42" + bytes(64), "failed", None),
    ],
)
def test_every_end_has_a_status_and_a_reason(
    store: Store, folder: Path, name: str, data: bytes, status: str, code: str | None
) -> None:
    (folder / name).write_bytes(data)

    said = store.ingest(folder, "--until", "observe")

    (item,) = store.items()
    ends = {one["status"]: one["code"] for one in store.show(item["ref"])["attempts"]}
    assert status in ends
    assert ends[status] == code or (code is None and ends[status])
    assert said["exit"] == (1 if status == "failed" and said["registered"] == 0 else
                            3 if status == "failed" else 0)  # fmt: skip
