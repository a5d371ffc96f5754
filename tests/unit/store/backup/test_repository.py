import hashlib
import json
from pathlib import Path

import pytest
from support.backups import folder_of

from muniment.store.backup.repository import Repository
from muniment.store.errors import DamageError, LockedError, NotFoundError, StateError, UsageError

DATA = b"some bytes"
DIGEST = hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository.create(tmp_path / "repo")


def objects(repository: Repository) -> list[Path]:
    return [folder_of(repository) / held.name for held in repository.stored()]


def test_an_object_is_found_by_its_digest(repository: Repository) -> None:
    assert not repository.has(DIGEST, len(DATA))

    repository.put(DIGEST, iter([DATA]))

    assert repository.has(DIGEST, len(DATA))
    assert b"".join(repository.chunks(DIGEST)) == DATA
    assert [path.stat().st_mode & 0o777 for path in objects(repository)] == [0o600]
    assert folder_of(repository).stat().st_mode & 0o777 == 0o700


def test_bytes_that_are_not_what_the_digest_says_are_not_kept(repository: Repository) -> None:
    with pytest.raises(DamageError):
        repository.put(DIGEST, iter([b"other bytes"]))

    assert list(repository.stored()) == []
    assert list((folder_of(repository) / "tmp").iterdir()) == []


def test_a_link_in_the_place_of_an_object_is_not_followed(
    repository: Repository, tmp_path: Path
) -> None:
    repository.put(DIGEST, iter([DATA]))
    (tmp_path / "elsewhere").write_bytes(DATA)
    (path,) = objects(repository)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(DamageError):
        repository.check(DIGEST, len(DATA))


def test_a_folder_with_other_things_in_it_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").touch()

    with pytest.raises(UsageError) as caught:
        Repository.create(tmp_path)

    assert caught.value.code == "not_a_repository"
    assert [path.name for path in tmp_path.iterdir()] == ["photo.jpg"]


def test_what_is_no_repository_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        Repository.open(tmp_path)


def test_a_newer_or_broken_header_is_refused(repository: Repository) -> None:
    header = folder_of(repository) / "repository.json"
    said = json.loads(header.read_text())
    header.write_text(json.dumps(said | {"version": 2}))
    with pytest.raises(StateError):
        Repository.open(folder_of(repository))
    header.write_text("{}")
    with pytest.raises(DamageError):
        Repository.open(folder_of(repository))


def test_one_writer_at_a_time_and_its_leftovers_go(repository: Repository) -> None:
    ((folder_of(repository) / "tmp") / "x.partial").touch()

    with repository.writing():
        assert list((folder_of(repository) / "tmp").iterdir()) == []
        with pytest.raises(LockedError), repository.writing():
            pass
        with pytest.raises(LockedError), repository.reading():
            pass


def test_a_snapshot_that_is_not_there_is_not_found(repository: Repository) -> None:
    for identity in ("latest", "000001-20260101T000000Z", "../../etc/passwd"):
        with pytest.raises(NotFoundError):
            repository.read(identity)
