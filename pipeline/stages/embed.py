"""Vectors of what is indexed: newest first, in batches that each count once they are committed."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from muniment.pipeline.stages.documents import embedded_text
from muniment.store.index.documents import Filters, IndexDamageError, Row
from muniment.store.index.vectors import VectorIndex

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder
    from muniment.pipeline.progress import ProgressLine
    from muniment.store.index.fts import TextIndex
    from muniment.store.ledger import Ledger

BATCH = 64
# Which vectors a generation holds, as a mark of its text index.
_MARK = "embedder"
_CHARACTERS = 2_000


def vectors_of(index: "TextIndex", embedder: "Embedder") -> VectorIndex:
    """Return the vectors that an embedder made for an index."""
    made_by = embedder.producer.fingerprint
    return VectorIndex(index.path.parent, made_by, embedder.dimensions, index)


def vectors_held(index: "TextIndex") -> VectorIndex | None:
    """Return the vectors that an index holds, whoever made them."""
    known = str(index.get_mark(_MARK, ""))
    if not known:
        return None
    fingerprint, dimensions = json.loads(known)
    return VectorIndex(index.path.parent, fingerprint, dimensions, index)


def missing_from(index: "TextIndex", vectors: VectorIndex) -> list[int]:
    """Return the numbers of documents without a vector, newest first."""
    held = set(vectors.rowids().tolist())
    return sorted((one for one in index.matching(Filters()) if one not in held), reverse=True)


def embed_missing(
    ledger: "Ledger",
    index: "TextIndex",
    embedder: "Embedder",
    progress: "ProgressLine | None" = None,
    *,
    most: int | None = None,
) -> tuple[int, int]:
    """Give a vector to each document that lacks one, or to the newest ``most`` of them.

    Returns how many were made and how many still lack one.
    """
    vectors = vectors_of(index, embedder)
    _remember(index, embedder)
    missing = missing_from(index, vectors)
    wanted = missing[:most]
    if progress is not None:
        progress.start("embed", len(wanted))
    made = 0
    for at in range(0, len(wanted), BATCH):
        batch = wanted[at : at + BATCH]
        rows = index.rows(batch)
        pairs = list(_texts(ledger, [rows[number] for number in batch if number in rows]))
        told = [(number, text) for number, text in pairs if text]
        if told:
            matrix = embedder.passages([text for _, text in told])
            vectors.append((number, row) for (number, _), row in zip(told, matrix, strict=True))
        # What says nothing is near nothing: a vector of zeros marks it as done.
        nothing = [0.0] * embedder.dimensions
        vectors.append((number, nothing) for number, text in pairs if not text)
        made += len(pairs)
        if progress is not None:
            progress.advance(len(rows))
    return made, len(missing) - made


def copy_vectors(old: "TextIndex", new: "TextIndex") -> int:
    """Copy the vectors of documents that are the same in both; return how many."""
    known = str(old.get_mark(_MARK, ""))
    if not known:
        return 0
    fingerprint, dimensions = json.loads(known)
    source = VectorIndex(old.path.parent, fingerprint, dimensions, old)
    target = VectorIndex(new.path.parent, fingerprint, dimensions, new)
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


def _remember(index: "TextIndex", embedder: "Embedder") -> None:
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
