import hashlib
import os
from pathlib import Path

import pytest

from muniment.store.backends.asset_cache import AssetCache
from muniment.store.errors import DamageError


def asset_of(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.fixture
def cache(tmp_path: Path) -> AssetCache:
    return AssetCache(tmp_path / "cache", tmp_path / "tmp", 250)


def add(cache: AssetCache, data: bytes, age: int) -> str:
    asset = asset_of(data)
    path = cache.add(asset, [data])
    moment = path.stat().st_mtime - age
    os.utime(path, (moment, moment))
    return asset


def test_what_was_used_longest_ago_goes_first(cache: AssetCache) -> None:
    old, used, new = (bytes([number]) * 100 for number in range(3))
    first, second = add(cache, old, 300), add(cache, used, 400)
    assert cache.find(second) is not None  # and so it was used last

    third = add(cache, new, 0)

    assert cache.find(first) is None
    assert cache.find(second) is not None
    assert cache.find(third) is not None


def test_a_file_over_the_bound_stays_alone(cache: AssetCache) -> None:
    small = add(cache, b"small", 10)
    large = add(cache, b"x" * 1000, 0)

    assert cache.find(small) is None
    assert cache.find(large) is not None


def test_wrong_bytes_are_not_kept(cache: AssetCache, tmp_path: Path) -> None:
    with pytest.raises(DamageError):
        cache.add(asset_of(b"right"), [b"wrong"])

    assert list((tmp_path / "cache").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_file_that_rotted_is_not_used_and_goes(cache: AssetCache) -> None:
    asset = add(cache, b"bytes", 0)
    cache.path(asset).write_bytes(b"BYTES")

    assert cache.find(asset) is None
    assert not cache.path(asset).exists()


def test_it_may_be_deleted_at_any_time(cache: AssetCache, tmp_path: Path) -> None:
    asset = add(cache, b"bytes", 0)
    cache.path(asset).unlink()

    assert cache.find(asset) is None
    assert not cache.remove(asset)
    (tmp_path / "cache").rmdir()
    assert cache.add(asset, [b"bytes"]).stat().st_mode & 0o777 == 0o600
