"""What an index has to do, whatever keeps it: SQLite beside the ledger, or a database server.

The callers (the index stage, recall, forget) know these protocols only; the contract tests hold
every implementation to the same answers.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import TypeAlias

    import numpy as np

    from muniment.store.index.documents import Document, Filters, Hit, Row
    from muniment.store.text.query import QueryAnalysis
    from muniment.store.text.words import Cutter

    Array: TypeAlias = np.ndarray[Any, Any]


class VectorSearch(Protocol):
    """The vectors that one embedder made for the documents of a generation."""

    dimensions: int

    def __len__(self) -> int:
        """Return the number of vectors."""
        ...

    def append(self, rows: "Iterable[tuple[int, Sequence[float] | Array]]") -> None:
        """Add (document number, vector) pairs; vectors are scaled to length one."""
        ...

    def nearest(
        self, vector: "Sequence[float] | Array", k: int, filters: "Filters | None" = None
    ) -> list[tuple[int, float]]:
        """Return (document number, cosine) of the k nearest live documents, nearest first."""
        ...

    def missing(self) -> list[int]:
        """Return the numbers of the documents without a vector, newest first."""
        ...

    def lacking(self) -> int:
        """Return how many documents have no vector."""
        ...

    def blocks(self) -> "Iterator[tuple[Array, Array]]":
        """Yield (document numbers, float32 unit rows) of live documents, to be copied elsewhere."""
        ...

    def erase(self, rowids: Iterable[int]) -> int:
        """Destroy the vectors of documents; return how many there were."""
        ...

    def drop_others(self) -> None:
        """Remove the vectors that another embedder made for the same generation."""
        ...


class IndexWriter(Protocol):
    """What following a ledger asks of an index."""

    def transaction(self) -> AbstractContextManager[None]:
        """Make what the block writes one unit; inside another one, a part of that."""
        ...

    def add(self, documents: "Iterable[Document]") -> int:
        """Add documents, replacing those of the same ref; return how many were added."""
        ...

    def remove(self, refs: Iterable[str]) -> int:
        """Remove documents by ref; return how many there were."""
        ...

    def get_mark(self, name: str, default: int | str = 0) -> int | str:
        """Return a watermark, such as the last ledger sequence that is indexed."""
        ...

    def set_mark(self, name: str, value: int | str) -> None:
        """Set a watermark, in the transaction that makes it true."""
        ...


class SearchIndex(IndexWriter, Protocol):
    """The documents of one generation; ``IndexDamageError`` says that it must be rebuilt."""

    @property
    def generation(self) -> str:
        """The name of the generation, never used twice."""
        ...

    def close(self) -> None:
        """Let files and connections go."""
        ...

    def settle(self) -> None:
        """Make much that was just written quick to search."""
        ...

    def compact(self) -> None:
        """Leave nothing behind of what was removed."""
        ...

    def count(self) -> int:
        """Return the number of documents."""
        ...

    def gone(self) -> frozenset[int]:
        """Return the numbers of removed documents; they are never given out again."""
        ...

    def search(
        self,
        query: "QueryAnalysis",
        limit: int = 50,
        filters: "Filters | None" = None,
        weights: Mapping[str, float] = ...,
    ) -> "list[Hit]":
        """Return the best documents; those that hold a short or quoted question as it is lead."""
        ...

    def rows(self, rowids: Iterable[int]) -> "dict[int, Row]":
        """Return stored documents by number; those removed are left out."""
        ...

    def rows_of(self, refs: Iterable[str]) -> "dict[str, Row]":
        """Return stored documents by ref."""
        ...

    def matching(self, filters: "Filters") -> list[int]:
        """Return the numbers of all documents that meet the filters."""
        ...

    def holds(self, kind: str) -> bool:
        """Tell whether there is any record or episode."""
        ...

    def idf(self, query: "QueryAnalysis") -> dict[str, float]:
        """Return the inverse document frequency of each unit of a question, by its text."""
        ...

    def check(self) -> None:
        """Read the whole index; raises ``IndexDamageError`` when it doesn't hold together."""
        ...

    def vectors(self, fingerprint: str, dimensions: int) -> VectorSearch:
        """Return the vectors that the embedder of a fingerprint made for these documents."""
        ...


class IndexStore(Protocol):
    """The generations of one scope's index; one process at a time writes, any number read."""

    def current(self) -> str:
        """Return the name of the live generation.

        Raises ``IndexDamageError`` (``index_missing``) when there is none.
        """
        ...

    def create(self, cutter: "Cutter | None" = None) -> SearchIndex:
        """Begin a generation beside the live one and open it for writing."""
        ...

    def promote(self, generation: str) -> None:
        """Make a generation the live one."""
        ...

    def prune(self) -> int:
        """Delete every generation but the live one; return how many went."""
        ...

    def open(self, *, readonly: bool = True, cutter: "Cutter | None" = None) -> SearchIndex:
        """Open the live generation; raises ``IndexDamageError`` when there is none."""
        ...

    def discard(self) -> None:
        """Delete every generation: the next refresh begins from nothing."""
        ...

    def traces(self, ids: Sequence[str], passages: Sequence[str]) -> list[str]:
        """Return what of erased ids and passages a server still holds; files are read elsewhere."""
        ...
