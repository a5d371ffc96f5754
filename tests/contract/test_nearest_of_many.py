"""Above a number of vectors every engine chooses candidates before it scores: what that may cost.

The number is lowered here, so that a few thousand vectors are many.
"""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from support.postgres import made_up_scope

from muniment.adapters.indexes.postgres import vectors as on_server
from muniment.adapters.indexes.postgres.address import parse
from muniment.adapters.indexes.postgres.connection import Connection
from muniment.adapters.indexes.postgres.generations import PostgresIndexes
from muniment.adapters.indexes.postgres.vectors import PostgresVectors
from muniment.store.index import vectors as in_files
from muniment.store.index.documents import Document, Filters
from muniment.store.index.generation import FileIndexes
from muniment.store.index.ports import IndexStore, SearchIndex

MANY, DIMENSIONS, CLOUDS = 3_000, 48, 60
FEW = 200  # of them are scored without choosing
CANDIDATES = 600
NEAREST = 10
MODEL = "invented"
LEAST_RECALL = 0.95


def invented(count: int, seed: int) -> "np.ndarray[Any, Any]":
    """Return unit rows in clouds, as texts have topics."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(CLOUDS, DIMENSIONS))
    rows = centres[np.arange(count) % CLOUDS] + random.normal(size=(count, DIMENSIONS))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


ROWS, QUESTIONS = invented(MANY, 2), invented(40, 3)


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[IndexStore]:
    if request.param == "sqlite":
        yield FileIndexes(tmp_path_factory.mktemp("index"))
        return
    indexes = PostgresIndexes(parse(request.getfixturevalue("postgres_database")), made_up_scope())
    yield indexes
    indexes.discard()


@pytest.fixture(scope="module")
def index(store: IndexStore) -> Iterator[SearchIndex]:
    with pytest.MonkeyPatch.context() as patch:
        for module in (on_server, in_files):
            patch.setattr(module, "EXACT_ROWS", FEW)
        patch.setattr(in_files, "_LEAST_CANDIDATES", CANDIDATES)
        opened = fill(store)
        yield opened
        opened.close()


def fill(store: IndexStore) -> SearchIndex:
    opened = store.create()
    opened.add(
        Document(f"n{at}", "text", "word", role="user" if at % 3 else "tool",
                 source="rare" if at % 100 == 0 else "common")
        for at in range(MANY)
    )  # fmt: skip
    numbers = opened.rows_of(f"n{at}" for at in range(MANY))
    opened.vectors(MODEL, DIMENSIONS).append(
        (numbers[f"n{at}"].rowid, row) for at, row in enumerate(ROWS)
    )
    opened.settle()
    store.promote(opened.generation)
    return opened


def nearest(index: SearchIndex, question: Any, filters: Filters | None = None) -> list[int]:
    found = index.vectors(MODEL, DIMENSIONS).nearest(question, NEAREST, filters)
    rows = index.rows(number for number, _ in found)
    return [int(rows[number].ref.removeprefix("n")) for number, _ in found]


def exact(question: Any, allowed: Any) -> set[int]:
    places = np.flatnonzero(allowed)
    return set(places[np.argsort(-(ROWS[places] @ question))[:NEAREST]].tolist())


PLACES = np.arange(MANY)


@pytest.mark.parametrize(
    ("filters", "allowed"),
    [
        (None, PLACES >= 0),
        (Filters(roles=("tool",)), PLACES % 3 == 0),  # more than are scored without choosing
        (Filters(sources=("rare",)), PLACES % 100 == 0),
    ],
    ids=["no filter", "a third", "a hundredth"],
)
def test_nearly_all_of_the_nearest_are_found_and_none_that_a_filter_keeps_out(
    index: SearchIndex, filters: Filters | None, allowed: Any
) -> None:
    shares = []
    for question in QUESTIONS:
        found = nearest(index, question, filters)
        assert len(found) == NEAREST
        assert allowed[found].all()
        shares.append(len(set(found) & exact(question, allowed)) / NEAREST)

    assert sum(shares) / len(shares) >= LEAST_RECALL


def test_scores_are_exact_and_fall(index: SearchIndex) -> None:
    found = index.vectors(MODEL, DIMENSIONS).nearest(QUESTIONS[0], NEAREST)
    scores = [score for _, score in found]
    rows = index.rows(number for number, _ in found)
    cosines = [float(ROWS[int(rows[n].ref.removeprefix("n"))] @ QUESTIONS[0]) for n, _ in found]

    assert scores == sorted(scores, reverse=True)
    assert scores == pytest.approx(cosines, abs=1e-3)


def test_what_was_removed_is_not_among_the_nearest(index: SearchIndex) -> None:
    first = nearest(index, QUESTIONS[1])[0]
    try:
        index.remove([f"n{first}"])
        assert first not in nearest(index, QUESTIONS[1])
        assert len(nearest(index, QUESTIONS[1])) == NEAREST
    finally:
        index.add([Document(f"n{first}", "text", "word")])


def test_a_graph_answers_on_the_server_and_shows_another_scope_none_of_its_rows(
    store: IndexStore, index: SearchIndex, request: pytest.FixtureRequest
) -> None:
    if not isinstance(store, PostgresIndexes):
        pytest.skip("files hold sign bits, in a folder for each scope")
    vectors = index.vectors(MODEL, DIMENSIONS)
    assert isinstance(vectors, PostgresVectors)
    statement = (
        f"SELECT doc FROM {vectors._table}"
        " ORDER BY vec <#> CAST(CAST(:asked AS text) AS halfvec) LIMIT 5"
    )
    asked, found = str(QUESTIONS[0].tolist()), []
    for scope in (store._scope, made_up_scope()):
        address = parse(request.getfixturevalue("postgres_database"))
        with closing(Connection(address, scope, readonly=True)) as connection:
            connection.run("SET enable_seqscan = off")
            found.append(connection.run(statement, asked=asked))
            plan = connection.run(f"EXPLAIN {statement}", asked=asked)
            assert "Index Scan using" in str(plan)
            assert "vec_idx" in str(plan)
    own, others = found

    assert len(own) == 5
    assert others == []
