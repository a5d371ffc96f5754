"""A warm store notices what happens to it: restores, rebuilt indexes, erased content."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents import Agent, event, texts
from support.cli import execute

from muniment.pipeline.options import Session
from muniment.pipeline.serving.tools import Tools
from muniment.store.errors import NoStoreError, NotFoundError


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
    from muniment.pipeline.agent.events import Event

    tools.append([Event(event_id="m1", role="user", text="Hello.", session="m")], None,
                 lambda _done, _total: None)  # fmt: skip
    assert agent.run("session", "show", "m")["status"] == "open"

    assert tools.close_left_open() == ["m"]

    assert agent.run("session", "show", "m")["reason"] == "left_open"
