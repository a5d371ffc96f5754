"""Who a name means: the same name in one talk, the same name at one address, and no more."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import Line, TinyStore

from muniment.pipeline.entities.documents import listing
from muniment.pipeline.entities.identity import Called, Identities, folded_address, written
from muniment.pipeline.entities.merging import proposals
from muniment.pipeline.entities.reading import Reading
from muniment.store.ledger.entities import MOST_USES


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


def read(store: TinyStore) -> None:
    with store.ledger.unit():
        Reading(store.ledger, Identities(store.ledger)).take(store.ledger.evidence.after(0, 1_000))


def people(store: TinyStore) -> list[list[str]]:
    return sorted(
        sorted(name["name"] for name in one["names"]) for one in listing(store.ledger, "person")
    )


def mail(sender: str, *to: str, thread: str = "mail:1", text: str = "Hello there.") -> Line:
    return Line(
        text, kind="message", author=written(sender).name or sender, thread=thread,
        origin="third_party", attributes={"from": [sender], "to": list(to)},
    )  # fmt: skip


def contact(text: str, **facts: object) -> Line:
    return Line(text, kind="contact", origin="third_party", attributes=facts)


def test_one_name_in_one_talk_is_one_person(store: TinyStore) -> None:
    store.chat([("Ann", "Hi", None), ("Bob", "Hey", None), ("ann", "So", None)],
               origin="third_party")  # fmt: skip

    read(store)

    assert people(store) == [["Ann"], ["Bob"]]
    assert list(proposals(store.ledger)) == []


def test_the_same_name_in_another_talk_is_proposed_not_merged(store: TinyStore) -> None:
    store.chat([("Ann", "Hi", None)], thread="one", origin="third_party")
    store.chat([("Ann", "Hey", None)], thread="two", name="two.txt", origin="third_party")

    read(store)

    assert people(store) == [["Ann"], ["Ann"]]
    assert [reason for _, _, reason in proposals(store.ledger)] == ["same_name"]


def test_the_channels_of_a_workspace_are_one_circle(store: TinyStore) -> None:
    for channel in ("#general", "#birds"):
        store.chat([("Ann", "Hi", None)], thread=channel, name=channel, origin="third_party")

    read(store)

    assert people(store) == [["Ann"]]


def test_another_name_at_an_address_is_proposed_and_the_same_one_is_the_same(
    store: TinyStore,
) -> None:
    store.file("box.mbox", [
        mail("Ann Lee <ann@example.org>", "Bob <bob@example.org>"),
        mail("ANN LEE <Ann@Example.org>", "bob@example.org", text="Again."),
        mail("Desk <ann@example.org>", text="Another."),
    ])  # fmt: skip

    read(store)

    assert people(store) == [
        ["Ann Lee", "ann@example.org"], ["Bob", "bob@example.org"], ["Desk", "ann@example.org"]
    ]  # fmt: skip
    assert [reason for _, _, reason in proposals(store.ledger)] == ["same_address"]


def test_a_contact_and_a_mail_with_its_name_and_address_are_one(store: TinyStore) -> None:
    text = "Ann Lee\nNickname: Annie\nEmail: ann@example.org"
    store.file("box.mbox", [mail("Ann Lee <ann@example.org>")])
    store.file("c.vcf", [
        contact(text, name="Ann Lee", nickname=["Annie"], email=["ann@example.org"])
    ])  # fmt: skip

    read(store)

    assert people(store) == [["Ann Lee", "Annie", "ann@example.org"]]
    uses = store.ledger.entities.uses([1], 10)
    spans = {text[use["start"] : use["end"]] for use in uses if use["start"] is not None}
    assert spans == {"Ann Lee", "Annie", "ann@example.org"}


def test_two_contacts_behind_one_telephone_stay_two(store: TinyStore) -> None:
    store.file("c.vcf", [
        contact("Ann\nPhone: +86 755 1234567", name="Ann", tel=["+86 755 1234567"]),
        contact("Bob\nPhone: +867551234567", name="Bob", tel=["+867551234567"]),
    ])  # fmt: skip

    read(store)

    assert len(people(store)) == 2
    assert [reason for _, _, reason in proposals(store.ledger)] == ["same_address"]


def test_programs_and_nobodies_are_no_people(store: TinyStore) -> None:
    store.file("talk.json", [
        Line("Hi", kind="message", author="assistant", role="assistant", origin="agent"),
        Line("Hi", kind="message", author="You", origin="third_party"),
        Line("Hi", kind="message", author="x", origin="third_party"),
    ])  # fmt: skip

    read(store)

    assert people(store) == []


def test_the_owner_is_one_entity_by_every_name_of_theirs(store: TinyStore) -> None:
    with store.ledger.unit():
        store.ledger.evidence.add_own_names(["Kai"])
    store.chat([("Kai", "Hi", None)], thread="one", origin="third_party")
    store.chat([("K. Wong", "Hi", None)], thread="two", name="b", origin="user")

    read(store)

    (own,) = listing(store.ledger)
    assert own["own"]
    assert sorted(name["name"] for name in own["names"]) == ["K. Wong", "Kai"]


def test_a_circular_names_nobody_and_a_name_keeps_so_many_uses(store: TinyStore) -> None:
    crowd = [f"p{n}@example.org" for n in range(40)]
    store.file("box.mbox", [mail("Ann <a@example.org>", *crowd)])
    store.chat([("Bob", f"line {n}", None) for n in range(MOST_USES + 5)], origin="third_party")

    read(store)

    assert people(store) == [["Ann", "a@example.org"], ["Bob"]]
    (bob,) = [one for one in listing(store.ledger) if one["name"] == "Bob"]
    assert bob["uses"] == MOST_USES


def test_reading_again_adds_nothing(store: TinyStore) -> None:
    store.chat([("Ann", "Hi", None), ("Bob", "Hey", None)], origin="third_party")
    read(store)
    before = store.ledger.database.total_changes()

    read(store)

    assert store.ledger.database.total_changes() == before


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("Ann Lee <a@b.c>", Called("Ann Lee", ("a@b.c",))),
        ("a@b.c", Called(None, ("a@b.c",))),
        ("a@b.c <a@b.c>", Called(None, ("a@b.c",))),
        ("Ann", Called("Ann")),
        ("Ann <no address>", Called("Ann")),
    ],
)
def test_people_are_read_as_they_are_written(text: str, called: Called) -> None:
    assert written(text) == called


def test_addresses_share_a_form() -> None:
    assert folded_address("email", " Ann@Example.ORG ") == "ann@example.org"
    assert folded_address("phone", "+86 (755) 123-4567") == "+867551234567"
    assert folded_address("phone", "110") == ""
    assert folded_address("email", "ann") == ""
