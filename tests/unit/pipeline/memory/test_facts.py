from dataclasses import replace
from itertools import permutations

import pytest
from support.replaying import Change, as_known

from muniment.pipeline.memory.facts import Version, holding, reopened, settle

NOW = "2026-03-10T00:00:00.000000Z"


def day(year: int, month: int = 1) -> str:
    return f"{year}-{month:02d}-01T00:00:00.000000Z"


def version(value: str, start: str | None, inserted: int = 1, **fields: object) -> Version:
    end = fields.pop("end", None)
    record = str(fields.pop("record", f"rec_{value}_{inserted}"))
    return Version(record, 1, value, start, end, inserted, **fields)  # type: ignore[arg-type]


def at_odds(one: Version, other: Version) -> bool:
    return {one.value, other.value} == {"like", "dislike"}


def spans(versions: list[Version]) -> list[tuple[str | None, str | None, str | None, str]]:
    return [(one.value, one.start, one.end, one.status) for one in versions]


def test_each_start_ends_the_value_before_it() -> None:
    settled = settle(
        [version("Rome", day(2020), 1), version("Paris", day(2024), 2)], single=True, now=NOW
    )

    assert spans(settled) == [
        ("Rome", day(2020), day(2024), "superseded"),
        ("Paris", day(2024), None, "active"),
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_late_arrivals_take_their_place_by_validity(order: tuple[int, ...]) -> None:
    starts = [day(2020), day(2022), day(2024)]
    known: list[Version] = []
    for inserted, place in enumerate(order):
        known.append(version("abc"[place], starts[place], inserted))
        known = settle(known, single=True, now=NOW)

    assert [(one.value, one.end) for one in known] == [
        ("a", day(2022)), ("b", day(2024)), ("c", None)
    ]  # fmt: skip


def test_of_equal_starts_the_later_insertion_holds_and_then_the_greater_id() -> None:
    same = [version("a", day(2020), 2), version("b", day(2020), 1)]
    tied = [version("x", day(2020), 1, record="rec_2"), version("y", day(2020), 1, record="rec_1")]

    assert [one.value for one in holding(settle(same, single=True, now=NOW), NOW)] == ["a"]
    assert [one.value for one in holding(settle(tied, single=True, now=NOW), NOW)] == ["x"]


def test_a_future_value_waits_and_the_present_one_stays_active_until_then() -> None:
    settled = settle(
        [version("Rome", day(2020), 1), version("Oslo", day(2030), 2)], single=True, now=NOW
    )

    assert [one.value for one in holding(settled, NOW)] == ["Rome"]
    assert [one.value for one in holding(settled, day(2030))] == ["Oslo"]
    assert settled[0].status == "active"


def test_the_instant_of_an_end_belongs_to_what_follows() -> None:
    settled = settle(
        [version("Rome", day(2020), 1), version("Paris", day(2024), 2)], single=True, now=NOW
    )

    assert [one.value for one in holding(settled, day(2024))] == ["Paris"]
    assert [one.value for one in holding(settled, "2023-12-31T23:59:59.999999Z")] == ["Rome"]
    assert holding(settled, day(2019)) == []


def test_a_closed_value_stays_closed_when_its_successor_goes() -> None:
    first, second = settle(
        [version("Rome", day(2020), 1), version("Paris", day(2024), 2)], single=True, now=NOW
    )

    settled = settle([first, replace(second, status="invalidated")], single=True, now=NOW)

    assert spans(settled) == [("Rome", day(2020), day(2024), "superseded")]
    assert holding(settled, NOW) == []


def test_a_corrected_start_moves_the_end_that_it_had_set() -> None:
    first, second = settle(
        [version("Rome", day(2020), 1), version("Paris", day(2024), 2)], single=True, now=NOW
    )
    corrected = version("Paris", day(2025), 3, record="rec_Paris_2")

    settled = settle(
        [*reopened([first, second], second), replace(corrected, version=2)], single=True, now=NOW
    )

    assert [(one.value, one.end) for one in settled] == [("Rome", day(2025)), ("Paris", None)]


def test_an_end_of_its_own_is_never_moved_later() -> None:
    trip = version("Rome", day(2020), 1, end=day(2021), own_end=day(2021))

    settled = settle([trip, version("Paris", day(2024), 2)], single=True, now=NOW)

    assert settled[0].end == day(2021)
    assert reopened(settled, settled[1])[0].end == day(2021)


def test_several_values_hold_side_by_side() -> None:
    settled = settle(
        [version("nuts", day(2020), 1), version("milk", day(2021), 2)], single=False, now=NOW
    )

    assert [one.value for one in holding(settled, NOW)] == ["nuts", "milk"]


def test_what_contradicts_stays_visible_on_both_sides_until_one_goes() -> None:
    both = settle(
        [version("like", day(2020), 1), version("dislike", day(2024), 2)],
        single=False, now=NOW, contradicts=at_odds,
    )  # fmt: skip
    assert [one.status for one in both] == ["conflicted", "conflicted"]
    assert len(holding(both, NOW)) == 2

    left = settle(
        [both[0], replace(both[1], status="archived")], single=False, now=NOW, contradicts=at_odds
    )
    assert [one.status for one in left] == ["active", "archived"]


def test_what_was_true_at_other_times_is_no_conflict() -> None:
    settled = settle(
        [version("like", day(2020), 1, end=day(2024)), version("dislike", day(2024), 2)],
        single=False, now=NOW, contradicts=at_odds,
    )  # fmt: skip

    assert [one.status for one in settled] == ["active", "active"]


def test_an_archived_value_is_hidden_and_still_ends_the_one_before() -> None:
    settled = settle(
        [version("Rome", day(2020), 1), version("Paris", day(2024), 2, status="archived")],
        single=True, now=NOW,
    )  # fmt: skip

    assert holding(settled, NOW) == []
    assert settled[0].end == day(2024)


def test_what_was_known_is_a_replay_of_the_changes_till_then() -> None:
    versions = [version("Rome", day(2020), 1), version("Paris", day(2024), 2)]
    changes = [
        Change("rec_Rome_1", 1, "active", None, day(2025)),
        Change("rec_Paris_2", 1, "active", None, day(2026)),
        Change("rec_Rome_1", 1, "superseded", day(2024), day(2026)),
    ]

    def known(at: str) -> list[str | None]:
        return [one.value for one in holding(as_known(versions, changes, at), NOW)]

    assert known(day(2024)) == []
    assert known(day(2025)) == ["Rome"]
    assert known(day(2026)) == ["Paris"]


def test_nothing_settles_to_nothing() -> None:
    assert settle([], single=True, now=NOW) == settle([], single=False, now=NOW) == []
