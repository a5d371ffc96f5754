from typing import Any

from support.stores import TinyStore

FIELDS: dict[str, Any] = {
    "kind": "conversation", "title": "Chat", "gist": "", "gist_basis": "extractive",
    "start": {"utc": "2026-01-01T00:00:00.000000Z"}, "end": None, "participants": ("Ada", "Ben"),
    "place": None, "source": "notes", "status": "open",
}  # fmt: skip


def put(tiny: TinyStore, episode: str = "ep_1", anchor: str = "obs_1", **changes: Any) -> Any:
    with tiny.ledger.unit():
        return tiny.ledger.episodes.put(episode, anchor, "1", FIELDS | changes)


def test_an_episode_is_versioned_by_what_changed(tiny: TinyStore) -> None:
    number, new = put(tiny)
    assert new
    assert put(tiny) == (number, False)

    assert put(tiny, title="Long chat") == (number, True)

    episode = tiny.ledger.episodes.get("ep_1")
    assert episode is not None
    assert (episode["version"], episode["title"], episode["anchor"]) == (2, "Long chat", "obs_1")
    assert episode["participants"] == ["Ada", "Ben"]
    assert episode["start"] == FIELDS["start"]
    assert episode["end"] is None


def test_a_value_that_reads_back_in_another_type_is_no_change(tiny: TinyStore) -> None:
    put(tiny, participants=("Ada",))

    assert not put(tiny, participants=["Ada"])[1]


def test_an_observation_belongs_to_the_episode_that_took_it_last(tiny: TinyStore) -> None:
    one, two = put(tiny, "ep_1")[0], put(tiny, "ep_2")[0]
    observations = [tiny.note(f"text {number}") for number in range(3)]
    episodes = tiny.ledger.episodes
    with tiny.ledger.unit():
        assert episodes.join(one, observations) == 3
        assert episodes.join(one, observations) == 0
        assert episodes.join(two, observations[1:]) == 2
        assert episodes.join(one, observations[2:]) == 1

    assert episodes.members("ep_1") == [observations[0], observations[2]]
    assert episodes.members("ep_2") == [observations[1]]
    assert (episodes.count_members(one), episodes.count_members(two)) == (2, 1)
    assert episodes.of_observations([*observations, "obs_x"]) == dict(
        zip(observations, ("ep_1", "ep_2", "ep_1"), strict=True)
    )


def test_an_observation_that_does_not_exist_joins_nothing(tiny: TinyStore) -> None:
    number, _ = put(tiny)
    with tiny.ledger.unit():
        assert tiny.ledger.episodes.join(number, ["obs_x"]) == 0

    assert tiny.ledger.episodes.members("ep_1") == []


def test_episodes_are_told_oldest_first_and_by_condition(tiny: TinyStore) -> None:
    for episode in ("ep_b", "ep_a"):
        put(tiny, episode)
    put(tiny, "ep_b", status="closed")

    assert [episode["id"] for episode in tiny.ledger.episodes.all()] == ["ep_b", "ep_a"]
    found = tiny.ledger.episodes.all("e.status = ?", ("closed",))
    assert [episode["id"] for episode in found] == ["ep_b"]
    assert tiny.ledger.episodes.get("ep_x") is None
