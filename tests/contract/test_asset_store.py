"""What every asset store does, wherever the bytes lie: local files, rclone's S3 server, Swift's,
a double that keeps versions, and any server that MUNIMENT_TEST_S3 names."""

import hashlib
import os
import secrets
from io import BytesIO
from pathlib import Path

import pytest
from support.s3_servers import (
    Server,
)

from muniment.store.asset_places import Elsewhere, Place, assets_of
from muniment.store.assets import take_stream
from muniment.store.errors import DamageError
from muniment.store.layout import Root, Scope
from muniment.store.local_assets import LocalAssets
from muniment.store.ports import AssetStore
from muniment.store.seals import Seals

LARGE = os.urandom(200_000)
PARTS = os.urandom(1 << 20) * 17 + b"end"  # three parts of an upload


@pytest.fixture
def root(server: Server | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Root:
    from muniment.store import manifest
    from muniment.store.asset_places import Location

    root = Root(tmp_path / "root")
    place = None
    if server is not None:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        place = Place.new(Location.parse(server.url(secrets.token_hex(8))))
    manifest.initialize(root, place)
    return root


@pytest.fixture
def store(root: Root) -> AssetStore:
    return assets_of(root, Scope())


def kept(store: AssetStore, root: Root, data: bytes) -> str:
    return take_stream(BytesIO(data), store, root.temporary).asset


def uncached(store: AssetStore, root: Root) -> AssetStore:
    """Return the store as another machine sees it."""
    if isinstance(store, LocalAssets):
        return store
    assert store.elsewhere is not None
    from muniment.store.backends.s3_assets import RemoteAssets

    elsewhere = Elsewhere(store.elsewhere.place, Scope(), root.path / "other-cache")
    return RemoteAssets(elsewhere, root.temporary)


@pytest.mark.parametrize("data", [LARGE, PARTS], ids=["one request", "parts"])
def test_what_was_kept_is_given_back(store: AssetStore, root: Root, data: bytes) -> None:
    asset = kept(store, root, data)

    other = uncached(store, root)
    assert b"".join(other.chunks(asset)) == data
    assert other.file(asset).read_bytes() == data
    assert other.read(asset, 5, 100) == data[5:105]
    assert other.read(asset, len(data) - 3, 100) == data[-3:]
    other.check(asset, len(data))
    other.check(asset, len(data), whole=False)
    assert store.file(asset).stat().st_mode & 0o777 == 0o600


def test_nothing_is_left_in_the_temporary_folder(store: AssetStore, root: Root) -> None:
    kept(store, root, LARGE)

    assert list(root.temporary.iterdir()) == []


def test_keeping_again_changes_nothing(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)

    assert kept(store, root, LARGE) == asset
    assert [one.asset for one in store.stored()] == [asset]


def test_what_is_not_there_is_missing(store: AssetStore, root: Root) -> None:
    asset = "sha256:" + "ab" * 32

    assert not store.file(asset).exists()
    assert not store.lend(asset, root.temporary).exists()
    assert store.left(asset) == []
    for reading in (
        lambda: store.check(asset, 10),
        lambda: store.read(asset, 0, 10),
        lambda: list(store.chunks(asset)),
    ):
        with pytest.raises(DamageError) as caught:
            reading()
        assert caught.value.code == "asset_missing"
    assert not store.intact(asset, 10, Seals(root.path / "index"))


def test_bytes_of_another_size_are_damage(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)

    with pytest.raises(DamageError) as caught:
        store.check(asset, len(LARGE) + 1, whole=False)
    assert caught.value.code == "asset_damaged"
    assert not store.intact(asset, len(LARGE) + 1, Seals(root.path / "index"))


def test_rotten_bytes_are_damage_and_are_put_right_by_keeping_again(
    store: AssetStore, root: Root
) -> None:
    asset = kept(store, root, LARGE)
    other = uncached(store, root)
    rot(store, asset, LARGE[:-1] + bytes([LARGE[-1] ^ 1]))

    with pytest.raises(DamageError):
        other.check(asset, len(LARGE))
    with pytest.raises(DamageError):
        list(other.chunks(asset))
    assert not other.intact(asset, len(LARGE), Seals(root.path / "index"))

    kept(store, root, LARGE)
    other.check(asset, len(LARGE))


def rot(store: AssetStore, asset: str, data: bytes) -> None:
    digest = asset.removeprefix("sha256:")
    if isinstance(store, LocalAssets):
        store.file(asset).write_bytes(data)
        return
    from muniment.store.backends.s3_assets import RemoteAssets

    assert isinstance(store, RemoteAssets)
    store.bucket.put(f"{digest[:2]}/{digest}", [data])


def test_a_sealed_asset_is_whole_until_it_is_touched(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)
    seals = Seals(root.path / "index")

    assert store.intact(asset, len(LARGE), seals)
    assert store.intact(asset, len(LARGE), seals)
    rot(store, asset, b"x" * len(LARGE))
    assert not store.intact(asset, len(LARGE), seals)
    seals.close()


def test_what_was_removed_has_no_copy_left(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)
    rot(store, asset, b"an older version" * 9)
    kept(store, root, LARGE)
    assert store.left(asset)

    assert store.remove(asset)

    assert store.left(asset) == []
    assert list(store.stored()) == []
    assert not store.file(asset).exists()
    assert not store.remove(asset)


def test_what_is_no_asset_is_found_and_can_be_discarded(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)
    if isinstance(store, LocalAssets):
        (store.file(asset).parent / "stray").write_bytes(b"x")
    else:
        store.bucket.put("ab/stray", [b"x"])  # type: ignore[attr-defined]  # a remote one

    (stray,) = [one for one in store.stored() if one.asset != asset]
    store.discard(stray.place)

    assert [one.asset for one in store.stored()] == [asset]


def test_the_parts_of_an_upload_that_nobody_finished_are_named_and_can_be_discarded(
    store: AssetStore, root: Root, server: Server | None
) -> None:
    asset = kept(store, root, LARGE)
    if server is None:
        return  # a file is written under another name, which `verify` lists as left over
    begin_upload(store, "ab/unfinished")

    (parts,) = [one for one in store.stored() if one.asset != asset]
    assert parts.place.startswith("ab/unfinished?uploadId=")
    store.discard(parts.place)

    assert [one.asset for one in store.stored()] == [asset]


def begin_upload(store: AssetStore, name: str) -> None:
    from muniment.store.backends.s3_assets import RemoteAssets
    from muniment.store.backends.versions import Versions

    assert isinstance(store, RemoteAssets)
    begun = Versions(store.bucket)._send("POST", store.bucket.key(name), {"uploads": ""})
    assert begun.status_code == 200, begun.text


def test_a_lent_file_stays_while_its_folder_does(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)
    scratch = root.temporary / "task"
    scratch.mkdir()

    lent = store.lend(asset, scratch)
    if not isinstance(store, LocalAssets):
        store.file(asset).unlink()

    assert lent.read_bytes() == LARGE


def test_another_process_fetches_by_itself(store: AssetStore, root: Root) -> None:
    asset = kept(store, root, LARGE)
    elsewhere = store.elsewhere
    if elsewhere is None:
        assert store.file(asset).is_file()
        return
    apart = Elsewhere(elsewhere.place, elsewhere.scope, root.path / "not" / "seen" / "here")

    path = apart.fetch(asset, root.temporary / "node")

    assert hashlib.sha256(path.read_bytes()).hexdigest() == asset.removeprefix("sha256:")
    assert "secret" not in repr(apart)
