import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.asking import Asker
from support.stores import Line, TinyStore

from muniment.pipeline.stages.index import BUSY, UNWRITABLE, open_live, rebuild, refresh
from muniment.store import locks
from muniment.store.errors import LockedError
from muniment.store.index.documents import Filters
from muniment.store.index.generation import Generations
from muniment.store.ledger.changes import Changes
from muniment.store.records import Producer


@pytest.fixture
def store(tmp_path: Path) -> Any:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


@pytest.fixture
def asker(store: TinyStore) -> Asker:
    return Asker(store)


class Lengths:
    """An embedder of text lengths, counting what it was given."""

    dimensions = 3

    def __init__(self, model: str = "lengths") -> None:
        self.producer = Producer(adapter="lengths", version="1", role="embed", model=model)
        self.given: list[str] = []

    def passages(self, texts: Any) -> Any:
        self.given += texts
        return np.asarray([[1.0, len(text), text.count("e")] for text in texts], np.float32)

    def query(self, text: str) -> Any:
        return self.passages([text])[0]


def chat(store: TinyStore, name: str, lines: list[str], start: int = 0) -> list[str]:
    messages = [
        ("Ann", line, f"2026-02-01T10:{start + minute:02d}:00Z")
        for minute, line in enumerate(lines)
    ]
    return store.chat(messages, name=name, thread="thread")


def fill(store: TinyStore) -> str:
    """Put one of everything into a store; return an observation."""
    first, *_ = store.notes(["a heron by the lake", "两只白鹭在湖边"])
    messages = chat(store, "chat.txt", ["one heron", "two herons", "three herons"])
    store.episode(messages, title="Birds")
    store.record("Likes herons", first, "heron", kind="preference")
    return first


def answers(store: TinyStore, cache: Path) -> list[tuple[str, float]]:
    found = []
    for query in ("heron lake", "白鹭", "two herons", "Ann birds"):
        for kinds in ((), ("record",), ("episode",)):
            hits = Asker(store, cache).search(query, kinds=kinds)
            found += [(hit["ref"], hit["score"]) for hit in hits]
    return found


def test_a_refresh_follows_only_what_is_new(store: TinyStore, asker: Asker) -> None:
    store.notes(["one", "two"])
    assert asker.refresh().indexed == 2
    store.note("three")

    assert asker.refresh().indexed == 1
    assert asker.refresh().as_dict() == {
        "indexed": 0, "removed": 0, "embedded": 0, "without_vectors": None, "skipped": None,
    }  # fmt: skip


def test_a_superseded_observation_leaves_the_index(store: TinyStore, asker: Asker) -> None:
    old = store.note("the mill is old")
    asker.refresh()
    store.observe_again(old, "the mill is new")

    counts = asker.refresh()

    assert (counts.indexed, counts.removed) == (1, 1)
    assert asker.texts("mill") == ["the mill is new"]


def test_a_date_or_episode_that_comes_late_is_followed(store: TinyStore, asker: Asker) -> None:
    note = store.note("a heron")
    row = store.ledger.evidence.get(note)
    assert row is not None
    number = store.ledger.assets.number(row.asset)
    assert number is not None
    asker.refresh()
    with store.ledger.unit():
        moment = {"utc": "2020-05-01T00:00:00.000000Z", "local": None, "offset": None,
                  "zone_source": None, "precision": "second"}  # fmt: skip
        store.ledger.evidence.add_time(number, moment, "exif", 1, 1.0)
    episode = store.episode([note], title="Birds")

    asker.refresh()

    index = open_live(store.paths.index)
    (found,) = index.rows_of([f"observation:{note}"]).values()
    assert (found.instant, found.group) == ("2020-05-01T00:00:00.000000Z", episode)
    index.close()


