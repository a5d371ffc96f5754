from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.index_contents import contents

from muniment.store.index import fts, postings
from muniment.store.index.documents import Document
from muniment.store.index.fts import TextIndex
from muniment.store.index.inverting import InvertedCollector, invert
from muniment.store.index.postings import PlainCollector
from muniment.store.index.told import parts_of
from muniment.store.text.segment import BulkCutter
from muniment.store.text.words import analyse

ANY = st.text(st.characters(), max_size=40)
CHAT = st.text(st.sampled_from("aB1'-.:: \n\nçé中文学白鹭서ーあ👍\u0301\u3000\x85ſß"), max_size=40)
TEXT = ANY | CHAT
CUTTER = BulkCutter()


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    texts = draw(st.lists(TEXT, min_size=1, max_size=6))
    return [
        Document(
            f"n{number}", "text", text * draw(st.sampled_from((1, 1, 1, 30))),
            title=draw(TEXT),
            context="\n".join(f"Ann: {other}" for other in draw(st.permutations(texts))),
        )
        for number, text in enumerate(texts)
    ]  # fmt: skip


@given(line=TEXT | st.builds("{}: {}".format, TEXT, TEXT))
@example("Ann: \u0301a")
@example("中文: 学校")
@example("a: 'b")
def test_the_parts_of_a_line_give_its_tokens(line: str) -> None:
    parts = [analyse(part) for part in parts_of(line)]
    for view, tokens in enumerate(analyse(line)):
        assert [token for part in parts for token in part[view]] == tokens


@given(told=documents(), cut=st.booleans())
def test_inverting_many_gives_what_taking_them_one_by_one_gives(
    told: list[Document], cut: bool
) -> None:
    cutter = CUTTER if cut else None
    plain, inverted = PlainCollector(told, cutter), InvertedCollector(invert(told, cutter))
    half = len(told) // 2  # a part is drained when a chunk is full
    for offsets in (range(5, 5 + half), range(len(told) - half)):
        for offset in offsets:
            assert plain.take(offset) == inverted.take(offset)
        assert list(plain.drain()) == list(inverted.drain())


def test_a_token_is_counted_up_to_fifteen_times_on_each_side() -> None:
    told = [Document("n", "text", "heron " * 20, context="heron " * 17 + "lake " * 15)]
    collector = InvertedCollector(invert(told, None))
    assert collector.take(3)[1] == 52
    held = {token: int.from_bytes(data, "little") for token, data in collector.drain()}
    assert held == {"heron": 3 << 8 | 0xFF, "lake": 3 << 8 | 0x0F}


def test_documents_without_words_have_no_postings() -> None:
    collector = InvertedCollector(invert([Document("n", "text", " ")], None))
    assert collector.take(0) == (("",) * 6, 0)
    assert list(collector.drain()) == []


def test_an_index_of_many_documents_is_that_of_few_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postings, "CHUNK", 16)
    first = [Document(f"n{n}", "text", f"白鹭 heron {n % 7}\nlake {n}") for n in range(50)]
    again = [
        document._replace(text=document.text + "!" * (number % 2), context=f"Ann: crane {number}")
        for number, document in enumerate(first[10:40])
    ]
    held = []
    for many in (0, 1_000_000):
        monkeypatch.setattr(fts, "_MANY_WITH_NUMPY", many)
        monkeypatch.setattr(fts, "_MANY", many)
        with TemporaryDirectory() as folder:
            index = TextIndex(Path(folder) / "fts.sqlite3", cutter=CUTTER)
            index.add(first)
            index.add(again)
            index.remove(["n3", "n20"])
            index.check()
            index.close()
            held.append(contents(Path(folder) / "fts.sqlite3"))
    assert held[0] == held[1]
