import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.store.index.documents import Document
from muniment.store.index.fts import TextIndex
from muniment.store.text import classes
from muniment.store.text.fold import fold
from muniment.store.text.holding import covered
from muniment.store.text.query import analyse_query
from muniment.store.text.segment import BulkCutter, CompiledDictionary, compile_dictionary
from muniment.store.text.words import analyse, raw_words

ANY = st.text(st.characters(), max_size=60)  # lone surrogates and controls included
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=30)
COMMON_HAN = st.text(
    st.sampled_from("的一是在不了有和人这中大为上个国我王小明北京学什么哪里"), min_size=1
)
WORDY = st.text(st.sampled_from("aB1'’-_.:+#, é中\"*"), max_size=30)


@pytest.fixture(scope="module")
def dictionary(tmp_path_factory: pytest.TempPathFactory) -> CompiledDictionary:
    return CompiledDictionary(compile_dictionary(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> TextIndex:
    return TextIndex(tmp_path_factory.mktemp("index") / "fts.db", cutter=BulkCutter())


@given(text=ANY | WORDY, question=ANY | WORDY)
def test_no_text_and_no_question_raises(
    index: TextIndex, dictionary: CompiledDictionary, text: str, question: str
) -> None:
    index.add([Document("it", "text", text, title=text, context=text)])
    query = analyse_query(question, dictionary)
    index.search(query)
    found = covered(query, text, index.idf(query))
    assert 0 <= found.weight <= found.total + 1e-9


@given(text=ANY | WORDY)
def test_a_text_with_tokens_finds_itself(
    index: TextIndex, dictionary: CompiledDictionary, text: str
) -> None:
    index.add([Document("it", "text", text)])
    for known in (dictionary, None):
        hits = index.search(analyse_query(text, known))
        assert bool(hits) == any(analyse(text))


@given(data=st.data(), around=ANY, text=HAN | COMMON_HAN)
def test_any_part_of_han_text_is_found(
    index: TextIndex, dictionary: CompiledDictionary, data: st.DataObject, around: str, text: str
) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    index.add([Document("it", "text", f"{around} {text}{around}")])
    for known in (dictionary, None):
        assert [hit.ref for hit in index.search(analyse_query(part, known))] == ["it"]


@given(text=ANY | WORDY)
def test_tokens_hold_no_space_and_can_be_stored(text: str) -> None:
    for view in analyse(text):
        for token in view:
            assert token
            assert len(token.split()) == 1
            assert "\0" not in token
            token.encode()


@given(text=st.text(st.characters(max_codepoint=0x7F)))
def test_the_short_way_for_ascii_gives_the_same_words(text: str) -> None:
    folded = fold(text)
    shape = classes.classes(folded)
    long_way = [folded[found.start() : found.end()] for found in classes.WORD.finditer(shape)]
    if folded.isascii() and len(folded) <= 64:
        assert raw_words(folded) == long_way


@given(text=ANY | WORDY | HAN)
def test_folding_twice_changes_no_token(text: str) -> None:
    assert analyse(fold(text)) == analyse(text)
