from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muniment.store.index import vectors
from muniment.store.index.documents import Document, IndexDamageError
from muniment.store.index.fts import TextIndex
from muniment.store.index.vectors import VectorIndex

DIMENSIONS = 100  # no multiple of 64: the last word of the bits is padded


@pytest.fixture
def text(tmp_path: Path) -> Iterator[TextIndex]:
    index = TextIndex(tmp_path / "fts.sqlite3")
    index.add(Document(f"n{number}", "text", "x") for number in range(1, 401))
    yield index
    index.close()


@pytest.fixture
def index(text: TextIndex, tmp_path: Path) -> VectorIndex:
    return VectorIndex(tmp_path, "model:1", DIMENSIONS, text)


@pytest.fixture(scope="module")
def matrix() -> "np.ndarray[Any, Any]":
    random = np.random.default_rng(1)
    matrix = random.standard_normal((400, DIMENSIONS)).astype(np.float32)
    scaled: np.ndarray[Any, Any] = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
    return scaled


def test_the_nearest_come_first_with_their_cosine(
    index: VectorIndex, matrix: "np.ndarray[Any, Any]"
) -> None:
    index.append([(at + 1, 3.0 * row) for at, row in enumerate(matrix)])
    found = index.search(matrix[7] * 2, 5)
    expected = np.argsort(-(matrix @ matrix[7]))[:5] + 1
    assert [doc for doc, _ in found] == expected.tolist()
    assert found[0][1] == pytest.approx(1.0, abs=1e-3)
    assert found[1][1] == pytest.approx(float(np.sort(matrix @ matrix[7])[-2]), abs=1e-3)


def test_sign_bits_choose_candidates_in_a_large_index(
    index: VectorIndex, matrix: "np.ndarray[Any, Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    index.append([(at + 1, row) for at, row in enumerate(matrix)])
    exact = index.search(matrix[3], 5)
    monkeypatch.setattr(vectors, "EXACT_ROWS", 50)
    monkeypatch.setattr(vectors, "_LEAST_CANDIDATES", 200)
    monkeypatch.setattr(vectors, "_BLOCK", 64)
    by_bits = VectorIndex(index._stem.parent, "model:1", DIMENSIONS, index._text)
    found = by_bits.search(matrix[3], 5)
    assert found[0][0] == 4
    assert len({doc for doc, _ in found} & {doc for doc, _ in exact}) >= 3
    assert {doc for doc, _ in by_bits.search(matrix[3], 5, range(100, 400))} <= set(range(100, 400))
    assert len(by_bits.search(matrix[3], 400)) == 400


def test_only_allowed_and_live_documents_are_returned(
    index: VectorIndex, text: TextIndex, matrix: "np.ndarray[Any, Any]"
) -> None:
    index.append([(at + 1, row) for at, row in enumerate(matrix)])
    text.remove(["n8", "n9"])
    found = [doc for doc, _ in index.search(matrix[7], 400)]
    assert len(found) == 398
    assert not {8, 9} & set(found)
    assert {doc for doc, _ in index.search(matrix[7], 10, [8, 10, 11])} == {10, 11}
    assert len(index.rowids()) == 398


def test_a_document_with_two_vectors_is_returned_once(
    index: VectorIndex, matrix: "np.ndarray[Any, Any]"
) -> None:
    index.append([(1, matrix[0]), (2, matrix[1]), (1, matrix[2])])
    assert sorted(doc for doc, _ in index.search(matrix[0], 5)) == [1, 2]


def test_an_empty_index_finds_nothing(index: VectorIndex) -> None:
    index.append([])
    assert len(index) == 0
    assert index.search([1.0] * DIMENSIONS, 5) == []
    assert list(index.blocks()) == []


def test_a_torn_append_is_overwritten(
    index: VectorIndex, text: TextIndex, matrix: "np.ndarray[Any, Any]", tmp_path: Path
) -> None:
    index.append([(1, matrix[0])])
    with pytest.raises(RuntimeError), text.transaction():  # noqa: PT012 (the point is the block)
        index.append([(2, matrix[1]), (3, matrix[2])])
        raise RuntimeError
    again = VectorIndex(tmp_path, "model:1", DIMENSIONS, text)
    assert [doc for doc, _ in again.search(matrix[1], 5)] == [1]
    again.append([(4, matrix[3])])
    assert {doc for doc, _ in again.search(matrix[3], 5)} == {1, 4}
    assert next(tmp_path.glob("*.docs")).stat().st_size == 16


def test_missing_bytes_are_reported(
    index: VectorIndex, text: TextIndex, matrix: "np.ndarray[Any, Any]", tmp_path: Path
) -> None:
    index.append([(1, matrix[0]), (2, matrix[1])])
    rows = next(tmp_path.glob("*.rows"))
    rows.write_bytes(rows.read_bytes()[:-1])
    reader = VectorIndex(tmp_path, "model:1", DIMENSIONS, text)
    with pytest.raises(IndexDamageError):
        reader.search(matrix[0], 1)
    rows.unlink()
    with pytest.raises(IndexDamageError):
        reader.search(matrix[0], 1)


def test_erased_vectors_leave_no_bytes(
    index: VectorIndex, matrix: "np.ndarray[Any, Any]", tmp_path: Path
) -> None:
    index.append([(at + 1, row) for at, row in enumerate(matrix[:5])])
    trace = matrix[1].astype(np.float16).tobytes()
    rows = next(tmp_path.glob("*.rows"))
    assert trace in rows.read_bytes()
    assert index.search(matrix[1], 1)[0][0] == 2
    assert index.erase([2, 99]) == 1
    assert trace not in rows.read_bytes()
    assert 2 not in [doc for doc, _ in index.search(matrix[1], 5)]
    assert index.erase([2]) == 0


def test_vectors_can_be_copied_to_another_generation(
    index: VectorIndex, text: TextIndex, matrix: "np.ndarray[Any, Any]", tmp_path: Path
) -> None:
    index.append([(at + 1, row) for at, row in enumerate(matrix)])
    text.remove(["n3"])
    (tmp_path / "next").mkdir()
    other = VectorIndex(tmp_path / "next", "model:2", DIMENSIONS, text)
    for numbers, rows in index.blocks():
        other.append(list(zip(numbers.tolist(), rows, strict=True)))
    assert len(other) == 399
    assert other.search(matrix[9], 5) == index.search(matrix[9], 5)


def test_producers_are_kept_apart(
    index: VectorIndex, text: TextIndex, matrix: "np.ndarray[Any, Any]", tmp_path: Path
) -> None:
    index.append([(1, matrix[0])])
    assert len(VectorIndex(tmp_path, "model:2", DIMENSIONS, text)) == 0


@pytest.mark.parametrize("row", [[1.0] * 3, [float("nan")] * DIMENSIONS])
def test_a_vector_of_another_shape_or_no_number_is_refused(
    index: VectorIndex, row: list[float]
) -> None:
    with pytest.raises(ValueError, match="finite numbers"):
        index.append([(1, row)])
    assert len(index) == 0
