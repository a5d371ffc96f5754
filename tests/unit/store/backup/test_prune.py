from datetime import timedelta
from pathlib import Path

import pytest
from support.backups import backed_up, folder_of, remember_more

from muniment.store.backup.prune import Retention, kept, prune, span
from muniment.store.backup.snapshot import Snapshot
from muniment.store.backup.verify import verify
from muniment.store.errors import DamageError, UsageError
from muniment.store.layout import Root
from muniment.store.times import now

NOW = "2026-03-31T12:00:00.000000Z"


def snapshots(*days: str, store: str = "one") -> list[Snapshot]:
    return [
        Snapshot(f"{n:06d}-x", f"{day}.000000Z", store, ()) for n, day in enumerate(sorted(days), 1)
    ]


MARCH = snapshots(
    "2026-01-05T03:00:00", "2026-02-10T03:00:00", "2026-03-02T03:00:00", "2026-03-29T03:00:00",
    "2026-03-30T03:00:00", "2026-03-31T03:00:00", "2026-03-31T09:00:00",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "numbers"),
    [
        (Retention(last=2), [6, 7]),
        (Retention(daily=2), [5, 7]),
        (Retention(weekly=2), [4, 7]),
        (Retention(monthly=2), [2, 7]),
        (Retention(monthly=12), [1, 2, 7]),
        (Retention(within="24h"), [6, 7]),
        (Retention(last=1, monthly=3, within="3d"), [1, 2, 4, 5, 6, 7]),
    ],
)
def test_each_rule_keeps_the_newest_of_its_periods(rules: Retention, numbers: list[int]) -> None:
    assert sorted(kept(MARCH, rules, NOW)) == [f"{number:06d}-x" for number in numbers]


def test_a_store_never_loses_its_last_snapshot() -> None:
    other = Snapshot("000099-x", "2020-01-01T00:00:00.000000Z", "two", ())

    with pytest.raises(UsageError) as caught:
        kept([*MARCH, other], Retention(within="7d"), NOW)
    assert caught.value.code == "empties_group"
    assert "000099-x" in kept([*MARCH, other], Retention(last=1), NOW)


def test_no_rule_at_all_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        kept(MARCH, Retention(), NOW)

    assert caught.value.code == "unlimited"


@pytest.mark.parametrize("text", ["", "7", "d", "7 d", "-1d", "1.5d", "7x"])
def test_what_is_no_span_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        span(text)


def test_a_span_is_a_number_and_a_unit() -> None:
    assert [span("12h"), span("2w")] == [timedelta(hours=12), timedelta(days=14)]


def test_what_only_removed_snapshots_need_goes_and_the_rest_stays_whole(
    root: Root, tmp_path: Path
) -> None:
    repository, first = backed_up(root, tmp_path / "repo")
    remember_more(root, "more")
    _, second = backed_up(root, tmp_path / "repo")

    planned = prune(repository, Retention(last=1), now(), dry_run=True)
    assert repository.ids() == [first.id, second.id]
    done = prune(repository, Retention(last=1), now())

    assert planned["removed"] == done["removed"] == [first.id]
    assert done["removed_objects"] == 1
    assert repository.ids() == [second.id]
    report = verify(repository)
    assert report.findings == []
    assert prune(repository, Retention(last=1), now())["removed"] == []


def test_nothing_is_removed_while_a_manifest_can_not_be_read(root: Root, tmp_path: Path) -> None:
    repository, first = backed_up(root, tmp_path / "repo")
    backed_up(root, tmp_path / "repo")
    before = list(repository.stored())
    (folder_of(repository) / "snapshots" / f"{first.id}.json").write_text("{")

    with pytest.raises(DamageError):
        prune(repository, Retention(last=1), now())

    assert list(repository.stored()) == before
