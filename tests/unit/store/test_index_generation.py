from pathlib import Path

import pytest

from muniment.store.index.documents import Document, IndexDamageError
from muniment.store.index.generation import Generations, open_text
from muniment.store.text.query import analyse_query


@pytest.fixture
def generations(tmp_path: Path) -> Generations:
    return Generations(tmp_path / "index")


def build(generations: Generations, text: str) -> Path:
    folder = generations.create()
    index = open_text(folder)
    index.add([Document("n", "text", text)])
    index.close()
    return folder


def test_no_generation_is_a_missing_index(generations: Generations) -> None:
    for _ in range(2):
        with pytest.raises(IndexDamageError) as caught:
            generations.current()
        assert caught.value.code == "index_missing"
        build(generations, "not promoted")


def test_a_new_generation_takes_over_and_the_old_one_goes(generations: Generations) -> None:
    first = build(generations, "old")
    generations.promote(first)
    reader = generations.open_text()
    second = build(generations, "new")
    assert generations.current() == first
    generations.promote(second)
    assert generations.current() == second
    assert generations.prune() == 1
    assert not first.exists()
    assert [hit.ref for hit in reader.search(analyse_query("old"))] == ["n"]
    reader.close()
    fresh = generations.open_text()
    assert [hit.ref for hit in fresh.search(analyse_query("new"))] == ["n"]
    fresh.close()


def test_numbers_are_not_used_again(generations: Generations) -> None:
    names = [generations.create().name for _ in range(2)]
    generations.promote(generations.folder / names[1])
    generations.prune()
    assert [*names, generations.create().name] == ["gen-1", "gen-2", "gen-3"]


@pytest.mark.parametrize("pointer", [b"", b"gen-9\n", b"../gen-1\n", b"\xff\xfe"])
def test_a_pointer_to_nowhere_is_a_missing_index(generations: Generations, pointer: bytes) -> None:
    build(generations, "text")
    (generations.folder / "current").write_bytes(pointer)
    with pytest.raises(IndexDamageError):
        generations.current()
    with pytest.raises(IndexDamageError):
        generations.prune()
