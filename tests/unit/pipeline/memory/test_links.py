"""Records linked as related by the user: what recalls one brings in the other, one hop."""

from support.asking import Asker, items
from support.remembering import Talk

from muniment.pipeline.recall.request import Request


def related(talk: Talk, one: str, other: str, verdict: str = "related") -> None:
    with talk.ledger.unit():
        talk.ledger.pairs.add(one, other, verdict, actor="user", reason="said so")


def test_a_related_record_comes_with_the_one_that_answers_and_goes_with_the_link(
    talk: Talk,
) -> None:
    asker = Asker(talk.store)
    texts = ("The boat is moored in Bergen.", "Olaf keeps the key.", "Olaf has a dog.")
    for text in texts:
        talk.claim(None, None, "2024-05-01", text=text)
    boat, key, dog = (row["id"] for row in talk.memory.records("1 ORDER BY r.version_seq"))
    query = "where is the boat moored?"
    alone = [item["text"] for item in items(asker.recall(query), "records")]

    related(talk, boat, key)
    related(talk, key, dog)  # two hops away

    found = items(asker.recall(query), "records")
    assert [item["text"] for item in found] == [*alone, texts[1]]
    assert found[-1]["signals"] == {"related": 1}
    assert found[-1]["citations"]
    assert talk.ledger.pairs.related(key) == [boat, dog]

    related(talk, key, boat, "unrelated")
    assert [item["text"] for item in items(asker.recall(query), "records")] == alone


def test_a_link_brings_no_answer_where_nothing_answers(talk: Talk) -> None:
    asker = Asker(talk.store)
    for text in ("The boat is moored in Bergen.", "Olaf keeps the key."):
        talk.claim(None, None, "2024-05-01", text=text)
    boat, key = (row["id"] for row in talk.memory.records("1 ORDER BY r.version_seq"))
    related(talk, boat, key)

    assert asker.recall("who painted the ceiling?")["coverage"] == "none"


def test_old_evidence_fades_when_that_is_asked_for_and_only_then(talk: Talk) -> None:
    asker = Asker(talk.store)
    long = "The boat is moored in Bergen. " + "It was painted again and again. " * 9
    talk.passage(long, "2023-05-01")
    query = "where is the boat moored?"

    (full,) = items(asker.recall(query), "observations")
    (faded,) = items(asker.recall(query, fade=True), "observations")

    assert Request(query).fade is False
    assert full["text"].strip() == long.strip()
    assert faded["text"].startswith("The boat is moored in Bergen.")
    assert len(faded["text"]) <= 120
    assert faded["time"] == "2023-05"
