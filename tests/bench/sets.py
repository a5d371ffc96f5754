"""The public sets, read from ``$MUNIMENT_BENCH`` (default: ``../shared/bench`` by the checkout).

Nothing of them is copied into the project; the questions that they do not answer are ours.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
UNANSWERABLE = Path(__file__).with_name("data") / "unanswerable.json"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
SWAPPED = 5
FITTED_CONVERSATIONS = 3
CLOCK = re.compile(r"(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d{4})")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


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

    name: str
    documents: list[Document] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    # Questions that the documents do not answer, by kind: near, off, held (written after the fit),
    # swapped people.
    unanswerable: dict[str, list[str]] = field(default_factory=dict)


def fitted(name: str, number: int, collection: Collection) -> Collection:
    """Return the questions of a set's collection that coverage may be fitted on.

    Of conversations the first three with all their questions, of the other sets each second
    question; of the unanswerable each second one.
    """
    asked = collection.questions
    if name == "locomo":
        asked = asked if number < FITTED_CONVERSATIONS else []
        unanswerable = _each_second(collection, 0) if asked else {}
    else:
        asked, unanswerable = asked[::2], _each_second(collection, 0)
    return Collection(collection.name, [], asked, unanswerable)


def reported(name: str, number: int, collection: Collection) -> Collection:
    """Return the questions of a set's collection that nothing was fitted on."""
    if name == "locomo" and number < FITTED_CONVERSATIONS:
        return Collection(collection.name)
    asked = collection.questions if name == "locomo" else collection.questions[1::2]
    unanswerable = _each_second(collection, 1)
    unanswerable |= {
        kind: collection.unanswerable[kind]
        for kind in ("held", "swapped")
        if kind in collection.unanswerable
    }
    return Collection(collection.name, [], asked, unanswerable)


def _each_second(collection: Collection, first: int) -> dict[str, list[str]]:
    return {kind: collection.unanswerable[kind][first::2] for kind in ("near", "off")}


def bench_folder() -> Path:
    """Return the folder of public sets."""
    named = os.environ.get("MUNIMENT_BENCH")
    return Path(named) if named else CHECKOUT.parent / "shared" / "bench"


def locomo() -> Iterator[Collection]:
    """Yield one collection a conversation; malformed evidence ids are skipped."""
    for path in sorted((bench_folder() / "locomo").glob("*.json")):
        for sample in json.loads(path.read_text("utf-8")):
            yield _conversation(sample)


def _conversation(sample: dict) -> Collection:  # type: ignore[type-arg]  # a JSON object
    talk = sample["conversation"]
    found = Collection(sample["sample_id"])
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
    found.unanswerable = _ours("conversation", talk["speaker_a"], talk["speaker_b"])
    found.unanswerable["swapped"] = [
        asked["question"] for asked in sample["qa"] if asked["category"] == SWAPPED
    ]
    return found


def _ours(part: str, first: str = "", second: str = "") -> dict[str, list[str]]:
    written = json.loads(UNANSWERABLE.read_text("utf-8"))[part]
    return {
        kind: [text.replace("{a}", first).replace("{b}", second) for text in texts]
        for kind, texts in written.items()
    }


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
    found = Collection("scifact", unanswerable=_ours("abstracts_en"))
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
    found = Collection("cmrc", unanswerable=_ours("encyclopaedia_zh"))
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


SETS: dict[str, Callable[[], Iterator[Collection]]] = {
    "locomo": locomo,
    "scifact": scifact,
    "cmrc": cmrc,
}
