"""What is compared on a collection: the floor, plain vectors, ours in its settings, peers."""

import re
from collections.abc import Callable
from dataclasses import replace

import apsw
from bench.peers import PEERS, installed
from bench.sets import Collection
from bench.stored import Stored

from muniment.pipeline.recall.request import Request
from muniment.store.text.stopwords import ENGLISH

DEPTH = 10
WORDS, BOTH = Request("", semantic="off"), Request("")

Search = Callable[[str], list[str]]


def plain_fts5(collection: Collection) -> Search:
    """Search with SQLite's own tokenizer and stemmer, stop words out: the floor."""
    database = apsw.Connection(":memory:")
    database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='porter unicode61')")
    for number, document in enumerate(collection.documents):
        text = f"{document.author}: {document.text}" if document.author else document.text
        database.execute("INSERT INTO t (rowid, x) VALUES (?, ?)", (number, text))

    def search(query: str) -> list[str]:
        words = [word for word in re.findall(r"\w+", query.lower()) if word not in ENGLISH]
        match = " OR ".join(f'"{word}"' for word in words)
        rows = database.execute(
            "SELECT rowid FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?", (match or '""', DEPTH)
        )
        return [collection.documents[row[0]].key for row in rows]

    return search


def plain_vectors(opened: Stored) -> Search:
    """Search by cosine alone."""
    from muniment.pipeline.recall.nearest import NearestDocuments
    from muniment.store.index.documents import Filters

    def search(query: str) -> list[str]:
        assert opened.embedder is not None
        nearest = NearestDocuments(opened.index, opened.embedder, query)(Filters(), DEPTH)
        return [opened.keys[ref.removeprefix("observation:")] for ref, _ in nearest]

    return search


def methods_of(opened: Stored) -> dict[str, Search]:
    """Return what is compared on a collection."""

    def asking(request: Request) -> Search:
        return lambda query: opened.search(request, query, DEPTH)

    found = {"plain FTS5": plain_fts5(opened.collection)}
    found |= {name: PEERS[name](opened.collection, DEPTH) for name in installed()[0]}
    found |= {"words, RRF": asking(replace(WORDS, fusion="rrf")), "words": asking(WORDS)}
    if opened.embedder is not None:
        found |= {
            "plain vectors": plain_vectors(opened),
            "both, RRF": asking(replace(BOTH, fusion="rrf")),
            "both": asking(BOTH),
        }
    return found


def name_of(request: Request) -> str:
    """Return what a request uses: words, or both words and vectors."""
    return "words" if request.semantic == "off" else "both"
