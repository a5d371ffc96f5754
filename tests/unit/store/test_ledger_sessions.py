"""Sessions, events, checkpoints and cursors as the ledger keeps them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.stores import TinyStore

from muniment.store.ledger import Ledger


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    store = TinyStore(tmp_path / "root")
    with store.ledger.unit():
        yield store.ledger
    store.close()


def fragment(ledger: Ledger, session: int, event: str, *, asset: int | None = None) -> None:
    fields = None if asset else json.dumps({"text": event})
    ledger.sessions.add(session, event, asset=asset, fragment=fields, occurred=None, spoken=True)


def test_a_session_that_ended_is_open_again_with_its_next_event(ledger: Ledger) -> None:
    number, fresh = ledger.sessions.open("s", host="h", agent=None)
    assert fresh
    assert ledger.sessions.end(number, "host")
    assert not ledger.sessions.end(number, "host")

    assert ledger.sessions.open("s", host=None, agent=None) == (number, False)

    state = ledger.sessions.get("s")
    assert state is not None
    assert (state["status"], state["reason"], state["host"]) == ("open", "taken_up", "h")


def test_only_sessions_of_the_same_host_and_agent_count_as_left_open(ledger: Ledger) -> None:
    first, _ = ledger.sessions.open("one", host="h", agent="a")
    ledger.sessions.open("two", host="h", agent="b")
    ledger.sessions.open("three", host=None, agent=None)

    assert ledger.sessions.left_open("h", "a") == [(first, "one")]


def test_the_latest_five_fragments_are_working_until_a_final_one(ledger: Ledger) -> None:
    number, _ = ledger.sessions.open("s", host=None, agent=None)
    for n in range(7):
        fragment(ledger, number, f"v{n}")
    assert [one["event_id"] for one in ledger.sessions.fragments(number)] == [
        "v2", "v3", "v4", "v5", "v6",
    ]  # fmt: skip

    from muniment.store.assets import Taken

    asset, _ = ledger.assets.add(Taken("sha256:" + "0" * 64, 1, b"x", b"x"))
    fragment(ledger, number, "final", asset=asset)
    assert ledger.sessions.fragments(number) == []

    fragment(ledger, number, "next")
    assert [one["text"] for one in ledger.sessions.fragments(number)] == ["next"]
    ledger.sessions.end(number, "host")
    assert ledger.sessions.fragments(number) == []


def test_the_same_checkpoint_again_is_the_one_that_is_there(ledger: Ledger) -> None:
    number, _ = ledger.sessions.open("s", host=None, agent=None)

    first, new = ledger.checkpoints.save(number, {"goal": "a"}, None, "agent")
    assert new
    assert ledger.checkpoints.save(number, {"goal": "a"}, None, "agent") == (first, False)
    assert ledger.checkpoints.save(number, {"goal": "b"}, None, "agent")[1]

    found = ledger.checkpoints.newest("s")
    assert found is not None
    assert (found["goal"], found["status"], found["agent"]) == ("b", "current", "agent")


def test_a_cursor_names_the_one_that_it_replaced(ledger: Ledger) -> None:
    assert ledger.checkpoints.cursor("h", "s") is None

    ledger.checkpoints.advance("h", "s", "10", previous=None, events=3)
    held = ledger.checkpoints.cursor("h", "s")
    assert held is not None
    ledger.checkpoints.advance("h", "s", "20", previous=held[0], events=0)

    found = ledger.checkpoints.cursor("h", "s")
    assert found is not None
    assert found[1] == "20"
    assert ledger.checkpoints.cursor("h", "other") is None
