"""Measure retrieval on public sets: plain FTS5, reciprocal ranks, and what recall does.

Run as a program: ``python tests/bench/bench_recall.py [locomo] [scifact] [cmrc] [--embed]``. Reads
the sets from ``$MUNIMENT_BENCH`` (default: ``../shared/bench`` beside the checkout); stores are
built in a temporary folder. Prints one line a set and method.
"""

import json
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT / "tests"))
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import apsw  # noqa: E402  # the environment comes first
from support.stores import Line, TinyStore  # noqa: E402

from muniment.pipeline.recall.answer import search_hits  # noqa: E402
from muniment.pipeline.recall.request import Request  # noqa: E402
from muniment.pipeline.stages.index import open_live, refresh  # noqa: E402
from muniment.store.records import MessageLocator  # noqa: E402
from muniment.store.text.stopwords import ENGLISH  # noqa: E402

if TYPE_CHECKING:
    from muniment.adapters.ports import Embedder

DEPTH = 10
NOW = "2026-01-01T00:00:00.000000Z"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
CLOCK = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d{4})")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

Search = Callable[[str], list[str]]
Method = Callable[["Collection"], AbstractContextManager[Search]]


@dataclass
class Question:
    """A question with the ids of the documents that answer it, and its kind."""

    text: str
    wanted: set[str]
    category: str = "all"


@dataclass
class Document:
    """A text to be found; those of one thread are neighbours."""

    key: str
    text: str
    author: str | None = None
    time: str | None = None
    thread: str | None = None


@dataclass
class Collection:
    """Documents of one scope, and the questions over them."""

    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)


def bench_folder() -> Path:
    """Return the folder of public sets."""
    named = os.environ.get("MUNIMENT_BENCH")
    return Path(named) if named else CHECKOUT.parent / "shared" / "bench"


# --- the sets -------------------------------------------------------------------------------------


def locomo() -> Iterator[Collection]:
    """Yield one collection a conversation; malformed evidence ids are skipped."""
    for path in sorted((bench_folder() / "locomo").glob("*.json")):
        for sample in json.loads(path.read_text("utf-8")):
            yield _conversation(sample)


def _conversation(sample: dict) -> Collection:  # type: ignore[type-arg]  # a JSON object
    talk = sample["conversation"]
    found = Collection()
    session = 1
    while f"session_{session}_date_time" in talk:
        for turn in talk.get(f"session_{session}", []):
            caption = f" {turn['blip_caption']}" if turn.get("blip_caption") else ""
            found.documents.append(
                Document(
                    turn["dia_id"],
                    turn["text"] + caption,
                    turn["speaker"],
                    _instant(talk[f"session_{session}_date_time"]),
                    f"session-{session}",
                )
            )
        session += 1
    known = {document.key for document in found.documents}
    for asked in sample["qa"]:
        wanted = {key for key in asked["evidence"] if key in known}
        if asked["category"] in CATEGORIES and wanted:
            found.questions.append(
                Question(asked["question"], wanted, CATEGORIES[asked["category"]])
            )
    return found


def _instant(text: str) -> str:
    match = CLOCK.fullmatch(text)
    assert match is not None, text
    hour, minute, half, day, month, year = match.groups()
    shifted = int(hour) % 12 + (12 if half == "pm" else 0)
    number = MONTHS.index(month) + 1
    return f"{year}-{number:02d}-{int(day):02d}T{shifted:02d}:{minute}:00Z"


