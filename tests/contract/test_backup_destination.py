"""What every place for backups does, wherever it lies: a folder, rclone's S3 server, Swift's, a
double that keeps versions, and any server that MUNIMENT_TEST_S3 names."""

import os
import secrets
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.backups import filled
from support.s3_servers import (
    Server,
)

from muniment.store.backup.cipher import Secret
from muniment.store.backup.create import create
from muniment.store.backup.prune import Retention, prune
from muniment.store.backup.repository import Repository, destination
from muniment.store.backup.restore import restore
from muniment.store.backup.verify import verify
from muniment.store.errors import DamageError, LockedError, StateError, UsageError
from muniment.store.layout import Root
from muniment.store.ports import Destination
from muniment.store.times import now

LARGE = os.urandom(1 << 20) * 17 + b"end"


@pytest.fixture
def where(server: Server | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path | str:
    if server is None:
        return tmp_path / "repo"
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return server.url(f"backup-{secrets.token_hex(8)}")


@pytest.fixture
def place(where: Path | str) -> Destination:
    found = destination(where)
    found.make()
    return found


def everything(place: Destination, name: str) -> bytes:
    with place.opened(name) as region:
        return region.read_at(0, region.size)


@pytest.mark.parametrize("data", [b"", b"small", LARGE], ids=["empty", "small", "parts"])
def test_what_was_put_is_read_back_from_any_place(place: Destination, data: bytes) -> None:
    place.put("objects/ab/abc", iter([data[:70_000], data[70_000:]]))

    assert place.size("objects/ab/abc") == len(data)
    assert list(place.names("objects")) == [("objects/ab/abc", len(data))]
    with place.opened("objects/ab/abc") as region:
        assert region.size == len(data)
        for start in (0, 3, len(data) // 2, max(0, len(data) - 5), 1):
            assert region.read_at(start, 1000) == data[start : start + 1000]
        step = 1 << 20
        whole = b"".join(region.read_at(at, step) for at in range(0, len(data), step))
        assert whole == data
        assert region.read_at(len(data), 10) == b""


def test_a_name_that_is_taken_is_not_written_over(place: Destination) -> None:
    place.put("snapshots/one.json", [b"first"])

    with pytest.raises(FileExistsError):
        place.put("snapshots/one.json", [b"second"])
    assert everything(place, "snapshots/one.json") == b"first"

    place.put("snapshots/one.json", [b"third"], over=True)
    assert place.read("snapshots/one.json") == b"third"


def test_what_is_not_there_is_said_to_be_missing(place: Destination) -> None:
    assert place.read("repository.json") is None
    assert place.size("objects/ab/none") is None
    with pytest.raises(DamageError) as caught, place.opened("objects/ab/none"):
        pass
    assert caught.value.code == "object_missing"


def test_a_writing_that_fails_leaves_no_name(place: Destination) -> None:
    def chunks() -> Iterator[bytes]:
        yield LARGE
        raise DamageError("it rots", code="asset_damaged")

    with pytest.raises(DamageError):
        place.put("objects/ab/abc", chunks())

    assert place.size("objects/ab/abc") is None
    assert list(place.names("objects")) == []


def test_what_was_removed_is_gone(place: Destination) -> None:
    place.put("objects/ab/abc", [b"data"])

    place.remove("objects/ab/abc")
    place.remove("objects/ab/abc")

    assert place.size("objects/ab/abc") is None
    assert list(place.names("objects")) == []


def test_one_writes_and_nobody_reads_meanwhile(place: Destination, where: Path | str) -> None:
    other = destination(where)
    with place.writing():
        for refused in (other.writing, other.reading):
            with pytest.raises(LockedError) as caught, refused():
                pass
            assert caught.value.hint
    with (
        place.reading(), other.reading(),
        pytest.raises(LockedError), destination(where).writing(),
    ):  # fmt: skip
        pass
    with other.writing():
        pass


def test_who_waits_gets_its_turn(place: Destination, where: Path | str) -> None:
    taken, ended = threading.Event(), threading.Event()

    def hold() -> None:
        with place.writing():
            taken.set()
            ended.wait(1.0)

    thread = threading.Thread(target=hold)
    thread.start()
    assert taken.wait(10)
    with destination(where).writing(wait_seconds=20):
        pass
    thread.join()


def test_a_place_with_other_things_in_it_is_not_taken(
    place: Destination, where: Path | str
) -> None:
    assert place.is_free()
    if isinstance(where, Path):
        (where / "photo.jpg").write_bytes(b"x")
    else:
        place.put("photo.jpg", [b"x"])

    with pytest.raises(UsageError) as caught:
        Repository.create(where)
    assert caught.value.code == "not_a_repository"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    return filled(tmp_path / "root")


@pytest.mark.parametrize("encrypted", [False, True], ids=["plain", "encrypted"])
def test_a_backup_is_made_checked_pruned_and_restored(
    root: Root, where: Path | str, tmp_path: Path, encrypted: bool
) -> None:
    if encrypted:
        pytest.importorskip("cryptography")
    secret = Secret("passphrase", b"correct horse") if encrypted else None
    with Repository.create(where, secret).writing():
        repository = Repository.open(where, secret)
        first = create(root, repository)
        second = create(root, repository)

    assert second["new_objects"] == 0
    assert repository.ids() == [first["snapshot"], second["snapshot"]]
    assert not verify(repository).damaged
    with pytest.raises(StateError):
        repository.write(repository.read(first["snapshot"]))
    assert prune(repository, Retention(last=1), now())["removed"] == [first["snapshot"]]
    assert not verify(repository).findings

    answer = restore(Root(tmp_path / "again"), repository, repository.read("latest"))

    assert answer["left_out"] == []
    again = Repository.open(where, secret).read("latest")
    assert again.fingerprint == repository.read(second["snapshot"]).fingerprint
    if encrypted and isinstance(where, Path):
        assert all(b"large" not in path.read_bytes() for path in where.rglob("*") if path.is_file())
