"""Pages begin where the one before ended, in order, and none sorts the whole."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import Line, TinyStore

from muniment.store.forgetting.hide import hide
from muniment.store.forgetting.selection import Selection
from muniment.store.ledger.browsing import Browsing


@pytest.fixture
def store(tmp_path: Path) -> Iterator[TinyStore]:
    made = TinyStore(tmp_path / "root")
    yield made
    made.close()


def names(store: TinyStore, count: int = 7) -> None:
    for number in range(count):
        # Two of a day, so that the number has to tell them apart.
        store.file(
            f"{number}.txt", [Line("x")], captured=f"2026-03-{1 + number // 2:02d}T10:00:00Z",
            family="text" if number % 3 else "image",
        )  # fmt: skip


def test_the_timeline_goes_down_by_pages_without_a_gap_or_a_repeat(store: TinyStore) -> None:
    names(store)
    browsing = Browsing(store.ledger.database)
    seen, place = [], None
    while page := browsing.timeline(place, 3):
        seen += [one.asset.name for one in page]
        place = (page[-1].sort, page[-1].asset.seq)

    assert seen == ["6.txt", "5.txt", "4.txt", "3.txt", "2.txt", "1.txt", "0.txt"]


def test_only_the_chosen_time_of_an_asset_counts(store: TinyStore) -> None:
    store.file("one.txt", [Line("x")], captured="2026-03-01T10:00:00Z")
    with store.ledger.unit():
        store.ledger.evidence.add_time(
            1, {"utc": "2026-05-01T00:00:00.000000Z", "local": None}, "mtime", 9, 1.0
        )
    browsing = Browsing(store.ledger.database)

    assert [one.sort[:10] for one in browsing.timeline(None, 9)] == ["2026-03-01"]
    assert browsing.months() == ["2026-05", "2026-03"]


def test_assets_of_a_kind_are_paged_newest_first(store: TinyStore) -> None:
    names(store)
    browsing = Browsing(store.ledger.database)
    first = browsing.assets("text", None, 3)
    rest = browsing.assets("text", first[-1].seq, 3)

    assert [row.name for row in (*first, *rest)] == ["5.txt", "4.txt", "2.txt", "1.txt"]
    assert [row.name for row in browsing.assets(None, None, 2)] == ["6.txt", "5.txt"]


def test_what_is_hidden_leaves_no_gap_in_a_page(store: TinyStore) -> None:
    names(store)
    numbers = {row.name: row.seq for row in store.ledger.assets.rows()}
    with store.ledger.unit():
        hide(store.ledger, Selection(assets={numbers["5.txt"], numbers["2.txt"]}), actor="user")
    browsing = Browsing(store.ledger.database)

    assert [one.asset.name for one in browsing.timeline(None, 4)] == [
        "6.txt", "4.txt", "3.txt", "1.txt"
    ]  # fmt: skip
    assert [row.name for row in browsing.assets("text", None, 2)] == ["4.txt", "1.txt"]


def test_what_is_sniffed_anew_is_of_its_newest_kind_alone(store: TinyStore) -> None:
    names(store, 2)
    with store.ledger.unit():
        store.ledger.assets.add_type(1, "text/markdown", "text", "2")
    browsing = Browsing(store.ledger.database)

    assert browsing.assets("image", None, 9) == []
    assert [row.name for row in browsing.assets(None, None, 9)] == ["1.txt", "0.txt"]


def test_records_show_their_newest_version_and_episodes_the_last_first(store: TinyStore) -> None:
    notes = [store.note(f"fact {number}") for number in range(3)]
    for number, note in enumerate(notes):
        store.record(f"fact {number}", note)
        store.episode([note], title=f"episode {number}")
    browsing = Browsing(store.ledger.database)
    records, episodes = browsing.records(None, 2), browsing.episodes(None, 2)

    assert [one["text"] for one in records] == ["fact 2", "fact 1"]
    assert [one["text"] for one in browsing.records(records[-1]["seq"], 2)] == ["fact 0"]
    assert [one["title"] for one in episodes] == ["episode 2", "episode 1"]
    assert [one["title"] for one in browsing.episodes(episodes[-1]["seq"], 2)] == ["episode 0"]


def test_observations_of_an_asset_are_paged_in_order(store: TinyStore) -> None:
    ids = store.file("many.txt", [Line(f"line {number}") for number in range(5)])
    row = store.ledger.evidence.get(ids[0])
    assert row is not None
    browsing = Browsing(store.ledger.database)

    first = browsing.observations_of(row.asset, 0, 2)
    last = store.ledger.evidence.get(first[-1])
    assert last is not None
    assert [*first, *browsing.observations_of(row.asset, last.seq, 9)] == ids


def test_a_page_costs_the_same_however_much_there_is(store: TinyStore) -> None:
    costs = []
    for count in (100, 900):
        store.notes(f"note {count} {number}" for number in range(count))
        _date_all(store)
        costs.append(_steps(store))

    assert costs[1] <= costs[0] * 1.5


def _date_all(store: TinyStore) -> None:
    numbers = [row.seq for row in store.ledger.assets.rows()]
    with store.ledger.unit():
        for number in numbers:
            day = f"2026-01-01T{number // 3600:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
            moment = {"utc": f"{day}.000000Z", "local": None}
            store.ledger.evidence.add_time(number, moment, "exif", 1, 1.0)


def _steps(store: TinyStore) -> int:
    """Count the tens of instructions that a page of each kind takes."""
    database, steps = store.ledger.database, 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    database.set_progress_handler(step, 10)
    browsing = Browsing(database)
    browsing.timeline(None, 9)
    browsing.assets(None, None, 9)
    browsing.assets("text", None, 9)
    browsing.episodes(None, 9)
    browsing.records(None, 9)
    database.set_progress_handler(None)
    return steps
