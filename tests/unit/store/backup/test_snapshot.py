import hashlib
import json
from typing import Any

import pytest

from muniment.store.backup.snapshot import (
    Entry,
    Part,
    Snapshot,
    decode,
    encode,
    next_id,
)
from muniment.store.errors import DamageError, StateError
from muniment.store.ids import canonical

ID = "000001-20260101T000000Z"
A, B = "a" * 64, "b" * 64


def entry(path: str, kind: str = "file", digest: str = A, size: int = 3) -> Entry:
    return Entry(path, kind, size, digest, (Part(digest, size),))


def snapshot(*entries: Entry) -> Snapshot:
    return Snapshot(ID, "2026-01-01T00:00:00.000000Z", "store", entries)


def test_a_manifest_is_read_as_it_was_written() -> None:
    database = Entry(
        "store/tenants/t/users/u/namespaces/n/ledger.sqlite3", "database", 5, A,
        (Part(A, 3), Part(B, 2)), 1, {"asset": 2},
    )  # fmt: skip
    made = snapshot(entry("muniment.json", "manifest", B), database)

    assert decode(encode(made), ID) == made
    assert made.scopes == ["t/u/n"]
    assert made.size == 8


@pytest.mark.parametrize(
    "path",
    [
        "../out", "/etc/passwd", "store/../../out", "store", "store/", "store//x", "other/x",
        "store/a\nb", "store/./x", "store/\u202ex", "muniment.json/x", "lock", "journal",
    ],
)  # fmt: skip
def test_a_path_that_leaves_the_store_is_refused(path: str) -> None:
    with pytest.raises(DamageError):
        decode(encode(snapshot(entry(path))), ID)


@pytest.mark.parametrize(
    "pair", [("store/a", "store/a"), ("store/a", "store/A"), ("store/a", "store/a/b")]
)
def test_a_path_that_is_named_twice_or_is_a_folder_too_is_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(DamageError):
        decode(encode(snapshot(*map(entry, pair))), ID)


@pytest.mark.parametrize(
    "wrong",
    [
        entry(f"store/{B}", "asset"),
        entry("store/x", "link"),
        entry("store/x", digest="zz"),
        Entry("store/x", "database", 4, A, (Part(A, 3),)),
        Entry("store/x", "database", 6, A, (Part(A, 3), Part(B, 2), Part(A, 1))),
        Entry("store/x", "database", 5, A, (Part(A, 2), Part(B, 3))),
        Entry("store/x", "database", -1, A, (Part(A, -1),)),
    ],
)
def test_a_file_that_can_not_be_what_it_says_is_refused(wrong: Entry) -> None:
    with pytest.raises(DamageError):
        decode(encode(snapshot(wrong)), ID)


def forged(**change: Any) -> bytes:
    said = json.loads(encode(snapshot(entry("store/x"))))["snapshot"] | change
    return canonical({"sha256": hashlib.sha256(canonical(said)).hexdigest(), "snapshot": said})


@pytest.mark.parametrize(
    "data",
    [
        b"", b"[]", b"{}", b'{"snapshot": 1}', forged(fingerprint="0"), forged(id="x"),
        forged(files=[{}]), forged(files=None), encode(snapshot(entry("store/x")))[:-9],
        encode(snapshot(entry("store/x"))).replace(b"store/x", b"store/y"),
    ],
)  # fmt: skip
def test_a_manifest_that_is_not_whole_is_damage(data: bytes) -> None:
    with pytest.raises(DamageError) as caught:
        decode(data, ID)

    assert caught.value.code == "snapshot_damaged"


def test_a_newer_manifest_is_refused() -> None:
    with pytest.raises(StateError):
        decode(forged(version=2), ID)


def test_ids_count_whatever_the_clock_says() -> None:
    known = ["000001-20990101T000000Z", "000002-20260101T000000Z"]

    made = next_id(known, "2026-03-02T10:11:12.123456Z")

    assert made == "000003-20260302T101112Z"
    assert sorted([*known, made])[-1] == made
