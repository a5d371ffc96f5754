"""Find documents by their vectors: sign bits choose candidates, exact rows score them.

Three files that only grow, one entry a vector: ``.bits`` (one sign a dimension), ``.rows``
(float16 of the unit vector), ``.docs`` (document numbers). How many entries count is a mark in the
text index, so what a torn append left behind is never read and is overwritten by the next one.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from muniment.store.files import remove, space_errors, sync_file, write_chunk
from muniment.store.ids import digest
from muniment.store.index.match import COSINE_STEPS, EXACT_ROWS
from muniment.store.index.schema import damaged
from muniment.store.index.told import unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import numpy as np

    from muniment.store.index.documents import Filters
    from muniment.store.index.fts import TextIndex

    Array: TypeAlias = np.ndarray[Any, Any]

# Candidates of the sign bits: enough for the true best fifty on real text vectors.
_LEAST_CANDIDATES = 2_000
_CANDIDATES_EACH = 20
_BLOCK = 65_536
_FAR = 65_535


class _Maps(NamedTuple):
    total: int
    bits: "Array"
    rows: "Array"
    docs: "Array"


class VectorIndex:
    """The vectors that one producer made for the documents of a generation.

    Raises ``IndexDamageError`` when the files hold less than the mark says.
    """

    def __init__(self, folder: Path, fingerprint: str, dimensions: int, text: "TextIndex") -> None:
        self._stem = folder / f"vectors-{digest(fingerprint)[:16]}"
        self._mark = f"vectors:{digest(fingerprint)[:16]}"
        self._text = text
        self._maps: _Maps | None = None
        self._exact: Array | None = None
        self.dimensions = dimensions

    def __len__(self) -> int:
        """Return the number of vectors, those of removed documents included."""
        return int(self._text.get_mark(self._mark))

    def append(self, rows: "Iterable[tuple[int, Sequence[float] | Array]]") -> None:
        """Add (document number, vector) pairs; vectors are scaled to length one.

        They count from the end of the caller's transaction on the text index.
        """
        import numpy as np

        pairs = list(rows)
        if not pairs:
            return
        matrix = unit_rows(pairs, self.dimensions)
        docs = np.asarray([doc for doc, _ in pairs], dtype=np.int64)
        with self._text.transaction():
            count = len(self)
            for suffix, data, size in (
                (".bits", _signs(matrix), self._bit_bytes),
                (".rows", matrix.astype(np.float16), 2 * self.dimensions),
                (".docs", docs, 8),
            ):
                with self._writable(suffix) as stream:
                    stream.seek(count * size)
                    write_chunk(stream, data.tobytes())
                    stream.truncate()
                    sync_file(stream)
            self._text.set_mark(self._mark, count + len(pairs))

    def search(
        self,
        vector: "Sequence[float] | Array",
        k: int,
        allowed_rowids: "Iterable[int] | None" = None,
    ) -> list[tuple[int, float]]:
        """Return (document number, cosine) of the k nearest live documents, nearest first.

        Of equally near ones the older comes first.
        """
        import numpy as np

        maps = self._open()
        query = np.asarray(vector, dtype=np.float32)
        query = query / max(float(np.linalg.norm(query)), 1e-12)
        places = self._places(maps, allowed_rowids)
        if len(places) > EXACT_ROWS:
            wanted = max(_LEAST_CANDIDATES, _CANDIDATES_EACH * k)
            places = _nearest(maps.bits, _signs(query[None, :])[0], places, wanted)
        steps = np.rint(self._scores(maps, places, query) * np.float64(COSINE_STEPS))
        docs = maps.docs[places]
        best: dict[int, float] = {}
        for at in np.lexsort((docs, -steps)):
            best.setdefault(int(docs[at]), float(steps[at]) / COSINE_STEPS)
            if len(best) >= k:
                break
        return list(best.items())

    def nearest(
        self, vector: "Sequence[float] | Array", k: int, filters: "Filters | None" = None
    ) -> list[tuple[int, float]]:
        """Return (document number, cosine) of the k nearest documents that meet the filters."""
        allowed = None if filters is None else self._text.matching(filters)
        return self.search(vector, k, allowed)

    def missing(self) -> list[int]:
        """Return the numbers of the documents without a vector, newest first."""
        from muniment.store.index.documents import Filters

        held = set(self.rowids().tolist())
        return sorted((one for one in self._text.matching(Filters()) if one not in held),
                      reverse=True)  # fmt: skip

    def lacking(self) -> int:
        """Return how many documents have no vector."""
        return self._text.count() - len(set(self.rowids().tolist()))

    def rowids(self) -> "Array":
        """Return the numbers of the live documents that have a vector."""
        maps = self._open()
        return maps.docs[self._places(maps, None)]

    def blocks(self) -> "Iterator[tuple[Array, Array]]":
        """Yield (document numbers, float32 unit rows) of live documents, to be copied elsewhere."""
        import numpy as np

        maps = self._open()
        places = self._places(maps, None)
        for at in range(0, len(places), 4_096):
            part = places[at : at + 4_096]
            yield maps.docs[part], maps.rows[part].astype(np.float32)

    def erase(self, rowids: Iterable[int]) -> int:
        """Overwrite the vectors of documents with zeros and cut off what a torn append left; return
        how many there were.
        """
        import numpy as np

        maps = self._open()
        places = np.flatnonzero(np.isin(maps.docs, np.fromiter(rowids, dtype=np.int64)))
        for suffix, size in (
            (".bits", self._bit_bytes),
            (".rows", 2 * self.dimensions),
            (".docs", 8),
        ):
            with self._writable(suffix) as stream:
                for place in places:
                    stream.seek(int(place) * size)
                    write_chunk(stream, bytes(size))
                stream.truncate(maps.total * size)
                sync_file(stream)
        self._exact = None
        return len(places)

    def drop_others(self) -> None:
        """Remove the vectors that another producer made for the same generation."""
        for path in self._stem.parent.glob("vectors-*"):
            if path.stem != self._stem.name:
                remove(path)

    @property
    def _bit_bytes(self) -> int:
        return 8 * -(-self.dimensions // 64)

    def _path(self, suffix: str) -> Path:
        return self._stem.with_name(self._stem.name + suffix)

    def _writable(self, suffix: str) -> BinaryIO:
        with space_errors():
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            return os.fdopen(os.open(self._path(suffix), flags, 0o600), "r+b")

    def _open(self) -> _Maps:
        import numpy as np

        count = len(self)
        if self._maps is None or self._maps.total != count:
            self._exact = None
            self._maps = _Maps(
                count,
                self._map(".bits", np.uint64, (count, self._bit_bytes // 8)),
                self._map(".rows", np.float16, (count, self.dimensions)),
                self._map(".docs", np.int64, (count,)),
            )
        return self._maps

    def _map(self, suffix: str, kind: Any, shape: tuple[int, ...]) -> "Array":
        import numpy as np

        if not shape[0]:
            return np.zeros(shape, dtype=kind)
        path = self._path(suffix)
        try:
            return np.memmap(path, dtype=kind, mode="r", shape=shape)
        except (OSError, ValueError) as error:
            raise damaged(path, "the vectors are not whole") from error

    def _places(self, maps: _Maps, allowed: "Iterable[int] | None") -> "Array":
        import numpy as np

        docs = maps.docs
        live = docs > 0
        gone = self._text.gone()
        if gone:
            live &= ~np.isin(docs, np.fromiter(gone, dtype=np.int64))
        if allowed is not None:
            live &= np.isin(docs, np.fromiter(allowed, dtype=np.int64))
        return np.flatnonzero(live)

    def _scores(self, maps: _Maps, places: "Array", query: "Array") -> "Array":
        import numpy as np

        if maps.total > EXACT_ROWS:
            return maps.rows[places].astype(np.float32) @ query
        if self._exact is None:
            self._exact = maps.rows.astype(np.float32)
        return (self._exact @ query)[places]


def _signs(matrix: "Array") -> "Array":
    """Return one bit a dimension, packed into whole 64-bit words."""
    import numpy as np

    packed = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((len(matrix), 8 * -(-matrix.shape[1] // 64)), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    return padded.view(np.uint64)


def _nearest(
    bits: "Array",
    query: "Array",
    places: "Array",
    wanted: int,
) -> "Array":
    """Return the places, in order, whose bits differ least from the query's."""
    import numpy as np

    distances = np.empty(len(bits), dtype=np.uint16)
    for at in range(0, len(bits), _BLOCK):
        different = np.bitwise_count(bits[at : at + _BLOCK] ^ query)
        distances[at : at + _BLOCK] = different.sum(axis=1, dtype=np.uint16)
    if len(places) < len(bits):
        live = np.zeros(len(bits), dtype=bool)
        live[places] = True
        distances[~live] = _FAR
    if wanted >= len(places):
        return places
    return np.sort(np.argpartition(distances, wanted)[:wanted])
