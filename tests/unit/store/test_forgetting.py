"""What goes with what, as a plan; and what a soft forget hides and gives back."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from support.stores import TinyStore

from muniment.store.errors import StateError
from muniment.store.forgetting.hide import hide, lift
from muniment.store.forgetting.plan import Plan, plan
from muniment.store.forgetting.selection import Selection, Selector, Wanted
from muniment.store.forgetting.tombstones import message_parts

CHAT = [
    ("Ann", "Shall we meet at the old mill?", "2026-03-01T10:00:00Z"),
    ("Bob", "The password is quokka seventeen.", "2026-03-01T10:05:00Z"),
    ("Ann", "Fine.", "2026-03-02T10:00:00Z"),
]


@pytest.fixture
def planned(tiny: TinyStore) -> Callable[..., Plan]:
    """Return a function that plans what is chosen by the methods of a selector."""

    def make(choose: Callable[[Selector], object], *, keep_containers: bool = False) -> Plan:
        selector = Selector(tiny.ledger.database)
        choose(selector)
        selector.whole()
        return plan(tiny.ledger.database, selector.found, keep_containers=keep_containers)

    return make


def asset_of(tiny: TinyStore, observation: str) -> str:
    row = tiny.ledger.evidence.get(observation)
    assert row is not None
    return row.asset


def test_an_asset_takes_its_observations_claims_and_episode_along(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    note, other = tiny.note("I live in Berlin."), tiny.note("I like tea.")
    tiny.record("lives in Berlin", note)
    tiny.record("likes tea", other)
    tiny.episode([note, other])

    found = planned(lambda chosen: chosen.assets([asset_of(tiny, note)])).as_dict()

    assert (found["assets"], found["observations"], found["sightings"]) == (1, 1, 1)
    assert (found["candidates"], found["records"], found["episodes"]) == (1, 1, 1)
    assert found["reduced"] == 0


def test_a_claim_that_another_source_supports_stays(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    first, second = tiny.note("I live in Berlin."), tiny.note("Berlin is where I live.")
    record = tiny.record("lives in Berlin", first)
    tiny.record("home is Berlin", second)
    with tiny.ledger.unit():
        ((version,),) = tiny.ledger.database.execute(
            "SELECT version_seq FROM record_now WHERE id = ?", (record,)
        )
        tiny.ledger.database.execute(
            "INSERT INTO record_support (version, candidate, at) VALUES (?, 2, '2026')", (version,)
        )

    found = planned(lambda chosen: chosen.assets([asset_of(tiny, first)]))

    assert found.counts["candidate"] == 1
    assert "record" not in found.counts


def test_corrections_go_together_in_both_directions(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    first, second = tiny.note("I live in Berlin."), tiny.note("No, in Bonn.")
    one, other = tiny.record("lives in Berlin", first), tiny.record("lives in Bonn", second)
    with tiny.ledger.unit():
        tiny.ledger.memory.link(other, one, "corrects", actor="user", reason="")

    for observation in (first, second):
        asset = asset_of(tiny, observation)
        assert planned(lambda chosen, a=asset: chosen.assets([a])).counts["record"] == 2


def test_a_related_record_stays(tiny: TinyStore, planned: Callable[..., Plan]) -> None:
    first, second = tiny.note("I live in Berlin."), tiny.note("I like tea.")
    one, other = tiny.record("lives in Berlin", first), tiny.record("likes tea", second)
    with tiny.ledger.unit():
        tiny.ledger.memory.link(other, one, "related", actor="user", reason="")

    found = planned(lambda chosen: chosen.records([one]))

    assert found.counts["record"] == 1
    assert "observation" not in found.counts


def test_a_persons_messages_reduce_the_file_that_holds_others(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    tiny.chat(CHAT)

    found = planned(lambda chosen: chosen.matching(Wanted(authors=("Bob",))))

    assert (found.counts["observation"], found.reduced) == (1, 1)
    assert "asset" not in found.counts


def test_a_file_of_one_person_goes_as_a_whole(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    tiny.chat([CHAT[1]])

    found = planned(lambda chosen: chosen.matching(Wanted(authors=("Bob",))))

    assert (found.counts["asset"], found.reduced) == (1, 0)


def test_a_time_range_is_half_open(tiny: TinyStore, planned: Callable[..., Plan]) -> None:
    tiny.chat(CHAT)
    wanted = Wanted(since="2026-03-01T10:00:00.000000Z", until="2026-03-02T10:00:00.000000Z")

    assert planned(lambda chosen: chosen.matching(wanted)).counts["observation"] == 2


def test_what_is_inside_of_two_containers_goes_only_with_both(
    tiny: TinyStore, planned: Callable[..., Plan]
) -> None:
    zips = [asset_of(tiny, tiny.note(f"archive {n}")) for n in range(2)]
    photo = asset_of(tiny, tiny.note("photo"))
    inside = tiny.ledger.assets.number(photo)
    assert inside is not None
    with tiny.ledger.unit():
        for archive in zips:
            parent = tiny.ledger.assets.number(archive)
            assert parent is not None
            tiny.ledger.assets.derive(
                inside, parent, 1, relation="member", locator=None, name="p", observe=True
            )
    tiny_sightings_of_members(tiny, inside)

    assert planned(lambda chosen: chosen.assets(zips[:1])).counts["asset"] == 1
    assert planned(lambda chosen: chosen.assets(zips)).counts["asset"] == 3
    assert planned(lambda chosen: chosen.assets([photo])).reduced == 2
    assert planned(lambda chosen: chosen.assets([photo]), keep_containers=True).reduced == 0


def tiny_sightings_of_members(tiny: TinyStore, inside: int) -> None:
    """Let a member be seen nowhere by itself."""
    from muniment.store.database import erasing

    with tiny.ledger.unit(), erasing(tiny.ledger.database):
        tiny.ledger.database.execute("DELETE FROM sighting WHERE asset = ?", (inside,))


def selected(tiny: TinyStore, *observations: str) -> Selection:
    selector = Selector(tiny.ledger.database)
    selector.assets([asset_of(tiny, one) for one in observations])
    return selector.found


def test_what_is_hidden_is_not_live_and_its_record_not_in_force(tiny: TinyStore) -> None:
    note, other = tiny.note("I live in Berlin."), tiny.note("I like tea.")
    record = tiny.record("lives in Berlin", note)
    chosen = selected(tiny, note)

    with tiny.ledger.unit():
        change = hide(tiny.ledger, chosen, actor="user")

    assert (change.counts["assets"], change.records) == (1, [(record, 1)])
    assert set(tiny.ledger.evidence.live_by_id([note, other])) == {other}
    assert tiny.ledger.evidence.get(note) is None
    assert [row["status"] for row in tiny.ledger.memory.records()] == ["invalidated"]
    with tiny.ledger.unit():
        assert hide(tiny.ledger, chosen, actor="user").members == 0


def test_unforget_gives_back_what_forget_took(tiny: TinyStore) -> None:
    note = tiny.note("I live in Berlin.")
    tiny.record("lives in Berlin", note, status="archived")
    chosen = selected(tiny, note)
    with tiny.ledger.unit():
        hide(tiny.ledger, chosen, actor="user")

    with tiny.ledger.unit():
        lift(tiny.ledger, chosen, actor="user")

    assert set(tiny.ledger.evidence.live_by_id([note])) == {note}
    assert [row["status"] for row in tiny.ledger.memory.records()] == ["archived"]


def test_of_two_tombstones_over_a_file_lifting_one_shows_nothing(tiny: TinyStore) -> None:
    note, other = tiny.note("one"), tiny.note("two")
    row = tiny.ledger.evidence.get(note)
    assert row is not None
    with tiny.ledger.unit():
        first = hide(tiny.ledger, Selection(observations={row.seq}), actor="user")
        hide(tiny.ledger, selected(tiny, other), actor="user")
    with tiny.ledger.unit():
        second = hide(tiny.ledger, Selection(assets={1}), actor="user")

    with tiny.ledger.unit():
        lift(tiny.ledger, Selection(), tombstone=first.tombstone, actor="user")

    assert second.tombstone is not None
    assert tiny.ledger.evidence.live_by_id([note]) == {}


def test_the_key_is_private_and_digests_differ_by_scope_and_kind(tiny: TinyStore) -> None:
    tombstones = tiny.ledger.tombstones
    tombstones.make_key()

    assert tiny.root.forget_key.stat().st_mode & 0o777 == 0o600
    assert tombstones.digest("asset", "a") != tombstones.digest("event", "a")
    assert tombstones.digest("asset", "a") == tombstones.digest("asset", "a")


def test_a_forget_list_without_its_key_stops_rather_than_let_things_in(tiny: TinyStore) -> None:
    tombstones = tiny.ledger.tombstones
    tombstones.make_key()
    with tiny.ledger.unit():
        number, _ = tombstones.add("hard", {}, "user")
        tombstones.block(number, "asset", [tombstones.digest("asset", "a")])
    assert tombstones.blocks("asset", "a")
    assert not tombstones.blocks("asset", "b")
    tiny.root.forget_key.unlink()
    fresh = type(tombstones)(tiny.ledger.database, tiny.root, tiny.ledger.scope)

    with pytest.raises(StateError) as caught:
        fresh.blocks("asset", "a")

    assert caught.value.code == "forget_key_missing"


def test_what_is_allowed_back_stays_allowed_until_it_is_erased_again(tiny: TinyStore) -> None:
    tombstones = tiny.ledger.tombstones
    tombstones.make_key()
    digest = tombstones.digest("asset", "a")
    with tiny.ledger.unit():
        number, _ = tombstones.add("hard", {}, "user")
        tombstones.block(number, "asset", [digest])
        assert not tombstones.admits("asset", "a")
        assert tombstones.admits("asset", "a", allow=True)
        assert tombstones.admits("asset", "a")
        assert tombstones.standing() == ()
        tombstones.block(number, "asset", [digest])

    assert tombstones.blocks("asset", "a")
    assert tombstones.standing() == (digest,)


@pytest.mark.parametrize(
    ("author", "instant", "text", "parts"),
    [("Bob", None, "a  b\n", ("Bob", None, "a b")), (None, None, "a", None)],
)
def test_only_a_message_is_known_by_its_words(
    author: str | None, instant: str | None, text: str, parts: object
) -> None:
    assert message_parts(author, instant, text) == parts


def test_the_tombstone_tells_counts_and_no_content(tiny: TinyStore, tmp_path: Path) -> None:
    note = tiny.note("I live in Berlin.")
    with tiny.ledger.unit():
        hide(tiny.ledger, selected(tiny, note), actor="user")

    (found,) = tiny.ledger.tombstones.all()

    assert (found["mode"], found["counts"]["assets"], found["members"]) == ("soft", 1, 1)
    assert "Berlin" not in json.dumps(found)
