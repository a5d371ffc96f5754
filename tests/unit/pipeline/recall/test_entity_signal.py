"""The entity signal: other names and one relation raise hits; nothing is found by it alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from support.remembering import Talk

from muniment.pipeline.entities.editing import add_alias
from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.merging import merge
from muniment.pipeline.entities.reading import Reading
from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.recall.entities import documents, path_of, raise_named
from muniment.pipeline.recall.fuse import Fused


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    made = Talk(tmp_path / "root")
    yield made
    made.store.close()


def read(talk: Talk) -> None:
    with talk.ledger.unit():
        identities = Identities(talk.ledger)
        Reading(talk.ledger, identities).take(talk.ledger.evidence.after(0, 1_000))
        Relations(talk.ledger, identities).read()


def chat(talk: Talk, *messages: tuple[str, str], thread: str = "chat") -> list[str]:
    said = [(author, text, None) for author, text in messages]
    ids = talk.store.chat(said, thread=thread, name=f"{thread}.txt", origin="third_party")
    read(talk)
    return [f"observation:{one}" for one in ids]


def hits(refs: Sequence[str]) -> list[Fused]:
    return [Fused(ref, 1.0 - place / 100) for place, ref in enumerate(refs)]


def entity(talk: Talk, name: str) -> int:
    return talk.ledger.entities.called([name])[0][1]


def alias(talk: Talk, name: str, other: str) -> None:
    with talk.ledger.unit():
        add_alias(talk.ledger, entity(talk, name), other)


def test_another_name_raises_what_was_said_or_told_under_the_first(talk: Talk) -> None:
    refs = chat(talk, ("Bob", "The tea."), ("Li Mei", "The boat."), ("Bob", "Ask Li Mei!"),
                ("Bob", "Li Meiling."))  # fmt: skip
    alias(talk, "li mei", "Auntie")
    path = path_of(talk.ledger, "What did auntie say?")

    found = raise_named(talk.ledger, path, hits(refs), 30.0)

    raised = [hit.key for hit in found if hit.parts.get("entity")]
    assert raised == [refs[1], refs[2]]
    assert {hit.key for hit in found} == set(refs)


def test_the_name_that_is_asked_by_is_left_to_the_words(talk: Talk) -> None:
    refs = chat(talk, ("Bob", "The tea."), ("Li Mei", "The boat."))
    path = path_of(talk.ledger, "What did Li Mei say?")

    assert list(path.seeds.values()) == ["li mei"]
    assert raise_named(talk.ledger, path, hits(refs), 30.0) == hits(refs)


def test_a_question_that_names_nobody_has_no_path(talk: Talk) -> None:
    chat(talk, ("May", "The tea."), ("An", "The boat."), ("明", "茶"))

    for question in ("maybe it may rain", "May I ask who came?", "an answer", "明天", ""):
        assert path_of(talk.ledger, question).seeds == {}, question
    assert list(path_of(talk.ledger, "What did May say?").seeds.values()) == ["may"]


def test_the_longest_name_is_meant(talk: Talk) -> None:
    chat(talk, ("小明", "茶"), ("王小明", "船"), ("Ann", "Tea"), ("Ann Lee", "Boat"))

    assert list(path_of(talk.ledger, "王小明说了什么").seeds.values()) == ["王小明"]
    assert list(path_of(talk.ledger, "what did ann lee say").seeds.values()) == ["ann lee"]


def test_a_relation_leads_one_step_on_and_not_through_the_owner(talk: Talk) -> None:
    refs = chat(talk, ("Bob", "I work at Acme."), ("Carla", "The boat."))
    with talk.ledger.unit():
        person, place = entity(talk, "bob"), entity(talk, "carla")
        candidate = talk.ledger.relations.claims_after(0, 9)
        assert candidate == []
    talk.say("I live in Rome.", "2020-05-01")
    read(talk)
    (claim,) = talk.ledger.relations.claims_after(0, 9)
    with talk.ledger.unit():
        talk.ledger.relations.relate(person, place, "sister_of", claim["seq"])

    path = path_of(talk.ledger, "What of Carla?")
    found = raise_named(talk.ledger, path, hits(refs), 30.0)

    assert [(step["relation"], step["hops"]) for step in documents(talk.ledger, path)] == [
        (None, 0), ("sister_of", 1)
    ]  # fmt: skip
    assert [hit.key for hit in found if hit.parts.get("entity")] == [refs[0]]
    assert [one.hops for one in path_of(talk.ledger, "What about Rome?").reached] == [0]


def test_merged_entities_answer_to_each_others_names(talk: Talk) -> None:
    refs = chat(talk, ("Bob", "The tea."), ("Bobby", "The boat."))
    with talk.ledger.unit():
        merge(talk.ledger, [entity(talk, "bob"), entity(talk, "bobby")])

    path = path_of(talk.ledger, "Bobby?")

    assert {name for names in path.names.values() for name in names} == {"bob", "bobby"}
    raised = raise_named(talk.ledger, path, hits(refs), 30.0)
    assert raised[0].key == refs[0]
