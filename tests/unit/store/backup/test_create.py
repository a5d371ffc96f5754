import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from support.backups import CANARY, backed_up, folder_of, large_objects, remember_more

from muniment.store import personas
from muniment.store.access import touch
from muniment.store.backup.cipher import Secret
from muniment.store.backup.create import create, plan, require_apart
from muniment.store.backup.restore import restore
from muniment.store.backup.verify import verify
from muniment.store.errors import StateError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger


def test_a_snapshot_names_everything_and_nothing_that_can_be_made_again(
    root: Root, tmp_path: Path
) -> None:
    index = root.scope(Scope()).index / "gen-1"
    index.mkdir(parents=True)
    (index / "fts.sqlite3").touch()
    (root.scope(Scope()).path / "policy.toml").write_text("x")

    _, snapshot = backed_up(root, tmp_path / "repo")

    kinds = sorted((entry.kind, entry.path.rsplit("/", 1)[-1][:13]) for entry in snapshot.entries)
    assert [kind for kind, _ in kinds] == ["asset"] * 3 + ["database", "file", "manifest"]
    assert kinds[3:] == [
        ("database", "ledger.sqlite"), ("file", "policy.toml"), ("manifest", "muniment.json"),
    ]  # fmt: skip
    ledger = next(entry for entry in snapshot.entries if entry.kind == "database")
    assert ledger.rows is not None
    assert ledger.rows["asset"] == 6
    assert snapshot.scopes == ["local/me/personal"]
    assert snapshot.missing == ()


def test_a_second_snapshot_copies_only_what_is_new(root: Root, tmp_path: Path) -> None:
    repository, first = backed_up(root, tmp_path / "repo")
    with repository.writing():
        again = create(root, repository)
        remember_more(root, "more")
        more = create(root, repository)

    assert (again["new_objects"], again["fingerprint"]) == (0, first.fingerprint)
    assert more["new_objects"] == 1
    assert more["fingerprint"] != first.fingerprint
    assert repository.ids() == [first.id, again["snapshot"], more["snapshot"]]
    assert not verify(repository).damaged


def test_an_asset_that_the_store_lost_is_named_and_the_rest_is_kept(
    root: Root, tmp_path: Path
) -> None:
    files = sorted(path for path in root.scope(Scope()).assets.rglob("*") if path.is_file())
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:-1] + b"?")

    repository, snapshot = backed_up(root, tmp_path / "repo")

    assert {lost["reason"] for lost in snapshot.missing} == {"asset_missing", "asset_damaged"}
    assert not snapshot.summary()["complete"]
    report = verify(repository)
    assert not report.damaged
    assert [finding["code"] for finding in report.findings] == ["missing_at_backup"] * 2


def test_an_object_that_rotted_in_the_repository_is_written_again(
    root: Root, tmp_path: Path
) -> None:
    repository, snapshot = backed_up(root, tmp_path / "repo")
    rotten = large_objects(repository, snapshot)[0]
    rotten.write_bytes(b"?" + rotten.read_bytes()[1:])
    assert verify(repository).damaged

    backed_up(root, tmp_path / "repo")

    assert not verify(repository).damaged


def test_a_damaged_ledger_does_not_keep_others_from_their_backup(
    root: Root, tmp_path: Path
) -> None:
    broken = root.scope(Scope(namespace="broken"))
    Ledger.create(root, Scope(namespace="broken")).close()
    data = bytearray(broken.ledger.read_bytes())
    data[4096:] = b"\x00" * (len(data) - 4096)
    broken.ledger.write_bytes(data)

    repository, snapshot = backed_up(root, tmp_path / "repo")

    assert [lost["reason"] for lost in snapshot.missing] == ["database_damaged"]
    assert snapshot.scopes == ["local/me/personal"]
    assert not verify(repository).damaged


@pytest.mark.parametrize("lost", [lambda ledger: ledger.unlink(), lambda ledger: ledger.open("w")])
def test_a_ledger_that_is_gone_is_told(
    root: Root, tmp_path: Path, lost: Callable[[Path], IO[str] | None]
) -> None:
    ledger = root.scope(Scope()).ledger
    (opened := lost(ledger)) and opened.close()

    _, snapshot = backed_up(root, tmp_path / "repo")

    assert [one["reason"] for one in snapshot.missing] == ["ledger_missing"]


def test_what_a_user_has_above_the_scopes_is_in_it_and_comes_back(
    root: Root, tmp_path: Path
) -> None:
    with personas.writing(root, Scope()) as users:
        users.add("A careful gardener.", actor="test", reason="test")

    repository, snapshot = backed_up(root, tmp_path / "repo")
    fresh = Root(tmp_path / "fresh")
    restore(fresh, repository, snapshot)

    with personas.reading(fresh, Scope()) as users:
        assert [one["text"] for one in users.versions()] == ["A careful gardener."]


def test_a_file_that_holds_no_claims_is_left_out_when_it_can_not_be_read(
    root: Root, tmp_path: Path
) -> None:
    access = root.scope(Scope()).access
    assert touch(access, ["rec_1"], "2026-01-01T00:00:00.000000Z")
    _, whole = backed_up(root, tmp_path / "repo")
    access.write_bytes(b"nonsense" * 1000)

    _, snapshot = backed_up(root, tmp_path / "repo")

    assert "access.sqlite3" in {entry.path.rsplit("/", 1)[-1] for entry in whole.entries}
    assert [one["reason"] for one in snapshot.missing] == ["database_unreadable"]
    assert snapshot.scopes == ["local/me/personal"]


def test_a_link_in_the_store_is_refused_rather_than_left_out(root: Root, tmp_path: Path) -> None:
    (root.store / "tenants" / "other").symlink_to(tmp_path)

    with pytest.raises(StateError) as caught:
        backed_up(root, tmp_path / "repo")

    assert caught.value.code == "link_in_store"


@pytest.mark.usefixtures("quick")
def test_an_encrypted_repository_holds_no_plain_bytes(root: Root, tmp_path: Path) -> None:
    secret = Secret("passphrase", b"open sesame")
    repository, snapshot = backed_up(root, tmp_path / "repo", secret)

    held = b"".join(
        path.read_bytes() for path in folder_of(repository).rglob("*") if path.is_file()
    )
    assert CANARY not in held
    assert b"SQLite format" not in held
    assert not [entry for entry in snapshot.entries if entry.sha256.encode() in held]
    assert not [e for e in snapshot.entries if list(folder_of(repository).rglob(e.sha256))]
    assert list(root.temporary.iterdir()) == []
    assert verify(repository).as_dict()["counts"]["databases"] == 1
    assert not verify(repository).damaged


def test_permissions_are_private(root: Root, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        repository, _ = backed_up(root, tmp_path / "repo")
    finally:
        os.umask(before)

    modes = {(p.is_dir(), p.stat().st_mode & 0o777) for p in folder_of(repository).rglob("*")}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_a_plan_writes_nothing(root: Root, tmp_path: Path) -> None:
    said = plan(root, None)

    assert (said["files"], said["snapshot"], said["dry_run"]) == (5, None, True)
    assert [path.name for path in tmp_path.iterdir()] == ["root"]


def test_a_repository_inside_the_root_is_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "repo", tmp_path.parent):
        with pytest.raises(UsageError):
            require_apart(tmp_path, place)
    require_apart(tmp_path / "a", tmp_path / "b")
