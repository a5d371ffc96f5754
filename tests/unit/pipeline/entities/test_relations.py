"""Relations follow claims: pending leads nowhere, what is superseded holds no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.remembering import Talk

from muniment.pipeline.entities.documents import listing, whole
from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.reading import Reading, take_named
from muniment.pipeline.entities.relations import Relations
from muniment.pipeline.memory.review import Wanted, approve, find
from muniment.pipeline.proposers.base import Named


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


def relations(talk: Talk) -> list[tuple[str, str]]:
    return [(row["relation"], row["status"]) for row in talk.ledger.relations.all()]


def test_where_the_user_lives_is_a_place_and_moving_ends_the_relation(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I live in Paris.", "2024-05-01")

    read(talk)

    assert sorted(one["name"] for one in listing(talk.ledger, "place")) == ["Paris", "Rome"]
    assert relations(talk) == [("lives_in", "superseded"), ("lives_in", "active")]
    (paris,) = [one for one in listing(talk.ledger) if one["name"] == "Paris"]
    shown = whole(talk.ledger, paris["id"])
    assert shown is not None
    assert [one["direction"] for one in shown["relations"]] == ["in"]
    assert shown["evidence"][0]["name"] == "Paris"


def test_a_pending_claim_names_nothing_until_it_is_approved(talk: Talk) -> None:
    talk.say("I work at Acme.", "2024-05-01", origin="third_party", author="Bob", role=None)
    read(talk)
    assert relations(talk) == [("works_at", "pending")]
    assert list(listing(talk.ledger, "organisation")) == []
    assert talk.ledger.relations.reach([1], 1, 10) == [(1, 0, 1, 0)]

    with talk.ledger.unit():
        (row,) = find(talk.ledger, Wanted())
        approve(talk.ledger, row)

    assert relations(talk) == [("works_at", "active")]
    assert [one["name"] for one in listing(talk.ledger, "organisation")] == ["Acme"]
    assert len(talk.ledger.relations.reach([1], 1, 10)) == 2


def test_reading_claims_again_adds_nothing(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    read(talk)
    before = relations(talk)

    read(talk)

    assert relations(talk) == before


def test_a_way_is_bounded_and_does_not_lead_through_the_owner(talk: Talk) -> None:
    talk.say("I live in Rome.", "2020-05-01")
    talk.say("I work at Acme.", "2020-05-02")
    read(talk)
    rome = next(one for one in listing(talk.ledger) if one["name"] == "Rome")
    number = talk.ledger.entities.number(rome["id"])
    assert number is not None

    near = talk.ledger.relations.reach([number], 5, 100)

    assert sorted(depth for _, depth, _, _ in near) == [0, 1]
    assert len(talk.ledger.relations.reach([number], 5, 1)) == 1


def test_what_a_model_names_must_stand_in_the_words_as_a_name(talk: Talk) -> None:
    passage = talk.passage("Maybe Anna will come to Shenzhen.")
    said = [
        Named(passage.observation, "Anna", "person"),
        Named(passage.observation, "May", "person"),
        Named(passage.observation, "Bob", "person"),
        Named(passage.observation, "Shenzhen", "planet"),
        Named("obs_elsewhere", "Anna", "person"),
    ]

    with talk.ledger.unit():
        take_named(Identities(talk.ledger), said, {passage.observation: passage})

    assert [one["name"] for one in listing(talk.ledger)] == ["Anna"]
