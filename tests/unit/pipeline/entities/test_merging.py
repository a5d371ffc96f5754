"""Merging is a decision that can be taken back; what was decided is not proposed again."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.stores import TinyStore

from muniment.pipeline.entities.documents import listing
from muniment.pipeline.entities.editing import add_alias, part_name, remove_alias
from muniment.pipeline.entities.identity import Identities
from muniment.pipeline.entities.merging import Groups, keep_apart, merge, proposals, split
from muniment.pipeline.entities.reading import Reading
from muniment.store.errors import NotFoundError, UsageError

PEOPLE = 5


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    for number in range(PEOPLE):
        name = f"Ann {number}" if number > 1 else "Ann"
        made.chat([(name, f"Hi {number}", None)], thread=str(number), name=f"{number}.txt",
                  origin="third_party")  # fmt: skip
    with made.ledger.unit():
        Reading(made.ledger, Identities(made.ledger)).take(made.ledger.evidence.after(0, 100))
    yield made
    made.close()


def groups(store: TinyStore) -> set[frozenset[int]]:
    found = Groups(store.ledger)
    return {found.of(one) for one in range(1, PEOPLE + 1)}


def test_merging_twice_changes_nothing_and_splitting_gives_back_what_was(store: TinyStore) -> None:
    before = groups(store)
    with store.ledger.unit():
        assert merge(store.ledger, [1, 2])
        assert not merge(store.ledger, [2, 1])
        assert len(list(listing(store.ledger))) == PEOPLE - 1
        assert split(store.ledger, 2)
        assert not split(store.ledger, 2)

    assert groups(store) == before
    assert list(proposals(store.ledger)) == []


def test_the_others_stay_one_when_the_middle_one_leaves(store: TinyStore) -> None:
    with store.ledger.unit():
        merge(store.ledger, [3, 1])
        merge(store.ledger, [1, 5])
        split(store.ledger, 1)

    assert groups(store) == {frozenset({3, 5}), frozenset({1}), frozenset({2}), frozenset({4})}


def test_what_is_kept_apart_is_not_proposed_again(store: TinyStore) -> None:
    assert [pair[:2] for pair in proposals(store.ledger)] == [(1, 2)]
    with store.ledger.unit():
        assert keep_apart(store.ledger, 1, 2)
        assert not keep_apart(store.ledger, 2, 1)
    store.chat([("Ann", "Once more", None)], thread="0", name="more", origin="third_party")
    with store.ledger.unit():
        Reading(store.ledger, Identities(store.ledger)).take(store.ledger.evidence.after(0, 100))

    assert list(proposals(store.ledger)) == []


def test_an_alias_rests_on_a_statement_and_can_be_taken_back(store: TinyStore) -> None:
    with store.ledger.unit():
        assert add_alias(store.ledger, 3, "Auntie")
        assert not add_alias(store.ledger, 3, "auntie")
    assert store.ledger.entities.called(["auntie"]) == [("auntie", 3, "name")]
    (use,) = [one for one in store.ledger.entities.uses([3], 9) if one["via"] == "user"]
    row = store.ledger.evidence.get(use["observation"])
    assert row is not None
    assert row.text == "Ann 2 is also called Auntie."
    assert row.text[use["start"] : use["end"]] == "Auntie"

    with store.ledger.unit():
        assert remove_alias(store.ledger, 3, "AUNTIE")
        assert not remove_alias(store.ledger, 3, "Auntie")
        assert store.ledger.entities.called(["auntie"]) == []
        assert add_alias(store.ledger, 3, "Auntie")
    assert store.ledger.entities.called(["auntie"]) == [("auntie", 3, "name")]


def test_a_name_of_somebody_else_becomes_an_entity_of_its_own(store: TinyStore) -> None:
    with store.ledger.unit():
        add_alias(store.ledger, 3, "Auntie")
        new = part_name(store.ledger, 3, "Auntie")
        with pytest.raises(NotFoundError):
            part_name(store.ledger, 3, "Bob")

    assert store.ledger.entities.called(["auntie"]) == [("auntie", new, "name")]
    assert list(proposals(store.ledger)) == [(1, 2, "same_name")]


def test_the_last_name_and_what_is_no_name_are_refused(store: TinyStore) -> None:
    with store.ledger.unit():
        with pytest.raises(UsageError, match="nothing else"):
            remove_alias(store.ledger, 3, "Ann 2")
        with pytest.raises(UsageError, match="no name"):
            add_alias(store.ledger, 3, "!")


STEPS = st.lists(
    st.tuples(st.sampled_from(["merge", "split", "apart"]), st.integers(1, PEOPLE),
              st.integers(1, PEOPLE)),
    max_size=12,
)  # fmt: skip


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_groups_are_what_the_decisions_make_of_them(
    store: TinyStore, steps: list[tuple[str, int, int]]
) -> None:
    model = {one: frozenset({one}) for one in range(1, PEOPLE + 1)}
    store.ledger.database.execute("SAVEPOINT trial")
    try:
        for action, one, other in steps:
            if action == "merge":
                merge(store.ledger, [one, other])
                joined = model[one] | model[other]
                model |= dict.fromkeys(joined, joined)
            elif action == "split" or one != other:
                leaving = one if action == "split" else other
                if action == "split":
                    split(store.ledger, one)
                else:
                    keep_apart(store.ledger, one, other)
                    if other not in model[one]:
                        continue
                rest = model[leaving] - {leaving}
                model |= dict.fromkeys(rest, rest) | {leaving: frozenset({leaving})}
        assert groups(store) == set(model.values())
    finally:
        store.ledger.database.execute("ROLLBACK TO trial; RELEASE trial")