def test_a_revoked_record_can_no_longer_answer(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts")
    record = store.record("The pin is 1234", note)
    assert len(asker.search("pin", kinds=("record",))) == 1
    store.revise(record, "revoked")

    assert asker.search("pin", kinds=("record",)) == []


def test_incremental_and_rebuilt_indexes_give_the_same_answers(tmp_path: Path) -> None:
    store = TinyStore(tmp_path / "root")
    asker = Asker(store)
    first = fill(store)
    asker.refresh()
    chat(store, "more.txt", ["four herons", "five herons"], start=3)
    asker.refresh()
    store.observe_again(first, "a crane by the lake")
    chat(store, "between.txt", ["a kingfisher"], start=1)
    asker.refresh()
    before = answers(store, asker.cache)

    rebuild(store.ledger, store.paths.index, asker.cache)

    assert answers(store, asker.cache) == before
    assert before
    store.close()


def test_a_deleted_index_is_made_again(store: TinyStore, asker: Asker) -> None:
    fill(store)
    before = answers(store, asker.cache)
    for path in sorted(store.paths.index.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()

    assert answers(store, asker.cache) == before


def test_a_damaged_index_is_made_again(store: TinyStore, asker: Asker) -> None:
    fill(store)
    before = answers(store, asker.cache)
    file = Generations(store.paths.index).current() / "fts.sqlite3"
    for name in ("fts.sqlite3-wal", "fts.sqlite3-shm"):
        file.with_name(name).unlink(missing_ok=True)
    file.write_bytes(b"not a database" * 1000)

    assert answers(store, asker.cache) == before


def test_a_rebuild_leaves_one_generation(store: TinyStore, asker: Asker) -> None:
    fill(store)
    asker.refresh()
    rebuild(store.ledger, store.paths.index, asker.cache)

    names = sorted(path.name for path in store.paths.index.iterdir() if path.is_dir())
    assert names == ["gen-2"]


def test_a_busy_lock_skips_the_refresh_and_says_so(store: TinyStore, asker: Asker) -> None:
    store.note("a heron")
    asker.refresh()
    store.note("another heron")
    with locks.hold(store.paths.index_lock):
        assert asker.refresh().skipped == BUSY
        assert asker.texts("heron") == ["a heron"]
        with pytest.raises(LockedError):
            rebuild(store.ledger, store.paths.index, asker.cache)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_can_not_be_written_to_is_read_as_it_is(
    store: TinyStore, asker: Asker, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    store.note("a heron")
    asker.refresh()
    store.note("another heron")
    monkeypatch.setattr(locks, "hold", lambda *_, **__: _refuse(number))

    assert asker.refresh().skipped == UNWRITABLE
    assert asker.texts("heron") == ["a heron"]


def test_vectors_are_made_once_and_newest_first(store: TinyStore, asker: Asker) -> None:
    store.notes(["one", "two"])
    embedder: Any = Lengths()

    counts = refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    assert (counts.embedded, counts.without_vectors) == (2, 0)
    assert embedder.given == ["two", "one"]
    store.note("three")
    assert asker.refresh().without_vectors is None
    counts = refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    assert (counts.embedded, embedder.given[2:]) == (1, ["three"])


def test_a_caller_that_waits_bounds_how_many_are_embedded(store: TinyStore, asker: Asker) -> None:
    store.notes(["one", "two", "three"])
    embedder: Any = Lengths()

    counts = refresh(
        store.ledger, store.paths.index, asker.cache, embedder=embedder, most_vectors=2
    )

    assert (counts.embedded, counts.without_vectors) == (2, 1)
    assert embedder.given == ["three", "two"]


def test_embedding_that_was_cut_short_goes_on_where_it_stopped(
    store: TinyStore, asker: Asker
) -> None:
    store.notes([f"note {number}" for number in range(100)])
    embedder: Any = Lengths()
    whole = embedder.passages
    embedder.passages = lambda texts: whole(texts) if len(embedder.given) < 64 else _interrupt()
    with pytest.raises(KeyboardInterrupt):
        refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    embedder.passages = whole

    counts = refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)

    assert (counts.embedded, counts.without_vectors) == (36, 0)


def test_a_rebuild_copies_vectors_unless_asked_to_embed_again(
    store: TinyStore, asker: Asker
) -> None:
    fill(store)
    embedder: Any = Lengths()
    refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    made = len(embedder.given)

    counts = rebuild(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    assert (counts.embedded, counts.without_vectors, len(embedder.given)) == (0, 0, made)
    counts = rebuild(
        store.ledger, store.paths.index, asker.cache, embedder=embedder, embed_again=True
    )
    assert (counts.embedded, len(embedder.given)) == (made, 2 * made)


def test_the_vectors_of_one_model_are_not_those_of_another(store: TinyStore, asker: Asker) -> None:
    store.notes(["one", "two"])
    one: Any = Lengths("one")
    other: Any = Lengths("other")
    refresh(store.ledger, store.paths.index, asker.cache, embedder=one)

    counts = refresh(store.ledger, store.paths.index, asker.cache, embedder=other)

    assert counts.embedded == 2


def test_documents_carry_the_family_and_path_of_their_asset(store: TinyStore, asker: Asker) -> None:
    store.file("film.mp4", [Line("opening", kind="asr")], media_type="video/mp4", family="video")
    asker.refresh()

    index = open_live(store.paths.index)
    assert len(index.matching(Filters(families=("video",), path="film.mp4"))) == 1
    index.close()


def _refuse(number: int) -> None:
    raise OSError(number, "refused")


def _interrupt() -> None:
    raise KeyboardInterrupt


def test_an_episode_of_one_observation_is_indexed_when_it_grows(
    store: TinyStore, asker: Asker
) -> None:
    first, second = store.notes(["a heron", "a mill"])
    store.episode([first], title="Birds")
    assert asker.refresh().indexed == 2
    assert asker.search("birds", kinds=("episode",)) == []

    store.episode([first, second], title="Birds")
    asker.refresh()

    assert len(asker.search("birds", kinds=("episode",))) == 1


def test_a_new_neighbour_costs_no_vector_of_those_beside_it(store: TinyStore, asker: Asker) -> None:
    embedder = Lengths()
    chat(store, "chat.txt", ["one heron", "two herons"])
    refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)
    given = len(embedder.given)
    chat(store, "more.txt", ["a mill"], start=2)

    done = refresh(store.ledger, store.paths.index, asker.cache, embedder=embedder)

    assert (done.embedded, done.without_vectors) == (1, 0)
    assert embedder.given[given:] == ["Ann: a mill"]
    assert "two herons" in asker.texts("mill")


def test_neighbours_read_at_once_are_those_read_one_by_one(store: TinyStore) -> None:
    changes = Changes(store.ledger.database)
    chat(store, "chat.txt", [f"message {number}" for number in range(45)])
    store.chat([("Ann", f"undated {number}", None) for number in range(5)], name="u.txt",
               thread="undated")  # fmt: skip
    store.file("lines.txt", [Line(f"line {number}") for number in range(4)])
    store.note("alone")
    numbers = changes.observations_after(0, 100, 10_000)

    many = changes.around_many(numbers, 2, 6)

    assert many == {
        number: changes.around(number, 2 if place < 50 else 6)
        for place, number in enumerate(numbers)
    }
