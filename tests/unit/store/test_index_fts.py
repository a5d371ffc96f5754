import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from muniment.store.errors import DamageError
from muniment.store.index import held, norms, postings, ranking, schema
from muniment.store.index.documents import Document, Filters, IndexDamageError
from muniment.store.index.fts import TextIndex
from muniment.store.text.query import analyse_query


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "fts.sqlite3"


@pytest.fixture
def index(path: Path) -> Iterator[TextIndex]:
    opened = TextIndex(path)
    yield opened
    opened.close()


def notes(*texts: str) -> list[Document]:
    return [Document(f"n{number}", "text", text) for number, text in enumerate(texts)]


def test_a_reader_sees_what_was_committed_while_the_writer_is_open(
    index: TextIndex, path: Path
) -> None:
    index.add(notes("first"))
    reader = TextIndex(path, readonly=True)
    with index.transaction():
        index.add(notes("replaced", "second"))
        assert [hit.ref for hit in reader.search(analyse_query("first"))] == ["n0"]
        assert reader.search(analyse_query("second")) == []
    assert [hit.ref for hit in reader.search(analyse_query("second"))] == ["n1"]
    reader.close()


def test_a_reader_that_failed_while_it_looked_for_news_looks_again(
    index: TextIndex, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(notes("heron"))
    reader = TextIndex(path, readonly=True)
    assert len(reader.search(analyse_query("heron"))) == 1
    index.add([Document("new", "text", "another heron")])

    with monkeypatch.context() as patch:
        patch.setattr(ranking, "dead_places", _interrupted)
        with pytest.raises(InterruptedError):
            reader.search(analyse_query("heron"))

    assert len(reader.search(analyse_query("heron"))) == 2
    reader.close()


def _interrupted(_: object) -> list[int]:
    raise InterruptedError


def test_what_was_found_in_a_transaction_that_was_undone_is_forgotten(index: TextIndex) -> None:
    index.add(notes("heron"))
    with suppress(InterruptedError), index.transaction():
        index.add([Document("new", "text", "another heron")])
        assert len(index.search(analyse_query("heron"))) == 2
        raise InterruptedError

    assert len(index.search(analyse_query("heron"))) == 1
    index.add([Document("newer", "text", "a third heron")])
    assert [hit.ref for hit in index.search(analyse_query("third"))] == ["newer"]


def test_nothing_of_a_removed_text_is_left_after_compacting(index: TextIndex, path: Path) -> None:
    index.add(
        [
            Document("a", "text", "xylocanary secretword 机密项目", path="/canarypath/a"),
            *(Document(f"b{number}", "text", f"word {number}") for number in range(200)),
        ]
    )
    index.remove(["a"])
    index.compact()
    data = b"".join(file.read_bytes() for file in path.parent.iterdir())
    for trace in ("canary", "secretword", "机密", "canarypath"):
        assert trace.encode() not in data
    index.check()
    assert len(index.search(analyse_query("word"), 500)) == 200


def test_an_absent_index_says_so(path: Path) -> None:
    with pytest.raises(IndexDamageError) as caught:
        TextIndex(path, readonly=True)
    assert caught.value.code == "index_missing"
    assert isinstance(caught.value, DamageError)
    assert not path.exists()


@pytest.mark.parametrize("data", [b"", b"no database at all" * 500])
def test_a_file_that_is_no_index_says_so(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(IndexDamageError):
        TextIndex(path, readonly=True)


def test_an_index_of_another_analyser_is_outdated(path: Path) -> None:
    index = TextIndex(path)
    index.set_mark("analyser", "0")
    index.close()
    for readonly in (True, False):
        with pytest.raises(IndexDamageError) as caught:
            TextIndex(path, readonly=readonly)
        assert caught.value.code == "index_outdated"


def test_damage_inside_the_file_is_reported(path: Path) -> None:
    index = TextIndex(path)
    index.add(notes(*(f"word {number} " + "more " * 50 for number in range(2_000))))
    index.compact()
    index.close()
    data = bytearray(path.read_bytes())
    data[8_192:] = os.urandom(len(data) - 8_192)
    path.write_bytes(data)
    with pytest.raises(IndexDamageError):
        _use(path)


def _use(path: Path) -> None:
    index = TextIndex(path, readonly=True)
    try:
        index.search(analyse_query("word more"))
        index.check()
    finally:
        index.close()


def test_a_missing_table_is_reported(path: Path) -> None:
    TextIndex(path).close()
    connection = apsw.Connection(str(path))
    connection.execute("DROP TABLE doc")
    connection.close()
    index = TextIndex(path, readonly=True)
    with pytest.raises(IndexDamageError):
        index.rows([1])
    index.close()


def test_counts_that_differ_are_found_by_a_check(index: TextIndex, path: Path) -> None:
    index.add(notes("one", "two"))
    index.check()
    connection = apsw.Connection(str(path))
    connection.execute("DELETE FROM doc WHERE ref = 'n0'")
    connection.close()
    with pytest.raises(IndexDamageError):
        index.check()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every folder")
def test_an_index_in_a_folder_that_can_t_be_written_is_read(path: Path) -> None:
    index = TextIndex(path)
    index.add(notes("word"))
    index.close()
    path.parent.chmod(0o500)
    reader = TextIndex(path, readonly=True)
    assert [hit.ref for hit in reader.search(analyse_query("word"))] == ["n0"]
    reader.close()
    path.parent.chmod(0o700)


def test_every_token_survives_the_engine_s_own_tokenizer(index: TextIndex, path: Path) -> None:
    index.add(notes(f"{schema._SIGNS} a{schema._SIGNS}b é 部署 👍 \0 'q' \"q\""))
    with apsw.Connection(str(path)) as connection:
        tokens = {row[0] for row in connection.execute("SELECT term FROM vocabulary")}
    assert schema._SIGNS in tokens
    assert {"a", "b", "e", "部署", "署", "👍", "␀", "q"} <= tokens


def test_what_stands_beside_a_text_weighs_what_it_is_told_to(index: TextIndex) -> None:
    index.add([Document("c", "text", "x", context="word"), Document("w", "text", "word")])
    query = analyse_query("word")
    base = dict.fromkeys(schema.VIEWS, 1.0)
    assert index.search(query, weights={**base, "context": 9.0})[0].ref == "c"
    assert index.search(query, weights={**base, "context": 0.1})[0].ref == "w"
    with pytest.raises(ValueError, match="context"):
        index.search(query, weights={**base, "title": 2.0})


def test_a_common_word_finds_what_few_documents_of_it_meet_the_filters(index: TextIndex) -> None:
    old = Document("old", "text", "same words", instant="2020-01-01T00:00:00.000000Z")
    index.add([old, *notes(*("all the same words here" for _ in range(300)))])
    until = Filters(until="2021-01-01T00:00:00.000000Z")
    assert [hit.ref for hit in index.search(analyse_query("words"), 5, until)] == ["old"]


@pytest.mark.parametrize("arrays", [True, False])
def test_what_holds_the_words_of_many_does_not_come_before_them(
    index: TextIndex, arrays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not arrays:
        monkeypatch.delitem(sys.modules, "numpy", raising=False)
    index.add(
        Document(f"e{n}", "episode", "word word word", seq=n) for n in range(600)
    )  # more than are looked at one by one
    index.add(Document(f"o{n}", "text", "word " + "and " * n, origin="user") for n in range(9))
    index.add([Document("r", "record", "a word", role="active")])
    index.remove(["e0"])
    query, own = analyse_query("word"), Filters(origins=("user",))

    assert [hit.ref for hit in index.search(query, 5, own)] == [f"o{n}" for n in range(5)]
    assert index.search(query, 5, Filters(kinds=("text",))) == index.search(query, 5, own)
    assert [hit.ref for hit in index.search(query, 5, Filters(kinds=("record",)))] == ["r"]
    episodes = index.search(query, 600, Filters(kinds=("episode",)))
    assert [hit.ref for hit in episodes] == [f"e{n}" for n in range(1, 600)]
    index.add([Document("e0", "episode", "word word word word", seq=0)])
    assert index.search(query, 5, Filters(kinds=("episode", "record")))[0].ref == "e0"


def test_of_a_very_common_word_the_newest_documents_are_ranked(
    index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postings, "CHUNK", 64)
    monkeypatch.setattr(held, "CHUNK", 64)
    monkeypatch.setattr(norms, "CHUNK", 64)
    monkeypatch.setattr(held, "MOST_OF_TERM", 100)
    index.add(notes(*("word" for _ in range(640)), "rare"))
    found = {hit.ref for hit in index.search(analyse_query("word"), 640)}
    assert 100 <= len(found) < 300
    assert "n639" in found
    idf = index.idf(analyse_query("word rare"))
    assert idf["word"] < 0.1 < idf["rare"]


def test_a_phrase_of_common_words_is_found_among_the_best(index: TextIndex) -> None:
    index.add(notes(*("blue, red" for _ in range(1_000)), "a red blue thing", "red"))
    first, *others = index.search(analyse_query('"red blue"'), 20)
    assert (first.ref, first.exact) == ("n1000", True)
    assert not any(hit.exact for hit in others)


def test_compacting_takes_out_the_postings_of_what_was_replaced(index: TextIndex) -> None:
    index.add(notes("old words stay", "other old words"))
    index.add(notes("new words"))
    held = "SELECT token FROM posting ORDER BY token"
    assert [row[0] for row in index._db.execute(held)] == ["new", "old", "other", "stay", "word"]
    index.compact()
    assert [row[0] for row in index._db.execute(held)] == ["new", "old", "other", "word"]
    assert [hit.ref for hit in index.search(analyse_query("old words"))] == ["n1", "n0"]
    assert index.search(analyse_query("stays")) == []


def test_a_text_that_stays_the_same_keeps_its_number(index: TextIndex) -> None:
    index.add([Document("a", "text", "one heron", context="before"), Document("b", "text", "two")])
    first = index.rows_of(["a", "b"])
    index.add([Document("a", "text", "one heron", context="lake"), Document("b", "text", "three")])
    again = index.rows_of(["a", "b"])
    assert again["a"].rowid == first["a"].rowid
    assert again["b"].rowid != first["b"].rowid
    assert [hit.ref for hit in index.search(analyse_query("lake"))] == ["a"]
    assert index.search(analyse_query("before")) == []
    assert index.count() == 2
    assert set(index.gone()) == {first["b"].rowid}
    index.check()


def test_a_search_over_common_words_still_answers(index: TextIndex) -> None:
    index.add(notes(*("all the same words here" for _ in range(300)), "all same rare 罕见的词"))
    assert index.search(analyse_query("same words rare"), 1)[0].ref == "n300"
    assert index.search(analyse_query("罕"), 1)[0].ref == "n300"
    assert len(index.search(analyse_query("all same words here today"), 10)) == 10


def test_what_was_replaced_or_removed_counts_nowhere(tmp_path: Path) -> None:
    worn, fresh = (TextIndex(tmp_path / f"{name}.sqlite3") for name in ("worn", "fresh"))
    kept = [Document(f"d{n}", "text", f"heron {n} stands in the lake") for n in range(9)]
    worn.add([*(Document(f"d{n}", "text", "a long heron heron tale") for n in range(9)),
              Document("gone", "text", "heron lake")])  # fmt: skip
    worn.remove(["gone"])
    worn.add(kept)
    fresh.add(kept)

    for question in ("heron lake", "the 3 herons", "tale"):
        found = [
            [(hit.ref, hit.score) for hit in index.search(analyse_query(question))]
            for index in (worn, fresh)
        ]
        assert found[0] == found[1]


def test_many_dead_places_are_taken_out(tmp_path: Path) -> None:
    index = TextIndex(tmp_path / "fts.sqlite3")
    index.add(Document(f"d{n}", "text", f"heron {n}") for n in range(1_500))

    index.remove(f"d{n}" for n in range(1_400))

    assert index._db.execute("SELECT max(length(held)) FROM posting").fetchone() == (4 * 100,)
    assert index._db.execute("SELECT count(*) FROM dead").fetchone() == (0,)
    assert len(index.search(analyse_query("heron"), limit=200)) == 100
