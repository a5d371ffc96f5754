import json
from pathlib import Path

import pytest
from support.backups import backed_up, folder_of, large_objects, remember_more

from muniment.store.backup.repository import Repository
from muniment.store.backup.snapshot import Snapshot
from muniment.store.backup.verify import verify
from muniment.store.errors import NotFoundError
from muniment.store.layout import Root


@pytest.fixture
def made(root: Root, tmp_path: Path) -> tuple[Repository, Snapshot]:
    return backed_up(root, tmp_path / "repo")


def codes(
    repository: Repository, snapshot: str | None = None, sample: str | None = None
) -> list[str]:
    report = verify(repository, snapshot=snapshot, sample=sample)
    return [finding["code"] for finding in report.findings]


def test_a_whole_repository_is_found_whole(made: tuple[Repository, Snapshot]) -> None:
    report = verify(made[0])

    assert report.findings == []
    assert report.counts["hashed"] == report.counts["objects"] == len(set(made[1].objects()))
    assert report.counts["databases"] == 1


@pytest.mark.parametrize("kind", ["asset", "database", "manifest"])
def test_a_missing_cut_or_flipped_object_is_found(
    made: tuple[Repository, Snapshot], kind: str
) -> None:
    repository, snapshot = made
    entry = next(entry for entry in snapshot.entries if entry.kind == kind)
    (path,) = folder_of(repository).rglob(entry.parts[0].sha256)
    data = path.read_bytes()

    path.write_bytes(bytes([data[0] ^ 1]) + data[1:])
    assert codes(repository) == ["object_damaged"]
    path.write_bytes(data[:-1])
    assert codes(repository) == ["object_damaged"]
    path.unlink()
    assert codes(repository) == ["object_missing"]


def test_what_two_snapshots_share_is_read_once_and_told_of_both(
    root: Root, made: tuple[Repository, Snapshot]
) -> None:
    remember_more(root, "more")
    repository, second = backed_up(root, folder_of(made[0]))
    large_objects(repository, second)[0].unlink()

    report = verify(repository)

    assert report.counts["objects"] == len({*made[1].objects(), *second.objects()})
    assert [f["snapshot"] for f in report.findings] == [made[1].id, second.id]
    assert codes(repository, snapshot=second.id) == ["object_missing"]


def test_parts_of_a_sample_find_together_what_the_whole_finds(
    made: tuple[Repository, Snapshot],
) -> None:
    repository, snapshot = made
    path = large_objects(repository, snapshot)[0]
    path.write_bytes(b"?" + path.read_bytes()[1:])

    found = [codes(repository, sample=f"{part}/3") for part in (1, 2, 3)]

    assert sorted(map(len, found)) == [0, 0, 1]


def test_a_damaged_manifest_is_a_finding_and_others_are_checked(
    root: Root, made: tuple[Repository, Snapshot]
) -> None:
    repository, first = made
    backed_up(root, folder_of(repository))
    manifest = folder_of(repository) / "snapshots" / f"{first.id}.json"
    said = json.loads(manifest.read_text())
    said["snapshot"]["files"].pop()
    manifest.write_text(json.dumps(said))

    report = verify(repository)

    assert [finding["code"] for finding in report.findings] == ["snapshot_damaged"]
    assert report.counts["snapshots"] == 1


def test_an_object_that_no_snapshot_needs_is_a_note(made: tuple[Repository, Snapshot]) -> None:
    repository, snapshot = made
    repository.drop(snapshot.id)

    report = verify(repository)

    assert [finding["code"] for finding in report.findings] == ["unreferenced"]
    assert not report.damaged


def test_a_snapshot_that_is_not_there_is_not_found(made: tuple[Repository, Snapshot]) -> None:
    with pytest.raises(NotFoundError):
        verify(made[0], snapshot="000009-20260101T000000Z")
