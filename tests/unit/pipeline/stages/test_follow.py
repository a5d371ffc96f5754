import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.index_contents import contents
from support.stores import TinyStore

from muniment.pipeline.stages import follow
from muniment.pipeline.stages import index as stage
from muniment.pipeline.stages.follow import Counts, Follower
from muniment.pipeline.stages.index import refresh
from muniment.store.index.fts import TextIndex
from muniment.store.ledger.changes import Changes


class CutShortError(Exception):
    """The power is gone."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


def talk(store: TinyStore, name: str, minutes: range, hour: int = 10) -> list[str]:
    said = [
        ("Ann", f"heron number {minute} of {name}", f"2026-02-01T{hour}:{minute:02d}:00Z")
        for minute in minutes
    ]
    return store.chat(said, name=name, thread="thread")


def built(store: TinyStore, path: Path) -> dict[str, list[Any]]:
    index = TextIndex(path)
    Follower(store.ledger, index).catch_up()
    index.close()
    return contents(path)


def said(held: dict[str, list[Any]]) -> dict[str, set[tuple[Any, ...]]]:
    """Return the words of each document, with their views and places in it."""
    refs = {row[1]: row[2] for row in held["doc"]}
    words: dict[str, set[tuple[Any, ...]]] = {}
    for place, *word in held["words"]:
        words.setdefault(refs[place], set()).add(tuple(word))
    return words


def test_neighbours_in_two_batches_are_written_once(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(store, "even.txt", range(0, 40, 2))
    talk(store, "odd.txt", range(1, 40, 2))
    whole = built(store, tmp_path / "whole.sqlite3")
    monkeypatch.setattr(follow, "BATCH", 7)

    parts = built(store, tmp_path / "parts.sqlite3")

    assert parts == whole
    assert parts["dead"] == []


def test_what_was_followed_before_an_interruption_learns_of_new_neighbours(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk(store, "even.txt", range(0, 40, 2))
    monkeypatch.setattr(follow, "BATCH", 7)

    def cut_short(done: int) -> None:
        reported.append(done)
        if len(reported) == 2:
            raise CutShortError

    reported: list[int] = []
    index = TextIndex(tmp_path / "resumed.sqlite3")
    with pytest.raises(CutShortError):
        Follower(store.ledger, index, cut_short).catch_up()
    assert index.get_mark("observation") == 14
    index.close()
    talk(store, "odd.txt", range(1, 40, 2))
    talk(store, "later.txt", range(5), hour=11)

    resumed = built(store, tmp_path / "resumed.sqlite3")

    assert said(resumed) == said(built(store, tmp_path / "fresh.sqlite3"))


def test_an_index_that_followed_says_what_one_built_at_once_does(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow, "BATCH", 3)
    first = talk(store, "even.txt", range(0, 20, 2))
    store.episode(first[2:5], title="Birds")
    built(store, tmp_path / "followed.sqlite3")
    talk(store, "odd.txt", range(1, 20, 2))
    store.observe_again(first[4], "a crane instead", kind="message")
    followed = built(store, tmp_path / "followed.sqlite3")

    assert said(followed) == said(built(store, tmp_path / "fresh.sqlite3"))


def test_a_batch_ends_where_its_text_is_long_enough(store: TinyStore) -> None:
    store.notes(["heron", "鹭", "lake", "mill"])
    changes = Changes(store.ledger.database)

    assert changes.observations_after(0, 10, 100) == [1, 2, 3, 4]
    assert changes.observations_after(0, 10, 8) == [1, 2]
    assert changes.observations_after(0, 10, 9) == [1, 2, 3]
    assert changes.observations_after(1, 2, 100) == [2, 3]
    assert changes.observations_after(0, 10, 1) == [1]
    assert changes.observations_after(4, 10, 1) == []


def test_what_an_index_tells_is_what_the_ledger_says(store: TinyStore) -> None:
    talk(store, "chat.txt", range(3))
    store.note("two herons", attributes={"heading": "Birds"}, author="Bob")
    old = store.note("a mill")
    store.observe_again(old, "a new mill")
    rows = list(store.ledger.evidence.live("1"))

    told = store.ledger.evidence.indexed(range(20))

    assert list(told) == sorted(row.seq for row in rows)
    for row in rows:
        one = told[row.seq]
        assert one.local == (row.occurred or {}).get("local")
        assert one.heading == row.attributes.get("heading")
        same = set(one._fields) & set(row._fields)
        assert {name: getattr(one, name) for name in same} == {
            name: getattr(row, name) for name in same
        }
    assert {one.heading for one in told.values()} == {None, "Birds"}


@pytest.mark.parametrize(
    ("heading", "told"), [(7, "7"), (True, "1"), (["a"], '["a"]'), (None, None)]
)
def test_a_heading_that_is_no_text_is_told_as_one(
    store: TinyStore, tmp_path: Path, heading: object, told: str | None
) -> None:
    store.note("two herons", attributes={"heading": heading})

    assert [one.heading for one in store.ledger.evidence.indexed([1]).values()] == [told]
    assert stage.refresh(store.ledger, store.paths.index, tmp_path / "cache").indexed == 1


def test_to_follow_a_message_costs_the_same_in_a_large_ledger(
    store: TinyStore, tmp_path: Path
) -> None:
    index = TextIndex(tmp_path / "fts.sqlite3")
    follower = Follower(store.ledger, index)
    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    work = []
    # Called after every so many instructions of the database's machine.
    store.ledger.database.set_progress_handler(step, 20)
    for size in (20, 1_500):
        store.notes([f"heron number {number}" for number in range(size)])
        follower.catch_up()
        store.notes(["one more heron"])
        before = steps
        follower.catch_up()
        work.append(steps - before)
    store.ledger.database.set_progress_handler(None)
    index.close()

    assert work[1] < work[0] * 1.5


def test_the_collector_works_as_before_when_much_was_followed(
    store: TinyStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "MANY", 2)
    seen = []

    def fail(_: Follower) -> Counts:
        seen.append(gc.get_threshold())
        raise CutShortError

    monkeypatch.setattr(Follower, "catch_up", fail)
    store.notes(["one", "two"])
    before = gc.get_threshold()
    with pytest.raises(CutShortError):
        refresh(store.ledger, tmp_path / "index", tmp_path / "cache")
    assert seen[0][0] > before[0]
    assert gc.get_threshold() == before