def scifact() -> Iterator[Collection]:
    """Yield SciFact with its test queries."""
    folder = bench_folder() / "scifact"
    found = Collection()
    for row in _json_lines(folder / "corpus.jsonl"):
        found.documents.append(Document(row["_id"], f"{row['title']}\n{row['text']}"))
    queries = {row["_id"]: row["text"] for row in _json_lines(folder / "queries.jsonl")}
    wanted: dict[str, set[str]] = {}
    for line in (folder / "qrels_test.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, relevance = line.split("\t")
        if int(relevance):
            wanted.setdefault(query, set()).add(document)
    found.questions = [Question(queries[key], keys) for key, keys in wanted.items()]
    yield found


def cmrc() -> Iterator[Collection]:
    """Yield the paragraphs of CMRC 2018 dev with their questions."""
    text = (bench_folder() / "cmrc2018-zh" / "cmrc2018_dev.json").read_text("utf-8")
    found = Collection()
    for article in json.loads(text)["data"]:
        for paragraph in article["paragraphs"]:
            key = str(len(found.documents))
            found.documents.append(Document(key, paragraph["context"]))
            found.questions += [Question(asked["question"], {key}) for asked in paragraph["qas"]]
    yield found


def _json_lines(path: Path) -> Iterator[dict]:  # type: ignore[type-arg]  # JSON objects
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


# --- the methods ----------------------------------------------------------------------------------


@contextmanager
def plain_fts5(collection: Collection) -> Iterator[Search]:
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

    yield search


@contextmanager
def ours(
    collection: Collection, request: Request, embedder: "Embedder | None" = None
) -> Iterator[Search]:
    """Search a real store as the ``search`` command does."""
    with tempfile.TemporaryDirectory() as folder:
        store = TinyStore(Path(folder))
        keys = _store(store, collection.documents)
        cache = Path(folder) / "cache"
        refresh(store.ledger, store.paths.index, cache, embedder=embedder)
        index = open_live(store.paths.index)

        def search(query: str) -> list[str]:
            hits = search_hits(
                store.ledger,
                index,
                replace(request, query=query),
                clock=lambda: NOW,
                limit=DEPTH,
                embedder=embedder,
                cache=cache,
            )
            return [keys[hit["ref"].removeprefix("observation:")] for hit in hits]

        yield search
        index.close()
        store.close()


def _store(store: TinyStore, documents: Sequence[Document]) -> dict[str, str]:
    """Store each thread as one file, other documents as one file each; return keys by id."""
    threads: dict[str, list[Document]] = {}
    for document in documents:
        threads.setdefault(document.thread or f"document-{document.key}", []).append(document)
    keys: dict[str, str] = {}
    with store.ledger.unit():
        for name, members in threads.items():
            ids = store._put(f"/bench/{name}", [_line(place, one) for place, one in
                                                enumerate(members)])  # fmt: skip
            keys |= dict(zip(ids, (one.key for one in members), strict=True))
    return keys


def _line(place: int, document: Document) -> Line:
    if document.thread is None:
        return Line(document.text)
    return Line(
        document.text, kind="message", author=document.author, time=document.time,
        thread=document.thread, locator=MessageLocator(index=place),
    )  # fmt: skip


# --- the measures ---------------------------------------------------------------------------------


def recall_at_ten(found: Sequence[str], wanted: set[str]) -> float:
    """Return the share of the wanted documents among the first ten."""
    return len(wanted & set(found[:10])) / len(wanted)


def first_is_right(found: Sequence[str], wanted: set[str]) -> float:
    """Return 1 when the first document answers."""
    return float(bool(found) and found[0] in wanted)


def ndcg_at_ten(found: Sequence[str], wanted: set[str]) -> float:
    """Return the normalised discounted gain of the first ten."""
    gain = sum(1 / math.log2(rank + 1) for rank, key in enumerate(found[:10], 1) if key in wanted)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), 10) + 1))
    return gain / best


MEASURES = {
    "locomo": (locomo, "recall@10", recall_at_ten),
    "scifact": (scifact, "nDCG@10", ndcg_at_ten),
    "cmrc": (cmrc, "R@1", first_is_right),
}
METHODS: dict[str, Method] = {
    "plain FTS5": plain_fts5,
    "words, plain RRF": lambda one: ours(one, Request("", fusion="rrf", semantic="off")),
    "words": lambda one: ours(one, Request("", semantic="off")),
}


def with_embedder() -> dict[str, Method]:
    """Return the methods that need the default embedder."""
    from muniment.adapters import registry
    from muniment.adapters.models.settings import ModelSettings

    embedder = registry.model("embed", ModelSettings())
    return {
        "both, plain RRF": lambda one: ours(one, Request("", fusion="rrf"), embedder),
        "both": lambda one: ours(one, Request(""), embedder),
    }


def run(name: str, methods: Mapping[str, Method]) -> None:
    """Measure one set by the methods and print a line each."""
    load, label, measure = MEASURES[name]
    collections = list(load())
    for label_of, method in methods.items():
        values: dict[str, list[float]] = {}
        for collection in collections:
            with method(collection) as search:
                for question in collection.questions:
                    value = measure(search(question.text), question.wanted)
                    values.setdefault(question.category, []).append(value)
        everything = [value for found in values.values() for value in found]
        parts = "  ".join(
            f"{kind} {sum(found) / len(found):.3f}" for kind, found in sorted(values.items())
        )
        mean = sum(everything) / len(everything)
        line = f"{name:8} {label_of:18} {label} {mean:.3f}  n={len(everything)}  {parts}\n"
        sys.stdout.write(line)
        sys.stdout.flush()


def main() -> None:
    """Measure the named sets, or all."""
    named = [name for name in sys.argv[1:] if name in MEASURES] or list(MEASURES)
    methods = METHODS | (with_embedder() if "--embed" in sys.argv else {})
    for name in named:
        run(name, methods)


if __name__ == "__main__":
    main()
