"""Finding files: names are bytes, links are not followed, junk is left out."""

import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.pipeline.stages.walk import Filters, Found, Left, Missing, read_list, walk


def names(folder: Path, filters: Filters | None = None) -> list[bytes]:
    found = walk([os.fsencode(folder)], filters or Filters())
    top = os.fsencode(folder) + b"/"
    return [item.path.removeprefix(top) for item in found if isinstance(item, Found)]


def left(folder: Path, filters: Filters | None = None) -> dict[bytes, str]:
    found = walk([os.fsencode(folder)], filters or Filters())
    return {item.path.rpartition(b"/")[2]: item.reason for item in found if isinstance(item, Left)}


def test_files_come_in_the_order_of_their_names_at_any_depth(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    assert names(tmp_path) == [b"a/b/c.txt", b"a/z.txt", b"b.txt"]


@pytest.mark.parametrize(
    "name", [b"-x", b"a:b", b"x%03d.png", b"new\nline", b"caf\xe9", "😀".encode()]
)
def test_any_name_is_found_as_the_bytes_that_it_is(tmp_path: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text("x")

    assert names(tmp_path) == [name]


def test_a_link_to_itself_is_left_out_and_ends(tmp_path: Path) -> None:
    (tmp_path / "self").symlink_to(".")
    (tmp_path / "a.txt").write_text("x")

    assert names(tmp_path) == [b"a.txt"]
    assert left(tmp_path) == {b"self": "symlink"}


def test_a_folder_named_twice_is_walked_once(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("x")
    inner = os.fsencode(tmp_path / "in")

    found = list(walk([inner, inner], Filters()))

    assert [type(item) for item in found] == [Found, Left]


def test_a_named_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("x")
    (tmp_path / "link").symlink_to("real")

    assert names(tmp_path / "link") == [b"a.txt"]


def test_a_special_file_is_left_out_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert left(tmp_path) == {b"pipe": "special_file"}


def test_a_missing_path_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    found = list(walk([os.fsencode(tmp_path / "gone"), os.fsencode(tmp_path)], Filters()))

    assert [type(item) for item in found] == [Missing, Found]


def test_junk_is_left_out_and_include_brings_it_back(tmp_path: Path) -> None:
    for name in ("Thumbs.db", "._a.txt", "a.txt", "b.part"):
        (tmp_path / name).write_text("x")

    assert names(tmp_path) == [b"a.txt"]
    assert names(tmp_path, Filters(include=("*.part",))) == [b"b.part"]


def test_a_folder_of_junk_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("x")

    assert left(tmp_path) == {b".git": "junk"}


def test_an_ignore_file_holds_for_its_folder_and_below(tmp_path: Path) -> None:
    (tmp_path / ".munimentignore").write_text("*.log\n")
    (tmp_path / "in").mkdir()
    for name in ("a.log", "a.txt", "in/b.log"):
        (tmp_path / name).write_text("x")

    assert names(tmp_path) == [b"a.txt"]


def test_exclude_takes_patterns_of_gitignore(tmp_path: Path) -> None:
    for name in ("a.txt", "drafts/b.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")

    assert names(tmp_path, Filters(exclude=("drafts/",))) == [b"a.txt"]


@given(st.lists(st.binary(min_size=1).filter(lambda name: b"\0" not in name)))
def test_a_list_ended_by_nul_gives_back_any_names(paths: list[bytes]) -> None:
    listed = io.BytesIO(b"".join(path + b"\0" for path in paths))

    assert list(read_list(listed, nul=True)) == paths


def test_a_list_of_lines_needs_no_last_line_end() -> None:
    assert list(read_list(io.BytesIO(b"a\n\nb"), nul=False)) == [b"a", b"b"]
