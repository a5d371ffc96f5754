import json
from pathlib import Path

import pytest

from muniment.store import manifest
from muniment.store.asset_places import Location, Place, assets_of, place_of
from muniment.store.backup.snapshot import store_of
from muniment.store.errors import DamageError, UsageError
from muniment.store.layout import Root, Scope
from muniment.store.local_assets import LocalAssets

PLACE = Place(Location("bucket", "one/two/"), "ab" * 16, 1000)


@pytest.mark.parametrize(
    ("url", "bucket", "prefix"),
    [
        ("s3://bucket", "bucket", ""),
        ("s3://bucket/", "bucket", ""),
        ("s3://my.bucket/one//two/", "my.bucket", "one/two/"),
    ],
)
def test_an_address_is_a_bucket_and_a_prefix(url: str, bucket: str, prefix: str) -> None:
    assert Location.parse(url) == Location(bucket, prefix)


@pytest.mark.parametrize("url", ["s3://", "s3:bucket", "s3://UP/x", "s3://bucket/..", "s3://b/a?b"])
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        Location.parse(url)


def test_the_manifest_says_where_assets_lie(tmp_path: Path) -> None:
    root = Root(tmp_path / "new")
    manifest.initialize(root, PLACE)

    assert place_of(root) == PLACE
    assert not isinstance(assets_of(root, Scope()), LocalAssets)


def test_without_a_word_they_lie_beside_the_ledger(root: Root) -> None:
    assert place_of(root) is None
    assert isinstance(assets_of(root, Scope()), LocalAssets)
    manifest.initialize(root)
    assert place_of(root) is None


def test_a_place_that_makes_no_sense_is_damage(root: Root) -> None:
    manifest.initialize(root, PLACE)
    said = json.loads(root.manifest.read_text())
    root.manifest.write_text(json.dumps(said | {"assets": {"url": "elsewhere"}}))

    with pytest.raises(DamageError) as caught:
        place_of(root)
    assert caught.value.code == "manifest_damaged"


def test_a_store_is_the_same_wherever_its_assets_lie(root: Root) -> None:
    manifest.initialize(root)
    text = root.manifest.read_bytes()

    moved = manifest.placed(json.loads(text), PLACE)

    assert moved != text
    assert store_of(moved) == store_of(text)
    assert manifest.placed(json.loads(moved), None) == text
