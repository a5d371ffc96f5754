import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from muniment.store.errors import DamageError
from muniment.store.index import match, schema
from muniment.store.index.documents import Document, Filters, IndexDamageError
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


def choose(*tokens: str, documents: int = 100_000) -> tuple[set[str], set[str], float]:
    terms = [Term("words", token) for token in tokens]
    chosen = match.choose(terms, documents, lambda term: COUNTS.get(term.token, 1))
    rare, common = ({term.token for term in found} for found in (chosen.rare, chosen.common))
    return rare, common, round(chosen.share, 3)


def test_common_words_are_left_out_when_rarer_ones_tell_enough() -> None:
    assert choose("common", "rare", "some", "x", "most") == ({"rare", "some", "x"}, set(), 1.0)


def test_beside_few_rare_words_common_ones_are_ranked_among_the_newest() -> None:
    assert choose("most", "common", "rare", "x") == ({"rare", "x"}, {"common"}, 0.2)


def test_of_common_words_alone_the_rarest_few_are_kept_and_bounded() -> None:
    assert choose("most") == (set(), {"most"}, 0.133)
    assert choose("most", "common", "commoner", "commonest") == (
        {"commonest"}, {"common", "commoner"}, 0.092,
    )  # fmt: skip


def test_words_that_no_document_holds_cost_no_place() -> None:
    assert choose("absent", "most", "rare") == ({"rare"}, {"most"}, 0.133)


def test_in_a_small_index_every_word_is_looked_up() -> None:
    found = {"most", "common", "rare", "absent"}
    assert choose(*found, documents=1_000) == (found, set(), 1.0)


def test_a_common_word_finds_old_documents_when_the_newest_are_filtered_out(
    index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = Document("old", "text", "same words", instant="2020-01-01T00:00:00.000000Z")
    index.add([old, *notes(*("all the same words here" for _ in range(300)))])
    monkeypatch.setattr(match, "MOST_POSTINGS", 20)
    until = Filters(until="2021-01-01T00:00:00.000000Z")
    assert [hit.ref for hit in index.search(analyse_query("words"), 5, until)] == ["old"]


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


def test_a_search_over_common_words_still_answers(
    index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.add(notes(*("all the same words here" for _ in range(300)), "all same rare 罕见的词"))
    monkeypatch.setattr(match, "MOST_POSTINGS", 50)
    assert index.search(analyse_query("same words rare"), 1)[0].ref == "n300"
    assert index.search(analyse_query("罕"), 1)[0].ref == "n300"
    assert len(index.search(analyse_query("all same words here today"), 10)) == 10
