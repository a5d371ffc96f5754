"""What every engine of the word index must do; another one joins by a parameter of ``engine``."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest
from support.postgres import made_up_scope

from muniment.adapters.indexes.postgres.address import parse
from muniment.adapters.indexes.postgres.generations import PostgresIndexes
from muniment.store.errors import MunimentError
from muniment.store.index.documents import Document, Filters, Hit, IndexDamageError
from muniment.store.index.generation import FileIndexes
from muniment.store.index.ports import IndexStore, SearchIndex
from muniment.store.text.query import analyse_query
from muniment.store.text.segment import BulkCutter, CompiledDictionary, compile_dictionary

# What broke other full-text searches, as stored text and as question.
HOSTILE = [
    *["agentic-os", "don't", "C++", "foo:bar", "2026.4.10", "AND", "NEAR(a b)", '"', '""', "*"],
    *["a*", "-x", "--x", "^a", "(", ")", "{a}", "col:", "a OR", "NOT", "\0", "?!", "……", "👩‍💻"],
    *["\ud800", "部署方案?", "小明", "站", "POL-358", "snake_case", "a\0b", "the", "什么", "'"],
    *["' OR 1=1 --", "%", "_", "\\", "x" * 5_000, "ｆｕｌｌ", "서울에서", "ก็", "€5"],
    *["NOT NEAR", "a AND", "title:x", "rank MATCH", "words : a", "\ufeffword", "a\u200bb", "️"],
]
EMPTY = ["", "\x1f", " ", " \t\n", "\u200d", "️"]


class Engine(Protocol):
    """Open the one index of a test, again after each close."""

    def __call__(self) -> SearchIndex: ...


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[IndexStore]:
    if request.param == "sqlite":
        yield FileIndexes(tmp_path)
        return
    indexes = PostgresIndexes(parse(request.getfixturevalue("postgres_database")), made_up_scope())
    yield indexes
    indexes.discard()


@pytest.fixture
def engine(store: IndexStore) -> Iterator[Engine]:
    opened: list[SearchIndex] = []

    def opener() -> SearchIndex:
        if not opened:
            opened.append(store.create(BulkCutter()))
            store.promote(opened[0].generation)
        else:
            opened.append(store.open(readonly=False, cutter=BulkCutter()))
        return opened[-1]

    yield opener
    for index in opened:
        index.close()


@pytest.fixture
def index(engine: Engine) -> SearchIndex:
    return engine()


@pytest.fixture(scope="session")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> CompiledDictionary:
    return CompiledDictionary(compile_dictionary(tmp_path_factory.mktemp("cache")))


Find = Callable[..., list[str]]


@pytest.fixture
def find(index: SearchIndex, dictionary: CompiledDictionary) -> Find:
    def refs(question: str, filters: Filters | None = None, limit: int = 50) -> list[str]:
        with_words = index.search(analyse_query(question, dictionary), limit, filters)
        without = index.search(analyse_query(question), limit, filters)
        assert {hit.ref for hit in with_words} >= {hit.ref for hit in without if hit.exact}
        return [hit.ref for hit in with_words]

    return refs


def note(ref: str, text: str, **fields: Any) -> Document:
    return Document(ref, "text", text)._replace(**fields)


@pytest.mark.parametrize("text", [text for text in HOSTILE if text not in EMPTY])
def test_a_hostile_text_finds_itself(index: SearchIndex, text: str) -> None:
    index.add([note("other", "something else 其他"), note("it", f"{text}")])
    assert "it" in [hit.ref for hit in index.search(analyse_query(text))]


@pytest.mark.parametrize("text", EMPTY)
def test_a_question_without_characters_finds_nothing(index: SearchIndex, text: str) -> None:
    index.add([note("blank", text), note("it", "something")])
    assert index.search(analyse_query(text)) == []


def test_ten_thousand_words_find_their_own_text(index: SearchIndex) -> None:
    text = " ".join(f"word{number}" for number in range(10_000))
    index.add([note("long", text), note("other", "nothing of it")])
    assert [hit.ref for hit in index.search(analyse_query(text))] == ["long"]


@pytest.mark.parametrize("part", ["小明", "虹桥", "站", "王", "上海虹桥火车", "明在上"])
def test_any_part_of_a_chinese_sentence_is_found(find: Find, index: SearchIndex, part: str) -> None:
    index.add([note("it", "王小明在上海虹桥火车站"), note("other", "李雷去了北京")])
    assert find(part)[:1] == ["it"]


def test_traditional_and_simplified_find_each_other(find: Find, index: SearchIndex) -> None:
    index.add([note("traditional", "臺灣的圖書館"), note("simplified", "台湾的图书馆")])
    assert set(find("圖書館")) == set(find("图书馆")) == {"traditional", "simplified"}


def test_words_are_found_by_their_stem_case_width_and_accents_aside(
    find: Find, index: SearchIndex
) -> None:
    index.add([note("it", "She was RUNNING past the Café ＡＢＣ"), note("other", "nothing here")])
    assert find("runs") == find("cafe") == find("abc") == ["it"]


def test_words_of_a_question_alone_don_t_decide(find: Find, index: SearchIndex) -> None:
    index.add([note("it", "the blue bicycle"), note("noise", "what is it that you did to the one")])
    assert find("what is the colour of the bicycle that you did see") == ["it"]


def test_a_quoted_phrase_comes_before_its_scattered_words(find: Find, index: SearchIndex) -> None:
    index.add(
        [
            note("scattered", "red, red! owner of a bicycle, a bicycle that is not red"),
            note("phrase", "long before anybody thought of it there stood a red bicycle somewhere"),
        ]
    )
    assert find('owner of the "red bicycle"') == ["phrase", "scattered"]


def test_a_short_question_that_stands_in_a_text_is_exact(index: SearchIndex) -> None:
    index.add([note("whole", "我们的部署方案已经完成"), note("parts", "方案很多,部署很少")])
    hits = index.search(analyse_query("部署方案?"))
    assert [(hit.ref, hit.exact) for hit in hits] == [("whole", True), ("parts", False)]


def test_an_identifier_as_written_comes_first(find: Find, index: SearchIndex) -> None:
    index.add([note("c", "c is a letter and c is short"), note("cpp", "the C++ language")])
    assert find("C++")[0] == "cpp"
    assert set(find("C++")) == {"c", "cpp"}


def test_title_and_context_are_searched(find: Find, index: SearchIndex) -> None:
    index.add(
        [note("t", "x", title="whiteboard.jpg 白板"), note("c", "y", context="next, Ann asked")]
    )
    assert find("whiteboard") == find("白板") == ["t"]
    assert find("Ann asks") == ["c"]


FIELDS: list[tuple[str, Filters]] = [
    ("kind", Filters(kinds=("ocr",))),
    ("family", Filters(families=("image",))),
    ("origin", Filters(origins=("user", "media"))),
    ("role", Filters(roles=("assistant",))),
    ("source", Filters(sources=("phone",))),
    ("session", Filters(sessions=("s1",))),
    ("asset", Filters(assets=("sha256:1",))),
    ("group", Filters(groups=("ep_1",))),
    ("ref", Filters(refs=("it",))),
    ("since", Filters(since="2026-03-01T00:00:00.000000Z")),
    ("until", Filters(since="2026-01-01T00:00:00.000000Z", until="2026-03-03T00:00:00.000000Z")),
    ("confidence", Filters(min_confidence=0.5)),
    ("path", Filters(path="/照片/")),
    ("path prefix", Filters(path_prefix="/home/照片")),
    ("together", Filters(kinds=("ocr",), path="照片", min_confidence=0.9)),
]


@pytest.mark.parametrize(("name", "filters"), FIELDS, ids=[name for name, _ in FIELDS])
def test_filters_apply_before_the_best_are_chosen(
    find: Find, index: SearchIndex, name: str, filters: Filters
) -> None:
    wanted = note(
        "it",
        "a word among many others that make it score low",
        kind="ocr",
        asset="sha256:1",
        instant="2026-03-02T10:00:00.000000Z",
        family="image",
        origin="media",
        role="assistant",
        source="phone",
        session="s1",
        path="/home/照片/a.jpg",
        confidence=0.97,
        group="ep_1",
    )
    index.add([*(note(f"o{number}", "word") for number in range(100)), wanted])
    assert find("word", filters, 1) == ["it"]
    assert index.matching(filters) == [index.rows_of(["it"])["it"].rowid]


def test_a_path_that_is_no_text_is_kept_apart_from_errors(find: Find, index: SearchIndex) -> None:
    index.add([note("it", "word", path="/caf\udce9.txt")])
    assert find("word", Filters(path="caf\udce9")) == ["it"]


def test_what_is_removed_is_not_found_and_its_number_is_not_used_again(index: SearchIndex) -> None:
    index.add([note("a", "word"), note("b", "word")])
    numbers = {index.rows_of([ref])[ref].rowid for ref in "ab"}
    assert index.remove(["b", "unknown"]) == 1
    assert [hit.ref for hit in index.search(analyse_query("word"))] == ["a"]
    index.add([note("c", "word")])
    assert index.rows_of("abc").keys() == {"a", "c"}
    assert index.rows_of(["c"])["c"].rowid not in numbers
    assert index.gone() == numbers - {index.rows_of(["a"])["a"].rowid}
    assert index.count() == 2
    index.check()


def test_a_second_document_of_a_ref_replaces_the_first(find: Find, index: SearchIndex) -> None:
    index.add([note("a", "old words")])
    index.add([note("a", "new words"), note("b", "x"), note("a", "newest words")])
    assert find("old") == find("new") == []
    assert find("newest") == ["a"]
    assert index.count() == 2
    index.check()


def test_a_failed_batch_leaves_nothing(index: SearchIndex) -> None:
    def batch() -> Iterator[Document]:
        yield note("a", "word")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        index.add(batch())
    assert index.count() == 0
    assert index.search(analyse_query("word")) == []


def test_documents_and_marks_of_one_transaction_come_together(engine: Engine) -> None:
    index = engine()
    with pytest.raises(RuntimeError), index.transaction():  # noqa: PT012 (the point is the block)
        index.add([note("a", "word")])
        index.set_mark("ledger", 7)
        raise RuntimeError
    assert (index.count(), index.get_mark("ledger")) == (0, 0)
    with index.transaction():
        index.add([note("a", "word")])
        index.set_mark("ledger", 7)
        index.set_mark("name", "text")
    index.close()
    again = engine()
    assert (again.count(), again.get_mark("ledger"), again.get_mark("name")) == (1, 7, "text")


def test_rare_words_weigh_more_than_common_ones(index: SearchIndex) -> None:
    index.add(note(f"n{number}", "common word 常见") for number in range(50))
    index.add([note("r", "rare 罕见 common")])
    idf = index.idf(analyse_query("common rare 罕见 常见 absent"))
    assert idf["common"] < idf["rare"] < idf["absent"]
    assert idf["常见"] < idf["罕见"]


def test_equal_scores_come_in_ledger_order(find: Find, index: SearchIndex) -> None:
    index.add(note(f"n{number}", "same words", seq=100 - number) for number in range(20))
    assert find("same words", limit=3) == ["n19", "n18", "n17"]


def test_a_search_in_rows_keeps_what_was_given(index: SearchIndex) -> None:
    document = Document(
        "r", "ocr", "text", "t", "c", "sha256:1", 9, "2026-01-01T00:00:00.000000Z", "image",
        "media", "user", "src", "s", "/p", 0.5, "g", "Ann",
    )  # fmt: skip
    index.add([document])
    hit: Hit = index.search(analyse_query("text"))[0]
    assert hit.row[1:] == tuple(getattr(document, name) for name in hit.row._fields[1:])
    assert index.rows([hit.rowid, 10_000]) == {hit.rowid: hit.row}


# --- vectors --------------------------------------------------------------------------------------


def test_the_nearest_vectors_are_found_under_filters(index: SearchIndex) -> None:
    index.add([note("a", "x"), note("b", "y", kind="ocr"), note("c", "z")])
    one, two, three = (index.rows_of([ref])[ref].rowid for ref in "abc")
    vectors = index.vectors("model:1", 3)
    assert (len(vectors), vectors.lacking(), vectors.missing()) == (0, 3, [three, two, one])
    assert vectors.nearest([1, 0, 0], 5) == []
    vectors.append([(one, [2, 0, 0]), (two, [1, 1, 0])])
    assert (len(vectors), vectors.lacking(), vectors.missing()) == (2, 1, [three])
    found = vectors.nearest([1, 0, 0], 5)
    assert [number for number, _ in found] == [one, two]
    assert [cosine for _, cosine in found] == pytest.approx([1.0, 0.5**0.5], abs=1e-3)
    assert [n for n, _ in vectors.nearest([1, 0, 0], 5, Filters(kinds=("ocr",)))] == [two]
    assert index.vectors("model:2", 3).missing() == [three, two, one]


def test_a_vector_goes_with_its_document(index: SearchIndex) -> None:
    index.add([note("a", "x"), note("b", "y")])
    numbers = {ref: row.rowid for ref, row in index.rows_of("ab").items()}
    vectors = index.vectors("model:1", 2)
    vectors.append([(number, [1, 0]) for number in numbers.values()])
    index.add([note("a", "x", role="user")])
    assert {number for number, _ in vectors.nearest([1, 0], 5)} == set(numbers.values())
    index.add([note("a", "other words")])
    index.remove(["b"])
    assert vectors.nearest([1, 0], 5) == []
    assert vectors.missing() == [index.rows_of("a")["a"].rowid]
    vectors.erase(index.gone())
    assert vectors.nearest([1, 0], 5) == []


def test_vectors_are_copied_and_those_of_another_model_dropped(index: SearchIndex) -> None:
    index.add([note("a", "x"), note("b", "y")])
    one, two = (index.rows_of([ref])[ref].rowid for ref in "ab")
    vectors, other = index.vectors("model:1", 2), index.vectors("model:2", 2)
    vectors.append([(one, [3, 4]), (two, [0, 0])])
    other.append([(one, [1, 0])])
    ((numbers, rows),) = vectors.blocks()
    assert dict(zip(numbers.tolist(), rows.tolist(), strict=True)) == {
        one: pytest.approx([0.6, 0.8], abs=1e-3), two: [0, 0],
    }  # fmt: skip
    vectors.drop_others()
    assert vectors.missing() == []


@pytest.mark.parametrize("vector", [[1.0], [float("nan"), 0.0], [float("inf"), 0.0]])
def test_what_is_no_vector_of_the_model_is_refused(index: SearchIndex, vector: list[float]) -> None:
    index.add([note("a", "x")])
    with pytest.raises(ValueError, match="2 finite numbers"):
        index.vectors("model:1", 2).append([(1, vector)])


# --- generations ----------------------------------------------------------------------------------


def test_there_is_no_index_until_one_is_promoted(store: IndexStore) -> None:
    for ask in (store.current, store.open):
        with pytest.raises(IndexDamageError) as caught:
            ask()
        assert caught.value.code == "index_missing"


def test_a_generation_is_built_beside_the_live_one_and_swapped_in(
    store: IndexStore, engine: Engine
) -> None:
    live = engine()
    live.add([note("a", "old")])
    following = store.create()
    following.add([note("a", "new"), note("b", "new")])
    assert store.current() == live.generation
    reader = store.open()
    assert [hit.ref for hit in reader.search(analyse_query("old"))] == ["a"]
    reader.close()
    store.promote(following.generation)
    following.close()
    reader = store.open()
    assert (reader.generation, reader.count()) == (following.generation, 2)
    assert store.prune() == 1
    assert [hit.ref for hit in reader.search(analyse_query("new"))] == ["a", "b"]
    reader.close()
    store.discard()
    with pytest.raises(IndexDamageError):
        store.current()


def test_readers_see_what_is_committed_and_change_nothing(
    store: IndexStore, engine: Engine
) -> None:
    index = engine()
    index.add([note("a", "word")])
    readers = [store.open() for _ in range(3)]
    with index.transaction():
        index.add([note("b", "word")])
        assert [reader.count() for reader in readers] == [1, 1, 1]
    assert [len(reader.search(analyse_query("word"))) for reader in readers] == [2, 2, 2]
    with pytest.raises(MunimentError):
        readers[0].add([note("c", "word")])
    for reader in readers:
        reader.close()


def test_nothing_is_left_of_what_was_removed_and_compacted(
    store: IndexStore, engine: Engine
) -> None:
    index = engine()
    index.add([note("it", "xylophone canary 机密项目"), note("other", "a word")])
    index.remove(["it"])
    index.compact()
    index.settle()
    index.check()
    assert index.search(analyse_query("xylophone 机密")) == []
    assert store.traces(["it"], ["xylophone canary", "机密项目"]) == []
