from typing import Any

from support.asking import Asker, items
from support.stores import TinyStore

LATER = "2026-03-01T00:00:00Z"


def records(asker: Asker, query: str, **filters: Any) -> list[str]:
    pack = asker.recall(query, **filters)
    return sorted(
        item["text"]
        for section in ("records", "conflicts", "profile")
        for item in items(pack, section)
    )


def test_an_active_record_is_returned_with_its_quote(store: TinyStore, asker: Asker) -> None:
    note = store.note("By the way, my passport number is X123, keep it safe.")
    record = store.record("Passport number: X123", note, "my passport number is X123")

    pack = asker.recall("What is my passport number?")

    (item,) = items(pack, "records")
    citation = next(one for one in pack["citations"] if one["id"] == item["citations"][0])
    assert item["ref"] == f"record:{record}@1"
    assert citation["quote"] == "my passport number is X123"
    assert citation["ref"] == f"observation:{note}"


def test_superseded_archived_and_revoked_records_stay_away(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts")
    store.record("The gym is in Berlin Street", note, status="superseded", invalid_at=LATER)
    store.record("The gym is in Cedar Street", note, status="archived")
    store.record("The gym is in Dover Street", note, status="revoked")
    store.record("The gym is in Elm Street", note)

    assert records(asker, "gym street") == ["The gym is in Elm Street"]
    assert records(asker, "gym street", include_archived=True) == [
        "The gym is in Cedar Street",
        "The gym is in Elm Street",
    ]


def test_a_past_value_answers_as_of_then_and_history(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts", time="2026-01-01T00:00:00Z")
    store.record(
        "The gym is in Berlin Street", note, status="superseded",
        valid_at="2026-01-05T00:00:00Z", invalid_at=LATER,
    )  # fmt: skip
    store.record("The gym is in Elm Street", note, valid_at=LATER)

    assert records(asker, "gym street") == ["The gym is in Elm Street"]
    assert records(asker, "gym street", as_of="2026-02-01T00:00:00.000000Z") == [
        "The gym is in Berlin Street"
    ]
    assert len(records(asker, "gym street", include_history=True)) == 2


def test_a_future_fact_is_hidden_until_it_starts(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts", time="2026-01-01T00:00:00Z")
    store.record("The gym moves to Fleet Street", note, valid_at="2027-01-01T00:00:00Z")

    assert records(asker, "gym street") == []
    assert records(asker, "gym street", as_of="2027-02-01T00:00:00.000000Z") == [
        "The gym moves to Fleet Street"
    ]


def test_a_validity_ends_before_its_end(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts", time="2026-01-01T00:00:00Z")
    store.record("The gym is in Elm Street", note, invalid_at=LATER)

    at_the_end, just_before = "2026-03-01T00:00:00.000000Z", "2026-02-28T23:59:59.999999Z"
    assert records(asker, "gym street", as_of=at_the_end) == []
    assert records(asker, "gym street", as_of=just_before) == ["The gym is in Elm Street"]


def test_conflicting_records_stand_apart_and_make_coverage_partial(
    store: TinyStore, asker: Asker
) -> None:
    note = store.note("notes on the boiler")
    store.record("The boiler code is 1234", note, status="conflicted")
    store.record("The boiler code is 9876", note, status="conflicted")

    pack = asker.recall("What is the boiler code?")

    assert len(items(pack, "conflicts")) == 2
    assert items(pack, "records") == []
    assert pack["coverage"] == "partial"


def test_what_was_not_recorded_yet_was_not_known(store: TinyStore, asker: Asker) -> None:
    note = store.note("facts about the gym street")
    store.record("The gym is in Elm Street", note)

    assert records(asker, "gym street", known_at="2026-01-02T00:00:00.000000Z") == []


def test_standing_records_are_the_profile_unless_they_answer(
    store: TinyStore, asker: Asker
) -> None:
    note = store.note("I prefer tea. The heater is broken. Never call me before nine.")
    store.record("Prefers tea", note, "I prefer tea", kind="preference")
    store.record("Never call before nine", note, "Never call me before nine", type="procedural")

    pack = asker.recall("Is the heater broken?")
    assert {item["text"] for item in items(pack, "profile")} == {
        "Prefers tea",
        "Never call before nine",
    }

    pack = asker.recall("Who prefers tea?")
    assert [item["text"] for item in items(pack, "records")] == ["Prefers tea"]
    assert [item["text"] for item in items(pack, "profile")] == ["Never call before nine"]


def test_a_record_of_agent_words_alone_is_no_answer_about_the_user(
    store: TinyStore, asker: Asker
) -> None:
    note = store.note("I feel proud of our garden", origin="agent")
    store.record("Proud of the garden", note, kind="emotion", basis="assistant_expression")

    assert records(asker, "garden proud") == []
    assert records(asker, "What did you say of the garden, proud?") == ["Proud of the garden"]


def test_an_episode_shows_only_what_its_members_say(store: TinyStore, asker: Asker) -> None:
    messages = store.chat(
        [
            ("Ann", "The ferry to Naxos leaves at eight.", "2026-02-01T10:00:00Z"),
            ("Bob", "I will bring sandwiches for the ferry.", "2026-02-01T10:05:00Z"),
        ]
    )
    store.episode(
        messages, title="Ann, Bob", gist="The ferry to Naxos leaves at eight. Invented sentence."
    )

    pack = asker.recall("When does the ferry to Naxos leave?", kinds=("episode",))

    (item,) = items(pack, "episodes")
    assert item["text"] == "Ann, Bob: The ferry to Naxos leaves at eight."
    assert [one["quote"] for one in pack["citations"]] == ["The ferry to Naxos leaves at eight."]
