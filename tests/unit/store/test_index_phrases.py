"""A phrase is looked for only where some document holds all its words."""

import sys
from pathlib import Path

import pytest

from muniment.store.index.documents import Document
from muniment.store.index.fts import TextIndex
from muniment.store.index.postings import without
from muniment.store.text.query import analyse_query

TEXTS = ("red door", "door red", "a red wall", "the door", "红色的门", "门是红色的")


@pytest.mark.parametrize("arrays", [True, False])
@pytest.mark.parametrize(
    ("question", "exact"),
    [("red door", {"red door"}), ("red window", set()), ("wall door", set()),
     ("红色的门", {"红色的门"})],
)  # fmt: skip
def test_what_holds_a_phrase_is_told_with_and_without_arrays(
    tmp_path: Path, question: str, exact: set[str], arrays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = TextIndex(tmp_path / "fts.sqlite3")
    index.add(Document(text, "text", text) for text in TEXTS)
    if not arrays:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)
    else:
        pytest.importorskip("numpy")

    found = index.search(analyse_query(question))
    index.close()

    assert {hit.ref for hit in found if hit.exact} == exact


@pytest.mark.parametrize("dead", [set(), {3}, set(range(0, 100, 2)), set(range(100))])
@pytest.mark.parametrize("held", [[], [3], list(range(0, 100, 3)), list(range(100))])
def test_postings_of_dead_places_are_left_out(held: list[int], dead: set[int]) -> None:
    def packed(offsets: list[int]) -> bytes:
        return b"".join((offset << 8 | 17).to_bytes(4, sys.byteorder) for offset in offsets)

    assert without(packed(held), dead) == packed([one for one in held if one not in dead])
