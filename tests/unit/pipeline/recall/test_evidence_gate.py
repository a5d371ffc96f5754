import os
from pathlib import Path

import pytest
from support.asking import Asker, items
from support.stores import Line, TinyStore

from muniment.store import seals

LARGE = b"x" * 100_000


@pytest.fixture
def large(store: TinyStore) -> Path:
    """Store a large file with one line in it; return where its bytes lie."""
    (observation,) = store.file("talk.txt", [Line("Nadia plays the cello")], data=LARGE)
    row = store.ledger.evidence.get(observation)
    assert row is not None
    return store.ledger.assets.file(row.asset)


def coverage(asker: Asker) -> tuple[str, int]:
    pack = asker.recall("What instrument, the cello, does Nadia play?")
    return pack["coverage"], pack["omitted"]["evidence_gate"]


def test_evidence_whose_asset_is_whole_is_cited(large: Path, asker: Asker) -> None:
    assert coverage(asker) == ("supported", 0)


def test_evidence_whose_asset_is_gone_is_dropped_and_counted(large: Path, asker: Asker) -> None:
    large.unlink()

    assert coverage(asker) == ("none", 1)


def test_a_flipped_byte_drops_the_evidence(large: Path, asker: Asker) -> None:
    assert coverage(asker) == ("supported", 0)
    data = bytearray(large.read_bytes())
    data[5] ^= 1
    large.write_bytes(data)

    assert coverage(asker) == ("none", 1)


def test_a_change_that_keeps_size_and_mtime_is_noticed(large: Path, asker: Asker) -> None:
    assert coverage(asker) == ("supported", 0)
    before = large.stat()
    large.write_bytes(b"y" + large.read_bytes()[1:])
    os.utime(large, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert coverage(asker) == ("none", 1)


def test_a_sealed_file_is_not_read_again(
    large: Path, asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert coverage(asker) == ("supported", 0)
    monkeypatch.setattr(seals, "hash_file", _must_not_read)

    assert coverage(asker) == ("supported", 0)


def test_a_superseded_observation_is_not_cited(store: TinyStore, asker: Asker) -> None:
    old = store.note("The code word is heron.")
    assert asker.recall("What is the code word?")["coverage"] == "supported"
    store.observe_again(old, "The code word is osprey.")

    texts = [item["text"] for item in items(asker.recall("What is the code word?"))]

    assert texts == ["The code word is osprey."]


def test_a_record_whose_evidence_is_gone_is_not_returned(
    large: Path, store: TinyStore, asker: Asker
) -> None:
    observation = asker.search("Nadia")[0]["ref"].removeprefix("observation:")
    store.record("Nadia plays the cello", observation)
    assert len(items(asker.recall("Nadia cello"), "records")) == 1
    large.unlink()

    assert items(asker.recall("Nadia cello")) == []


def _must_not_read(path: Path) -> str:
    raise AssertionError(f"{path} was read")
