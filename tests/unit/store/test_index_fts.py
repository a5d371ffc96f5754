import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from muniment.store.errors import DamageError
from muniment.store.index import match, schema
from muniment.store.index.documents import Document, IndexDamageError
from muniment.store.index.fts import TextIndex
from muniment.store.text.query import Term, analyse_query


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


def test_weights_decide_between_views(index: TextIndex) -> None:
    index.add([Document("t", "text", "x", title="word"), Document("w", "text", "word", title="x")])
    query = analyse_query("word")
    base = dict.fromkeys(schema.VIEWS, 1.0)
    assert index.search(query, weights={**base, "title": 9.0})[0].ref == "t"
    assert index.search(query, weights={**base, "title": 0.1})[0].ref == "w"


COUNTS = {"rare": 5, "some": 500, "common": 60_000, "commoner": 70_000, "absent": 0, "most": 90_000}


def choose(*tokens: str, documents: int = 100_000) -> list[str]:
    terms = [Term("words", token) for token in tokens]
    chosen = match.choose(terms, documents, lambda term: COUNTS.get(term.token, 1))
    return [term.token for term in chosen]


def test_common_words_are_left_out_when_rarer_ones_tell_enough() -> None:
    assert choose("common", "rare", "some", "x", "most") == ["rare", "some", "x"]


def test_of_common_words_alone_the_rarest_few_are_kept() -> None:
    assert choose("most", "common", "commoner") == ["most", "common", "commoner"]
    assert choose("most", "common", "commoner", "common2", "x") == ["common", "common2", "x"]


def test_words_that_no_document_holds_cost_no_place() -> None:
    assert choose("absent", "most", "common", "commoner", "rare") == ["common", "commoner", "rare"]


def test_in_a_small_index_every_word_is_looked_up() -> None:
    assert choose("most", "common", "rare", "absent", documents=1_000) == [
        *["most", "common", "rare", "absent"]
    ]


def test_a_search_over_common_words_still_answers(
    index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(notes(*("all the same words here" for _ in range(300)), "all same rare 罕见的词"))
    monkeypatch.setattr(match, "MOST_POSTINGS", 50)
    assert index.search(analyse_query("same words rare"), 1)[0].ref == "n300"
    assert index.search(analyse_query("罕"), 1)[0].ref == "n300"
    assert len(index.search(analyse_query("all same words here today"), 10)) == 10
