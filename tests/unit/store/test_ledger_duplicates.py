"""Which assets are alike by their prints, and which stand to each other how."""

import pytest
from support.stores import TinyStore

from muniment.store.ledger.duplicates import Print

SAME, NEAR, FAR = "0" * 64, "0" * 60 + "000f", "f" * 64


def add(tiny: TinyStore, **prints: dict[str, str]) -> dict[str, str]:
    """Keep a text for each name with prints of its own; return the names' assets."""
    found = {}
    for name, values in prints.items():
        observation = tiny.note(f"the text of {name}")
        row = tiny.ledger.evidence.get(observation)
        assert row is not None
        number = tiny.ledger.assets.number(row.asset)
        assert number is not None
        with tiny.ledger.unit():
            for kind, value in values.items():
                tiny.ledger.duplicates.add(number, kind, value, 1)
        found[name] = row.asset
    return found


def test_near_prints_are_a_group_and_far_ones_are_not(tiny: TinyStore) -> None:
    assets = add(
        tiny, one={"picture": f"133:{SAME}"}, two={"picture": f"133:{NEAR}"},
        other={"picture": f"133:{FAR}"}, none={},
    )  # fmt: skip

    groups = tiny.ledger.duplicates.group_of(assets.values())

    assert groups.keys() == {assets["one"], assets["two"]}
    assert len(set(groups.values())) == 1
    assert tiny.ledger.duplicates.like(assets["one"]) == [
        {"asset": assets["two"], "how": "near_duplicate"}
    ]


def test_another_shape_or_length_is_another_thing(tiny: TinyStore) -> None:
    assets = add(tiny, one={"picture": f"133:{SAME}"}, two={"picture": f"75:{SAME}"})

    assert tiny.ledger.duplicates.group_of(assets.values()) == {}


def test_a_film_is_alike_only_in_pictures_and_sound(tiny: TinyStore) -> None:
    film = {"frames": f"100:{SAME}", "sound": f"100:{SAME}"}
    assets = add(
        tiny, film=film, copy={**film, "sound": f"100:{NEAR}"},
        dubbed={**film, "sound": f"100:{FAR}"}, sound={"sound": film["sound"]},
        silent={"frames": film["frames"]},
    )  # fmt: skip

    alike = {one["asset"] for one in tiny.ledger.duplicates.like(assets["film"])}

    assert alike == {assets["copy"], assets["silent"]}


def test_a_burst_is_looser_and_only_within_seconds(tiny: TinyStore) -> None:
    loose = "f" * 12 + "0" * 52
    assets = add(
        tiny, one={"picture": f"133:{SAME}"}, two={"picture": f"133:{loose}"},
        later={"picture": f"133:{loose[::-1]}"},
    )  # fmt: skip
    with tiny.ledger.unit():
        for name, second in (("one", 0), ("two", 2), ("later", 40)):
            number = tiny.ledger.assets.number(assets[name])
            assert number is not None
            moment = {"utc": f"2026-01-01T00:00:{second:02}.000000Z"}
            tiny.ledger.evidence.add_time(number, moment, "exif", 1, 1.0)

    assert tiny.ledger.duplicates.like(assets["one"]) == [{"asset": assets["two"], "how": "burst"}]


@pytest.mark.parametrize(("one", "other", "share"), [(SAME, SAME, 0.0), (SAME, FAR, 1.0)])
def test_a_difference_is_a_share_of_the_bits(one: str, other: str, share: float) -> None:
    assert Print.of(f"1:{one}").difference(Print.of(f"1:{other}")) == share


def test_a_link_is_kept_once_and_seen_from_both_sides(tiny: TinyStore) -> None:
    assets = add(tiny, one={}, two={})
    one, two = (tiny.ledger.assets.number(asset) for asset in assets.values())
    assert one is not None
    assert two is not None
    with tiny.ledger.unit():
        assert tiny.ledger.links.add(one, two, "sidecar", {"rule": "xmp"})
        assert not tiny.ledger.links.add(one, two, "sidecar", {"rule": "xmp"})

    assert tiny.ledger.links.of(assets["one"]) == [
        {"asset": assets["two"], "relation": "sidecar", "direction": "out",
         "basis": {"rule": "xmp"}}
    ]  # fmt: skip
    assert [link["direction"] for link in tiny.ledger.links.of(assets["two"])] == ["in"]
