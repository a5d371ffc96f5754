"""Vectors of what is indexed: newest first, in batches that each count once they are committed."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from muniment.pipeline.stages.documents import embedded_text
from muniment.store.index.documents import IndexDamageError, Row

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.progress import ProgressLine
    from muniment.store.index.ports import SearchIndex, VectorSearch
    from muniment.store.ledger import Ledger

BATCH = 64
# Which vectors a generation holds, as a mark of its text index.
_MARK = "embedder"
_CHARACTERS = 2_000


def vectors_of(index: "SearchIndex", embedder: "Embedder") -> "VectorSearch":
    """Return the vectors that an embedder made for an index."""
    made_by = embedder.producer.fingerprint
    return index.vectors(made_by, embedder.dimensions)


def vectors_held(index: "SearchIndex") -> "VectorSearch | None":
    """Return the vectors that an index holds, whoever made them."""
    known = str(index.get_mark(_MARK, ""))
    if not known:
        return None
    fingerprint, dimensions = json.loads(known)
    return index.vectors(fingerprint, dimensions)


def embed_missing(
    ledger: "Ledger",
    index: "SearchIndex",
    embedder: "Embedder",
    progress: "ProgressLine | None" = None,
    *,
    most: int | None = None,
    batch: int = BATCH,
) -> tuple[int, int]:
    """Give a vector to each document that lacks one, or to the newest ``most`` of them.

    Returns how many were made and how many still lack one.
    """
    vectors = vectors_of(index, embedder)
    _remember(index, embedder)
    missing = vectors.missing()
    wanted = missing[:most]
    if progress is not None:
        progress.start("embed", len(wanted))
    tick = (lambda: None) if progress is None else progress.tick
    waiting: dict[int, list[tuple[int, str]]] = {}
    made = 0
    for key, matrix in _embedded(embedder, _batches(ledger, index, (wanted, batch), waiting), tick):
        pairs = waiting.pop(key)
        told = [number for number, text in pairs if text]
        vectors.append(zip(told, matrix, strict=True))
        # What says nothing is near nothing: a vector of zeros marks it as done.
        nothing = [0.0] * embedder.dimensions
        vectors.append((number, nothing) for number, text in pairs if not text)
        made += len(pairs)
        if progress is not None:
            progress.advance(len(pairs))
    return made, len(missing) - made


def _batches(
    ledger: "Ledger", index: "SearchIndex", wanted_in: tuple[Sequence[int], int],
    waiting: dict[int, list[tuple[int, str]]],
) -> Iterator[tuple[int, list[str]]]:  # fmt: skip
    """Yield (key, what is to be embedded); ``waiting`` keeps the numbers and texts of each."""
    wanted, size = wanted_in
    for at in range(0, len(wanted), size):
        batch = wanted[at : at + size]
        rows = index.rows(batch)
        waiting[at] = list(_texts(ledger, [rows[number] for number in batch if number in rows]))
        yield at, [text for _, text in waiting[at] if text]


def _embedded(
    embedder: "Embedder", batches: Iterable[tuple[int, list[str]]], tick: Callable[[], None]
) -> Iterator[tuple[int, Iterable[Any]]]:
    """Yield (key, vectors) of each batch, one after the other here or many at once elsewhere."""
    from muniment.adapters.ports import BatchEmbedder

    if isinstance(embedder, BatchEmbedder):
        yield from embedder.passages_of(batches, tick)
        return
    for key, texts in batches:
        yield key, embedder.passages(texts) if texts else []


def copy_vectors(old: "SearchIndex", new: "SearchIndex") -> int:
    """Copy the vectors of documents that are the same in both; return how many."""
    known = str(old.get_mark(_MARK, ""))
    if not known:
        return 0
    fingerprint, dimensions = json.loads(known)
    source = old.vectors(fingerprint, dimensions)
    target = new.vectors(fingerprint, dimensions)
    copied = 0
    try:
        for numbers, block in source.blocks():
            rows = old.rows(numbers.tolist())
            same = new.rows_of(row.ref for row in rows.values())
            pairs = [
                (same[rows[number].ref].rowid, vector)
                for number, vector in zip(numbers.tolist(), block, strict=True)
                if number in rows and _is_same(rows[number], same.get(rows[number].ref))
            ]
            target.append(pairs)
            copied += len(pairs)
    except IndexDamageError:
        return copied
    new.set_mark(_MARK, known)
    return copied


def _is_same(old: Row, new: Row | None) -> bool:
    """Compare by the ledger's number: a new version of an episode or record has another text."""
    return new is not None and old.seq == new.seq


def _remember(index: "SearchIndex", embedder: "Embedder") -> None:
    known = json.dumps([embedder.producer.fingerprint, embedder.dimensions])
    if index.get_mark(_MARK, "") != known:
        index.set_mark(_MARK, known)


def _texts(ledger: "Ledger", rows: Sequence[Row]) -> Iterator[tuple[int, str]]:
    """Yield (document number, text); the text is empty where the source says nothing."""
    ids = [row.ref.removeprefix("observation:") for row in rows]
    observations = ledger.evidence.live_by_id(ids)
    for row in rows:
        plane, _, identity = row.ref.partition(":")
        text = ""
        if plane == "observation":
            found = observations.get(identity)
            text = "" if found is None else embedded_text(found.author, found.text)
        elif plane == "episode":
            episode = ledger.episodes.get(identity)
            text = "" if episode is None else embedded_text(episode["title"], episode["gist"])
        else:
            text = _record_text(ledger, identity)
        yield row.rowid, text.strip()[:_CHARACTERS]


def _record_text(ledger: "Ledger", identity: str) -> str:
    record, _, version = identity.rpartition("@")
    found = ledger.memory.records("r.id = ? AND r.version = ?", (record, int(version)))
    return next((str(one["text"]) for one in found), "")
