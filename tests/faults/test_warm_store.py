"""A warm store notices what happens to it: restores, rebuilt indexes, erased content."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from support.agents import Agent, event, texts
from support.cli import execute

from muniment.pipeline.agent.events import Event
from muniment.pipeline.machine import TIERS, Tier
from muniment.pipeline.options import Session
from muniment.pipeline.serving.calls import Call
from muniment.pipeline.serving.tools import Tools
from muniment.store.errors import NoStoreError, NotFoundError
from muniment.store.records import Producer


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    made = Agent(tmp_path / "root")
    made.append(
        event(1, "The boat is moored at pier nine."), event(2, "The locker code is 7141.",
                                                            session="s2"),
    )  # fmt: skip
    return made


@pytest.fixture
def tools(agent: Agent) -> Iterator[Tools]:
    made = Tools(Session({"root": str(agent.root), "lock_wait": 10.0}))
    yield made
    made.warm.close()


def found(tools: Tools, query: str) -> list[str]:
    pack, _ = tools.recall(query, {"token_budget": 2_000}, None)
    return texts(pack)


def test_what_another_process_adds_is_found_by_the_next_call(agent: Agent, tools: Tools) -> None:
    assert found(tools, "where is the boat moored?")

    agent.append(event(3, "The car is parked in Lillehammer."))

    assert "The car is parked in Lillehammer." in found(tools, "where is the car parked?")


def test_an_index_that_was_rebuilt_is_opened_anew(agent: Agent, tools: Tools) -> None:
    assert found(tools, "boat")
    agent.run("reindex")

    assert found(tools, "boat")
    assert len(list(agent.root.glob("store/**/gen-*"))) == 1


def test_an_open_reader_keeps_nobody_from_erasing_and_forgets_with_the_others(
    agent: Agent, tools: Tools
) -> None:
    asked = {"token_budget": 2_000}
    assert any("7141" in text for text in found(tools, "locker code"))
    kept = tools.keep("locker code", asked, None)
    assert "7141" in tools.pack(kept)

    said = execute("--json", "--root", agent.root, "forget", "event:e2", "--hard", "--yes")
    assert said.code == 0, said.out + said.err

    assert not any("7141" in text for text in found(tools, "locker code"))
    assert "7141" not in tools.pack(kept)
    with pytest.raises(NotFoundError):
        tools.pack("0" * 16)


def test_a_store_that_was_restored_is_the_one_that_answers(
    agent: Agent, tools: Tools, tmp_path: Path
) -> None:
    agent.run("backup", "create", tmp_path / "repository")
    agent.append(event(3, "The car is parked in Lillehammer."))
    assert found(tools, "car parked Lillehammer")

    agent.run("restore", tmp_path / "repository", "--replace")

    assert found(tools, "boat")
    assert found(tools, "car parked Lillehammer") == []


def test_a_question_about_nothing_leaves_the_store_warm(tools: Tools) -> None:
    tools.warm.settle()
    assert found(tools, "boat")
    (reader,) = tools.warm._idle

    with pytest.raises(NotFoundError):
        tools.read("observation:obs_0", 0, 100)

    assert tools.warm._idle == [reader]
    assert found(tools, "boat")


def test_a_scope_that_is_not_there_yet_is_told_and_then_found(tmp_path: Path) -> None:
    root = tmp_path / "empty"
    tools = Tools(Session({"root": str(root)}))
    with pytest.raises(NoStoreError):
        found(tools, "boat")

    Agent(root).append(event(1, "The boat is moored at pier nine."))

    assert found(tools, "boat") == ["The boat is moored at pier nine."]
    tools.warm.close()


def test_sessions_of_a_server_that_died_are_closed_by_the_next_one(
    agent: Agent, tools: Tools
) -> None:
    tools.append([Event(event_id="m1", role="user", text="Hello.", session="m")], None)
    assert agent.run("session", "show", "m")["status"] == "open"

    assert tools.close_left_open() == ["m"]

    assert agent.run("session", "show", "m")["reason"] == "left_open"


def test_a_warm_answer_heeds_the_settings_of_coverage_and_tokens(agent: Agent) -> None:
    question = "Who painted the ceiling above pier nine?"
    usual = Tools(Session({"root": str(agent.root), "lock_wait": 10.0, "coverage_threshold": 1.0}))
    free = Tools(Session({"root": str(agent.root), "lock_wait": 10.0, "coverage_threshold": 0.0}))
    try:
        assert found(usual, question) == []
        assert "The boat is moored at pier nine." in found(free, question)
    finally:
        usual.warm.close()
        free.warm.close()


class Lengths:
    """An embedder of text lengths."""

    dimensions = 2
    producer = Producer(adapter="lengths", version="1", role="embed")

    def passages(self, texts: Sequence[str]) -> np.ndarray:
        return np.asarray([[1.0, len(text)] for text in texts], np.float32)

    def query(self, text: str) -> np.ndarray:
        return self.passages([text]).reshape(-1)


def eventually(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_new_texts_get_their_vectors_beside_the_answers(
    agent: Agent, tools: Tools, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muniment.pipeline.flow.embedder_of", lambda _: Lengths())

    def lacking() -> list[str]:
        pack, _ = tools.recall("boat", {"token_budget": 2_000, "semantic": True}, None)
        return [said for said in pack["warnings"] if "no vectors yet" in said]

    eventually(lambda: not lacking())
    agent.append(*(event(n, f"The boat number {n} is at sea.") for n in range(10, 40)))

    eventually(lambda: not lacking())
    assert [thread.name for thread in threading.enumerate()].count("embed") == 1
    tools.warm.close()
    assert "embed" not in [thread.name for thread in threading.enumerate()]


class FallingWatch:
    """A machine whose memory a test sets."""

    now: Tier = TIERS[0]

    def __init__(self, _pinned: str | None) -> None:
        """Need nothing."""

    def tier(self) -> Tier:
        return type(self).now


def test_a_machine_that_gets_short_of_memory_lets_fewer_ask_at_once(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muniment.pipeline.machine.Watch", FallingWatch)
    tools = Tools(Session({"root": str(agent.root)}))
    with tools.warm.reading(), tools.warm.reading() as second:
        assert second.request("boat", {}).depth == TIERS[0].depth
        monkeypatch.setattr(FallingWatch, "now", TIERS[-1])
        waiting = threading.Thread(target=found, args=(tools, "boat"))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join(60)
    assert not waiting.is_alive()
    with tools.warm.reading() as only:
        assert only.request("boat", {}).depth == TIERS[-1].depth
    assert len(tools.warm._idle) == TIERS[-1].readers
    assert found(tools, "where is the boat moored?") == ["The boat is moored at pier nine."]
    tools.warm.close()


def gone() -> None:
    raise asyncio.CancelledError


def test_a_call_that_was_taken_back_leaves_whole_batches_and_a_usable_store(
    agent: Agent, tools: Tools
) -> None:
    many = [Event(event_id=f"n{n}", role="user", text=f"Note {n}.", session="m")
            for n in range(250)]  # fmt: skip
    with pytest.raises(asyncio.CancelledError):
        tools.append(many, None, Call(check=gone))
    assert agent.run("session", "show", "m")["messages"] == 100
    with pytest.raises(asyncio.CancelledError):
        tools.recall("boat", {"token_budget": 2_000}, None, Call(check=gone))

    done = tools.append(many, None)

    assert [one["status"] for one in done["events"]].count("known") == 100
    assert found(tools, "where is the boat moored?")
    assert agent.run("session", "show", "m")["messages"] == 250
