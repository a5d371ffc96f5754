import subprocess
import sys
from pathlib import Path

import pytest

from muniment.store.text.holding import covered
from muniment.store.text.query import QueryAnalysis, Term, analyse_query
from muniment.store.text.segment import CompiledDictionary, compile_dictionary


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> CompiledDictionary:
    return CompiledDictionary(compile_dictionary(tmp_path_factory.mktemp("cache")))


def units(query: QueryAnalysis) -> list[str]:
    return [unit.text for unit in query.units]


def test_question_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert units(analyse_query("What did Ann say about the bicycle?")) == ["ann", "say", "bicycl"]
    assert units(analyse_query("what is it")) == ["what", "is", "it"]
    assert units(analyse_query("什么")) == ["什么"]


def test_chinese_question_words_are_dropped(dictionary: CompiledDictionary) -> None:
    for known in (dictionary, None):
        query = analyse_query("猫在哪里", known)
        assert units(query) == ["猫"]
        assert Term("grams", "猫", prefix=True) in query.terms
        assert Term("grams", "哪里") not in query.terms


def test_single_characters_side_by_side_are_one_name(dictionary: CompiledDictionary) -> None:
    assert units(analyse_query("王小明的电话", dictionary)) == ["王小明", "电话"]


def test_long_dictionary_words_are_looked_up_whole(dictionary: CompiledDictionary) -> None:
    terms = analyse_query("长江大桥", dictionary).terms
    assert Term("cuts", "长江大桥") in terms
    assert Term("grams", "江大") in terms
    assert not any(term.view == "cuts" for term in analyse_query("长江大桥").terms)


def test_quoted_text_is_a_phrase_whatever_the_marks() -> None:
    for question in ('who has a "Red bicycle"', "who has a “red bicycle”", "「red bicycle」?"):
        query = analyse_query(question)
        assert [phrase.tokens for phrase in query.phrases] == [("red", "bicycl")]
        assert query.exact


def test_a_long_question_is_no_phrase() -> None:
    query = analyse_query("one two three four five six seven")
    assert query.phrases == ()
    assert not query.exact


def test_a_question_of_many_words_is_bounded() -> None:
    assert len(analyse_query(" ".join(f"w{number}" for number in range(10_000))).terms) == 256


def test_coverage_is_the_share_of_weight_that_a_text_holds() -> None:
    query = analyse_query("red bicycles in Paris")
    found = covered(query, "The bicycle was RED.", {"red": 1.0, "bicycl": 3.0, "pari": 4.0})
    assert found == (4.0, 8.0, ("red", "bicycl"))
    assert covered(query, "nothing of it", {}) == (0.0, 3.0, ())


def test_part_of_a_chinese_name_counts_for_less_than_half(dictionary: CompiledDictionary) -> None:
    query = analyse_query("长江大桥", dictionary)
    assert covered(query, "武汉長江大橋", {"长江大桥": 6.0}).weight == 6.0
    assert covered(query, "长江很长", {"长江大桥": 6.0}) == (1.0, 6.0, ())
    assert covered(query, "黄河", {}).weight == 0.0


def test_coverage_of_symbols_and_hangul() -> None:
    assert covered(analyse_query("👍"), "ok 👍", {}).weight == 1.0
    found = covered(analyse_query("서울에서"), "서울에 갔다", {})
    assert 0 < found.weight < found.total == 1.0


@pytest.mark.parametrize(
    ("asked", "held", "other"),
    [
        ("住", "我住在上海", "请記住这件事"),
        ("吃", "吃了一碗面", "大吃一惊，吃惊"),
        ("叫", "它叫小黑", "叫醒我"),
    ],
)
def test_a_character_inside_a_word_that_says_something_else_covers_nothing(
    asked: str, held: str, other: str
) -> None:
    query = analyse_query(asked)
    assert covered(query, held, {}).share == 1.0
    assert covered(query, other, {}).share == 0.0


def test_such_a_word_is_not_seen_where_another_one_ends() -> None:
    assert covered(analyse_query("住"), "书记住在北京", {}).share == 1.0


def test_a_question_loads_no_dictionary_of_jieba_and_no_numpy(tmp_path: Path) -> None:
    compile_dictionary(tmp_path)
    program = (
        "import sys\nfrom pathlib import Path\n"
        "from muniment.store.index.fts import TextIndex\n"
        "from muniment.store.index.generation import Generations\n"
        "from muniment.store.text.query import analyse_query\n"
        "from muniment.store.text.segment import open_dictionary\n"
        "assert analyse_query('王小明在哪里', open_dictionary(Path(sys.argv[1]))).units\n"
        "heavy = {'jieba', 'rjieba', 'opencc', 'numpy', 'pydantic', 'marisa_trie'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True)


def test_a_word_of_the_same_root_covers_most_of_another() -> None:
    query = analyse_query("plumber")
    assert covered(query, "Northgate Plumbing", {}).weight == 0.8
    assert covered(query, "a plum tree", {}).weight == 0.0
    assert covered(analyse_query("painter"), "the paint is dry", {}).weight == 0.8
