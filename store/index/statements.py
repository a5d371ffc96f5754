"""How documents are written: the statements, and the values that a document becomes."""

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from muniment.store.index import match
from muniment.store.index.documents import Document
from muniment.store.index.schema import VIEWS
from muniment.store.text.words import analyse

if TYPE_CHECKING:
    from muniment.store.text.words import Cutter

COLUMNS = (
    "doc.rowid, ref, kind, asset, seq, instant, family, origin, role, source, session, path,"
    " confidence, grp"
)
INSERT = (
    "INSERT INTO doc (ref, kind, asset, seq, instant, family, origin, role, source, session, path,"
    " confidence, grp, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT DO NOTHING"
)
UPDATE = (
    "UPDATE doc SET kind = ?, asset = ?, seq = ?, instant = ?, family = ?, origin = ?, role = ?,"
    " source = ?, session = ?, path = ?, confidence = ?, grp = ?, told = ? WHERE rowid = ?"
)
INSERT_WORDS = f"INSERT INTO fts (rowid, {', '.join(VIEWS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"
UPDATE_WORDS = f"UPDATE fts SET {', '.join(f'{view} = ?' for view in VIEWS)} WHERE rowid = ?"


def views_of(document: Document, cutter: "Cutter | None") -> tuple[str, ...]:
    """Return the tokens of every view, each joined by spaces."""
    tokens = analyse(document.text, cutter)
    return (
        *(" ".join(view) for view in tokens),
        _flat(document.title) if document.title else "",
        _flat(document.context) if document.context else "",
    )


def values_of(document: Document) -> tuple[object, ...]:
    """Return what the document table keeps; the digest says whether the text is the same."""
    told = f"{document.title}\n{document.text}".encode("utf-8", "replace")
    digest = int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)
    fields = map(match.storable, (document.ref, document.kind, *document[5:]))
    return (*fields, digest)


def _flat(text: str) -> str:
    return " ".join(filter(None, map(_flat_line, text.split("\n"))))


@lru_cache(maxsize=4_096)
def _flat_line(line: str) -> str:
    """Return the tokens of a line of context; a message stands beside several others."""
    tokens = analyse(line)
    return " ".join((*tokens.words, *tokens.names, *tokens.grams))
