"""A better sniffer looks again at what is kept; what was wrongly read no longer counts."""

from pathlib import Path

import pytest
from support.ingesting import Store

from muniment.store.layout import Root, Scope
from muniment.store.ledger import Ledger


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "root")


def call_it(store: Store, media_type: str, family: str) -> None:
    """Let the one asset be of a family, in the words of an older sniffer."""
    with Ledger.create(Root(store.root), Scope("local", "me", "personal")) as ledger:
        (row,) = ledger.assets.rows()
        with ledger.unit():
            ledger.assets.add_type(row.seq, media_type, family, "0")


def test_what_an_older_sniffer_took_for_binary_is_read(store: Store, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_bytes(b"The key is under\0 the blue pot.")
    store.ingest(tmp_path / "note.txt", "--until", "register")
    call_it(store, "application/octet-stream", "binary")

    store.ingest(tmp_path / "note.txt")

    assert store.texts() == ["The key is under\0 the blue pot."]
    assert store.items()[0]["family"] == "text"


def test_what_the_wrong_reader_said_is_superseded(store: Store, tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_bytes(
        b"13/01/2024, 10:30 - Ana: hi\n13/01/2024, 10:31 - Bo: ho\n"
    )
    store.ingest(tmp_path / "talk.txt", "--until", "register")
    call_it(store, "text/plain", "text")
    with pytest.MonkeyPatch.context() as old:
        old.setattr("muniment.pipeline.stages.sniffing.SNIFFER_VERSION", "0")
        store.ingest(tmp_path / "talk.txt")
    (before,) = store.items("observations")
    assert before["kind"] == "text"

    store.ingest(tmp_path / "talk.txt")

    assert [(item["kind"], item["text"]) for item in store.items("observations")] == [
        ("message", "hi"),
        ("message", "ho"),
    ]
    assert store.show(before["ref"])["live"] is False
    assert store.ingest(tmp_path / "talk.txt")["observed"] == 0
