"""Other search libraries on the same texts, where they are installed: ``pip install`` the named.

They are no dependencies of the project. Each gets its own defaults for English (stop words, stems);
none of them cuts Chinese, so Han text is given to them as pairs of characters.
"""

import importlib.util
import re
from collections.abc import Callable, Sequence

from bench.sets import Collection

Search = Callable[[str], list[str]]
_HAN_RUN = re.compile("[\u3400-\u9fff]+")


def _spaced(text: str) -> str:
    """Write runs of Han characters as pairs between spaces."""
    return _HAN_RUN.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]


def _texts(collection: Collection) -> list[str]:
    return [
        _spaced(f"{one.author}: {one.text}" if one.author else one.text)
        for one in collection.documents
    ]


def _keys(collection: Collection, places: Sequence[int]) -> list[str]:
    return [collection.documents[place].key for place in places]


def rank_bm25(collection: Collection, depth: int) -> Search:
    """Okapi BM25 over lower-case words, as the package's own example."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([re.findall(r"\w+", text.lower()) for text in _texts(collection)])

    def search(query: str) -> list[str]:
        scores = index.get_scores(re.findall(r"\w+", _spaced(query).lower()))
        order = sorted(range(len(scores)), key=lambda place: -scores[place])
        return _keys(collection, order[:depth])

    return search


def bm25s(collection: Collection, depth: int) -> Search:
    """BM25 of the package bm25s with English stop words and stems, as its README proposes."""
    import bm25s as library
    import Stemmer  # type: ignore[import-not-found]  # an extension without types

    stemmer = Stemmer.Stemmer("english")

    def tokens(texts: list[str]) -> object:
        return library.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)

    index = library.BM25()
    index.index(tokens(_texts(collection)), show_progress=False)
    most = min(depth, len(collection.documents))

    def search(query: str) -> list[str]:
        found, _ = index.retrieve(tokens([_spaced(query)]), k=most, show_progress=False)
        return _keys(collection, [int(place) for place in found[0]])

    return search


def tantivy(collection: Collection, depth: int) -> Search:
    """Search with Tantivy in memory, with its English stemmer."""
    import tantivy as library

    builder = library.SchemaBuilder()
    builder.add_integer_field("place", stored=True)
    builder.add_text_field("text", tokenizer_name="en_stem")
    index = library.Index(builder.build())
    writer = index.writer()
    for place, text in enumerate(_texts(collection)):
        writer.add_document(library.Document(place=place, text=text))
    writer.commit()
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> list[str]:
        words = " ".join(re.findall(r"\w+", _spaced(query).lower()))
        parsed, _ = index.parse_query_lenient(words, ["text"])
        hits = searcher.search(parsed, depth).hits
        return _keys(collection, [searcher.doc(at)["place"][0] for _, at in hits])

    return search


PEERS: dict[str, Callable[[Collection, int], Search]] = {
    "rank_bm25": rank_bm25,
    "bm25s": bm25s,
    "tantivy": tantivy,
}


def installed() -> tuple[list[str], list[str]]:
    """Return the peers that are installed, and those that are not."""
    here = {name: importlib.util.find_spec(name) is not None for name in PEERS}
    return [name for name in PEERS if here[name]], [name for name in PEERS if not here[name]]
