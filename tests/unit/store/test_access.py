from pathlib import Path

import pytest

from muniment.store import access
from muniment.store.access import Use

NOW = "2026-01-01T00:00:00.000000Z"
LATER = "2026-01-02T00:00:00.000000Z"


def test_each_recall_is_counted_with_its_time(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite3"
    assert access.uses(path) == {}

    assert access.touch(path, ["rec_1", "rec_2", "rec_1"], LATER)
    assert access.touch(path, ["rec_1"], NOW)

    assert access.uses(path) == {"rec_1": Use(2, LATER), "rec_2": Use(1, LATER)}
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_recalled_writes_nothing(tmp_path: Path) -> None:
    assert access.touch(tmp_path / "access.sqlite3", [], NOW)
    assert list(tmp_path.iterdir()) == []


def test_a_busy_file_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite3"
    access.touch(path, ["rec_1"], NOW)
    with access._open(path) as other:
        other.execute("BEGIN IMMEDIATE")
        assert not access.touch(path, ["rec_1"], NOW)

    assert access.uses(path)["rec_1"].times == 1


@pytest.mark.parametrize("content", [b"no database", b""])
def test_a_broken_file_costs_nothing_but_its_counts(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "access.sqlite3"
    path.write_bytes(content * 200)

    access.touch(path, ["rec_1"], NOW)
    assert set(access.uses(path)) <= {"rec_1"}


def test_a_folder_that_can_not_be_written_is_no_error(tmp_path: Path) -> None:
    assert not access.touch(tmp_path / "none" / "access.sqlite3", ["rec_1"], NOW)


def test_what_is_dropped_leaves_no_byte(tmp_path: Path) -> None:
    path = tmp_path / "access.sqlite3"
    access.touch(path, ["rec_to_be_forgotten", "rec_2"], NOW)

    access.drop(path, ["rec_to_be_forgotten"])
    access.drop(tmp_path / "none.sqlite3", ["rec_2"])

    assert set(access.uses(path)) == {"rec_2"}
    assert not any(b"forgotten" in file.read_bytes() for file in tmp_path.iterdir())
