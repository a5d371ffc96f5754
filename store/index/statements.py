"""How documents are written: the statements, and the values that a document becomes."""

from hashlib import blake2b

from muniment.store.index import match
from muniment.store.index.documents import Document
from muniment.store.index.schema import VIEWS

COLUMNS = "doc.rowid, ref, kind, asset, seq, instant, family, origin, role, session, grp, author"
INSERT = (
    "INSERT INTO doc (place, ref, kind, asset, seq, instant, family, origin, role, source, session,"
    " path, confidence, grp, author, told) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (ref) DO NOTHING"
)
UPDATE = (
    "UPDATE doc SET place = ?, kind = ?, asset = ?, seq = ?, instant = ?, family = ?, origin = ?,"
    " role = ?, source = ?, session = ?, path = ?, confidence = ?, grp = ?, author = ?, told = ?"
    " WHERE rowid = ?"
)
INSERT_WORDS = f"INSERT INTO fts (rowid, {', '.join(VIEWS)}) VALUES (?, ?, ?, ?, ?, ?, ?)"


def values_of(document: Document) -> tuple[object, ...]:
    """Return what the document table keeps; the digest says whether the text is the same."""
    told = f"{document.title}\n{document.text}".encode("utf-8", "replace")
    digest = int.from_bytes(blake2b(told, digest_size=8).digest(), "big", signed=True)
    fields = map(match.storable, (document.ref, document.kind, *document[5:]))
    return (*fields, digest)
