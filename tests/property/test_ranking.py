"""Ranking by postings against the full-text engine's own BM25, and with numpy against without."""

import sys
from array import array
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muniment.store.index import ranking, scores
from muniment.store.index.documents import Document
from muniment.store.index.fts import TextIndex
from muniment.store.index.schema import VIEWS
from muniment.store.index.scores import BLOCK
from muniment.store.index.told import WEIGHTS
from muniment.store.text.query import analyse_query

WORDS = st.sampled_from(["heron", "lake", "boats", "2026.4", "c++", "we", "桥站", "虹桥", "上海站"])
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
DOCUMENTS = st.lists(st.tuples(TEXTS, TEXTS, TEXTS), min_size=1, max_size=12)
# Of each term, the scores of the places that hold it; few, so that many are equal.
TERMS = st.lists(
    st.dictionaries(st.integers(0, 60), st.sampled_from([0.25, 0.5, 1.0]), max_size=50), max_size=6
)
# Numbers of documents that are written, or removed, at once.
STEPS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=4), min_size=1, max_size=6)
# Too many words for the question to be looked for as it stands, which would count extra.
FRAME = "what is it that you did to the one with "
QUESTIONS = st.lists(WORDS, min_size=1, max_size=5, unique=True).map(
    lambda words: FRAME + " of the ".join(words)
)


def filled(folder: str, documents: list[tuple[str, str, str]]) -> TextIndex:
    index = TextIndex(Path(folder) / "fts.sqlite3")
    index.add(
        Document(f"d{number}", "text", text, title, context)
        for number, (text, title, context) in enumerate(documents)
    )
    return index


def by_engine(index: TextIndex, question: str) -> dict[str, float]:
    """Return the scores of the engine itself, without phrases."""
    scopes = {"names": "{names title context}", "words": "{words title context}",
              "grams": "{grams cuts title context}"}  # fmt: skip
    parts = [
        f'{scopes[term.view]} : "{term.token}"' + (" *" if term.prefix else "")
        for term in analyse_query(question).terms
    ]
    factors = ", ".join(str(WEIGHTS[view]) for view in VIEWS)
    with closing(apsw.Connection(str(index.path), flags=apsw.SQLITE_OPEN_READONLY)) as database:
        rows = database.execute(
            f"SELECT ref, -bm25(fts, {factors}) FROM fts JOIN doc ON doc.place = fts.rowid"
            " WHERE fts MATCH ?",
            (" OR ".join(parts),),
        )
        return {str(ref): float(str(score)) for ref, score in rows}


@pytest.mark.parametrize("plain", [True, False], ids=["without numpy", "with numpy"])
@settings(max_examples=25, deadline=None)
@given(documents=DOCUMENTS, question=QUESTIONS)
def test_scores_are_those_of_the_engine(
    plain: bool, documents: list[tuple[str, str, str]], question: str
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if plain:
            patch.delitem(sys.modules, "numpy", raising=False)
        else:
            patch.setattr(ranking, "MOST_PLAIN", -1)
        index = filled(folder, documents)
        found = {hit.ref: hit.score for hit in index.search(analyse_query(question), 100)}
        expected = by_engine(index, question)
        index.close()
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-6)


@given(
    terms=TERMS, count=st.integers(1, 12), blocks=st.integers(1, 20),
    looks=st.sampled_from([0, 1, 8]), spots=st.lists(st.integers(0, 60), max_size=9, unique=True),
    barred=st.sets(st.integers(0, 60)),
)  # fmt: skip
def test_the_best_are_those_of_all_terms_added_up(
    terms: list[dict[int, float]], count: int, blocks: int, looks: int, spots: list[int],
    barred: set[int],
) -> None:  # fmt: skip
    parts = [part(term) for term in terms if term]
    added = np.zeros(blocks * BLOCK, dtype=np.float32)
    for one in sorted(parts, key=lambda one: -one.most):
        added[one.places] += one.weight * one.shares
    added[sorted(barred)] = float("-inf")
    expected = by_score(added, range(len(added)))
    with pytest.MonkeyPatch.context() as patch:
        # So that terms are looked up wherever the bounds allow it.
        patch.setattr(scores, "_WORTH_A_LOOK", 1)
        patch.setattr(scores, "_ADDS_OF_LOOK", looks)
        found = scores.ArrayScores(np.zeros_like(added), parts, array("i", barred))

        assert found.among(array("i", spots), count) == by_score(added, spots)[:count]
        assert found.top(count) == expected[:count]
        assert found.of(spots) == [float(added[spot]) for spot in spots]
        assert found.top(3 * count) == expected[: 3 * count]
        assert not found.cleared().any()

    plain = {place: float(added[place]) for place in range(len(added)) if added[place] != 0}
    assert scores.PlainScores(plain, barred).top(count) == expected[:count]


def part(term: dict[int, float]) -> scores.Part:
    places = np.asarray(sorted(term), dtype=np.int32)
    shares = np.asarray([term[place] for place in sorted(term)], dtype=np.float32)
    weight = 3.0 * len(term)
    return scores.Part(places, shares, weight, weight * float(shares.max()))


def by_score(added: "np.ndarray[Any, Any]", places: Iterable[int]) -> list[tuple[int, float]]:
    """Return (place, score) pairs of what has a score, best first; of equal scores the earliest."""
    held = [(place, float(added[place])) for place in places if added[place] > 0]
    return sorted(held, key=lambda pair: (-pair[1], pair[0]))


@settings(max_examples=25, deadline=None)
@given(steps=STEPS, adds=st.lists(st.booleans(), min_size=6, max_size=6), data=st.data())
def test_a_reader_that_stays_open_ranks_as_one_opened_anew(
    steps: list[list[int]], adds: list[bool], data: st.DataObject
) -> None:
    with TemporaryDirectory() as folder:
        writer = filled(folder, [("heron lake", "", "")])
        stays = TextIndex(writer.path, readonly=True)
        for numbers, is_added in zip(steps, adds, strict=False):
            if is_added:
                writer.add(Document(f"d{one}", "text", data.draw(TEXTS)) for one in numbers)
            else:
                writer.remove(f"d{one}" for one in numbers)
                writer.compact()
            with closing(TextIndex(writer.path, readonly=True)) as anew:
                expected = anew.search(analyse_query("heron lake 桥站"))
            for one in (stays, writer):
                assert one.search(analyse_query("heron lake 桥站")) == expected
        stays.close()
        writer.close()
